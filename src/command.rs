//! What the native program does beside serving.

pub mod doctor;
pub mod export;
pub mod https;
pub mod import;
<<<<<<< HEAD
pub mod private_file;
pub mod show;
=======
>>>>>>> 1513a53 (docs, tests: sign requests in shell and Python, sign in with Chromium and a real client)
pub mod owner;
pub mod private_file;
