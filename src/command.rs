//! What the native program does beside serving.

pub mod doctor;
pub mod export;
pub mod https;
pub mod import;
pub mod owner;
pub mod private_file;
pub mod show;
