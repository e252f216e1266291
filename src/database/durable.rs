//! SQLite of a Durable Object.
