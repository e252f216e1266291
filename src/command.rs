//! What the native program does beside serving.

pub mod doctor;
pub mod https;
