//! Nothing of its own: the clients are in `tests/it`, the scripts beside this folder.
