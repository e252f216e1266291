//! A server with the tools, resources and prompts that the conformance suite asks for, on the product's own protocol layer,
//! router and all. It runs in tests only and is no part of any product build.

// A harness may fail at once, like the tests that use it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::similar_names
)]
#![allow(
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::too_many_lines
)]
// What the scenarios ask for reads best as tables of values.
#![allow(
    clippy::needless_pass_by_value,
    clippy::single_match_else,
    clippy::format_collect
)]
#![allow(clippy::assigning_clones)]

pub mod fixture;
mod input;
pub mod proxy;
pub mod serve;
