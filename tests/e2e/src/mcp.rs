//! Tool calls over `/mcp-compat`, as a client with the static token makes them.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Reply};
use crate::{TOKEN, Worker};

/// A client of the tools.
pub struct Tools {
    client: Client,
    token: String,
    next_id: u64,
    /// How long the last exchange took, from the first byte sent to the last one read.
    pub waited: Duration,
}

impl Tools {
    pub fn new(worker: &Worker) -> Self {
        Self::at(([127, 0, 0, 1], worker.port()).into())
    }

    /// A client of a server of these tools on this machine.
    pub fn at(address: SocketAddr) -> Self {
        Self {
            client: Client::new(address),
            token: TOKEN.to_owned(),
            next_id: 1,
            waited: Duration::ZERO,
        }
    }

    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        token.clone_into(&mut self.token);
        self
    }

    /// Sends one request and returns the reply as it came.
    pub fn post(&mut self, method: &str, params: &Value, more: &[(&str, &str)]) -> Reply {
        self.try_post(method, params, more)
            .expect("the server answers in time")
    }

    /// As [`Tools::post`], to a server that may be gone.
    pub fn try_post(
        &mut self,
        method: &str,
        params: &Value,
        more: &[(&str, &str)],
    ) -> io::Result<Reply> {
        let id = self.next_id;
        self.next_id += 1;
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let bearer = format!("Bearer {}", self.token);
        let mut headers = vec![
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        headers.extend(more);
        let body = body.to_string();
        let start = Instant::now();
        let reply = self
            .client
            .try_send("POST", "/mcp-compat", &headers, body.as_bytes());
        self.waited = start.elapsed();
        reply
    }

    /// Calls a tool and returns its whole result, refused or not.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let reply = self.post("tools/call", &params, &[]);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let mut answer = reply.json();
        assert_eq!(answer["error"], Value::Null, "{answer}");
        answer["result"].take()
    }

    /// Calls a tool that must succeed and returns its structured result.
    #[track_caller]
    pub fn succeed(&mut self, tool: &str, arguments: &Value) -> Value {
        let mut result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].take()
    }

    /// Calls a tool that must be refused and returns the text of the refusal.
    #[track_caller]
    pub fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Stores one thought on the main path; without an id, the first one of a new sequence.
    #[track_caller]
    pub fn think(
        &mut self,
        sequence: Option<&str>,
        number: u64,
        total: u64,
        thought: &str,
    ) -> Value {
        let mut arguments = json!({
            "thought": thought,
            "thoughtNumber": number,
            "totalThoughts": total,
            "nextThoughtNeeded": number < total,
        });
        if let Some(sequence) = sequence {
            arguments["sequenceId"] = sequence.into();
        }
        self.succeed("sequentialthinking", &arguments)
    }

    /// Stores a whole sequence and returns its id.
    #[track_caller]
    pub fn think_all(&mut self, thoughts: &[impl AsRef<str>]) -> String {
        let total = thoughts.len() as u64;
        let mut sequence: Option<String> = None;
        for (number, thought) in (1..).zip(thoughts) {
            let stored = self.think(sequence.as_deref(), number, total, thought.as_ref());
            let id = stored["sequenceId"].as_str().unwrap();
            assert_eq!(*sequence.get_or_insert_with(|| id.to_owned()), id);
            assert_eq!(stored["thoughtHistoryLength"], number);
        }
        sequence.expect("at least one thought")
    }

    /// Reads all thoughts of a sequence, `limit` at a time.
    #[track_caller]
    pub fn read_all(&mut self, sequence: &str, limit: u64) -> Vec<Value> {
        let mut thoughts = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let page = self.succeed(
                "get_thought_history",
                &json!({ "sequenceId": sequence, "limit": limit, "cursor": cursor }),
            );
            let found = page["thoughts"].as_array().unwrap();
            assert!(found.len() as u64 <= limit, "{page}");
            thoughts.extend(found.iter().cloned());
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                return thoughts;
            }
        }
    }

    #[track_caller]
    pub fn read_texts(&mut self, sequence: &str, limit: u64) -> Vec<String> {
        self.read_all(sequence, limit)
            .iter()
            .map(|thought| thought["thought"].as_str().unwrap().to_owned())
            .collect()
    }
}
