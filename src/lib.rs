//! Sequential thinking for MCP clients that survives the process.
//!
//! The modules stand in reading order: values first, then what stores them, then the protocol, then the hosts.

pub mod auth;
pub mod card;
pub mod clock;
pub mod database;
pub mod fresh;
pub mod jsonrpc;
pub mod transport;
#[cfg(target_family = "wasm")]
pub mod worker;
