//! Sequential thinking for MCP clients that survives the process.
//!
//! The modules stand in reading order: values first, then what stores them, then the protocol, then the hosts.

// Tests count and index freely: a panic there is a failed test.
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

pub mod clock;
pub mod fresh;
pub mod json;
pub mod refusal;
pub mod seal;
pub mod sequence_id;
pub mod settings;
pub mod thought;
pub mod wire;

pub mod brief;
pub mod graph;
pub mod page;

pub mod database;

pub mod store;

pub mod card;
pub mod tools;
pub mod view;

pub mod jsonrpc;

pub mod mcp;

pub mod auth;
pub mod config;
pub mod oauth;

pub mod transport;

pub mod log;

#[cfg(not(target_family = "wasm"))]
pub mod command;
#[cfg(not(target_family = "wasm"))]
pub mod local;
#[cfg(target_family = "wasm")]
pub mod worker;
