//! What the Worker does in workerd and nowhere else can be shown.

// Tests may fail at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(clippy::disallowed_methods)]

mod privacy;
mod stories;
mod trap;
