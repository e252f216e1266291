//! The sign-in under attack: every attack and every public report of `tests/oauth/ids.txt`, on the real router, the real
//! vault on SQLite, a cache that lags, and a GitHub of our own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    unreachable_pub,
    reason = "a test may fail loudly, and it is its own host"
)]

mod availability;
mod browser;
mod clients;
mod codes;
mod consent;
mod discovery;
mod doctor;
mod github;
mod ids;
mod kv;
mod lag;
mod owner;
mod refresh;
mod samples;
mod secrets;
#[path = "../it/seeded.rs"]
mod seeded;
mod signed;
mod tokens;
mod world;
