//! What must be on the machine before anything can be built, each brought only when it is missing.

pub mod chromium;
pub mod npm;
pub mod wasm32;
