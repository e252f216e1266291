//! What the Worker does in workerd and nowhere else can be shown.

// Tests may fail at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(clippy::disallowed_methods, unreachable_pub)]

mod budget;
mod doctor;
#[cfg(unix)]
mod documents;
mod exchange;
mod faults;
mod limits;
mod logs;
mod privacy;
mod retention;
mod sign_in;
mod stories;
mod streams;
mod torture;
mod transcripts;
mod vault;

// Shared with the native hosts.
#[path = "../../../it/graph/bench.rs"]
mod bench;
#[path = "../../../it/budget/load.rs"]
mod load;
#[path = "../../../transcripts/long.rs"]
mod long;
#[path = "../../../transcripts/runner.rs"]
mod runner;
#[path = "../../../transcripts/vectors.rs"]
#[rustfmt::skip]
mod vectors;
#[path = "../../../transcripts/wire.rs"]
mod wire;
