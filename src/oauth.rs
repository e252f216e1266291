//! The authorization server: who may come in, for how long, and through which client.
//!
//! It fills the port `auth::Authorization`; storage, GitHub, chance and the clock come through the ports of `port`.
//! The pure modules (keys, spellings, redirects, pages) know no request, and the vault sees no token.

pub mod allowlist;
pub mod audience;
mod authorize;
mod callback;
pub mod client;
mod client_auth;
pub(crate) mod consent;
pub mod document;
pub mod error;
pub mod flow;
pub mod form;
pub mod github;
pub mod keys;
pub mod memory;
pub mod metadata;
mod owner;
pub mod pages;
pub mod pkce;
pub mod port;
pub mod redirect;
pub mod registration;
pub mod reply;
mod revocation;
pub mod settings;
pub mod sign_in;
pub mod signed;
pub mod spelling;
mod token;
pub mod uri;
pub mod vault;
mod verify;
