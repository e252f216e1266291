//! A process told to a reader: pure functions from what the store reads to text.

pub mod brief;
pub mod document;
mod excerpt;
pub mod export;
pub mod markdown;
pub mod mermaid;
pub mod page;
