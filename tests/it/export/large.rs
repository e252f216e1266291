//! A large document is taken in while it is read, in one transaction.

use std::io::{self, Read};

use durable_thinking::command::import::import;
use serde_json::json;

use crate::export::bench::Bench;

/// A document that is made while it is read, and so never lies in memory.
struct Made {
    thoughts: u32,
    next: u32,
    part: io::Cursor<Vec<u8>>,
}

impl Read for Made {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.part.read(buffer)?;
        if read > 0 || self.next > self.thoughts + 1 {
            return Ok(read);
        }
        let number = self.next;
        self.next += 1;
        let part = if number > self.thoughts {
            "]}".to_owned()
        } else {
            let thought = json!({
                "ordinal": number, "thoughtNumber": number, "totalThoughts": self.thoughts, "thought": "x".repeat(1000),
                "createdAt": "2026-11-30T13:45:00.000Z",
            });
            let comma = if number > 1 { "," } else { "" };
            format!("{comma}{thought}")
        };
        self.part = io::Cursor::new(part.into_bytes());
        self.part.read(buffer)
    }
}

#[test]
fn a_document_is_taken_in_while_it_is_read() {
    let thoughts = 5_000;
    let begin = format!(
        "{{\"format\":\"durable-thinking/sequence\",\"version\":1,\"sequence\":{{\"thoughtHistoryLength\":{thoughts}}},\"thoughts\":["
    );
    let made = Made {
        thoughts,
        next: 1,
        part: io::Cursor::new(begin.into_bytes()),
    };
    let mut bench = Bench::new();
    let fresh = bench.fresh();
    let imported = import(&bench.store, &fresh, made).unwrap();
    assert_eq!(imported.thoughts, thoughts);
}
