//! The doors at which input comes in, each as a function that any bytes may be thrown at. It panics when a promise is broken.
//!
//! `cargo xtask fuzz` lets libFuzzer choose the bytes; `tests/seeds.rs` replays the seeds in `corpus`.

// A broken promise is told by a panic: that is how a fuzzer sees it.
#![allow(clippy::missing_panics_doc)]

mod import;
mod messages;
mod sign_in;
mod values;

pub use import::import;
pub use messages::{arguments, envelope};
pub use sign_in::{form, redirect};
pub use values::{cursor, sealed};

/// The name of a target and of its folder in `corpus`, and the door.
pub type Door = (&'static str, fn(&[u8]));

pub const DOORS: [Door; 7] = [
    ("envelope", envelope),
    ("arguments", arguments),
    ("cursor", cursor),
    ("sealed", sealed),
    ("redirect", redirect),
    ("form", form),
    ("import", import),
];
