//! The native integration tests, in one binary.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::assigning_clones,
    clippy::cast_possible_truncation,
    unreachable_pub,
    reason = "a test may fail loudly, and it is its own host"
)]

mod absent;
mod acceptance;
mod brief;
mod budget;
mod calls;
mod crossing;
mod doctor;
mod errors;
mod export;
mod faults;
mod fuzz;
mod graph;
mod http;
mod isolation;
mod process;
mod progress;
mod promises;
mod root;
mod schemas;
mod seeded;
mod support;
mod tidy;
mod transcripts;

use graph::bench;

// Shared with the tests against workerd.
#[path = "../transcripts/lines.rs"]
mod lines;
#[path = "../transcripts/long.rs"]
mod long;
#[path = "../transcripts/runner.rs"]
mod runner;
#[path = "../transcripts/strand.rs"]
mod strand;
#[path = "../transcripts/vectors.rs"]
mod vectors;
#[path = "../transcripts/wire.rs"]
mod wire;
