//! A process told to a reader: pure functions from what the store reads to text.

pub mod brief;
