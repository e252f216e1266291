//! Builds, serves and tests the product with nothing but a Rust toolchain and npm.
//!
//! Small tools first, then what brings the machine in order, then what is made and run with it. The commands
//! themselves stand in `main.rs`.

// This program runs on the developer's machine only: it tells the time and prints.
#![allow(clippy::disallowed_methods, clippy::print_stdout)]

pub mod program;
pub mod stamp;
pub mod step;

pub mod manifest;
pub mod setup;
pub mod size;
pub mod wasm;
pub mod workerd;

pub mod clients;
pub mod dev;

pub mod identity;
pub mod release;
pub mod supply;

pub mod check;
pub mod fallback;
pub mod fuzz;
pub mod test;
pub mod ui;
