//! HTTP as the tests of every host see it: what is sent and what comes back, byte for byte.

#![allow(dead_code, reason = "each crate of tests uses its part")]

use serde_json::Value;

/// The static token of every host under test.
pub const TOKEN: &str = "test-token-0123456789abcdef0123456789";
pub const MODERN: &str = "2026-07-28";

/// A server that is spoken to over HTTP.
pub trait Http {
    fn send(&mut self, request: &Request) -> Reply;
    /// Scheme, host and port of the server.
    fn origin(&self) -> String;
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn new(method: &str, path: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// A POST of JSON with the token.
    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let mut request = Self::new("POST", path)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .header("Authorization", &format!("Bearer {TOKEN}"));
        request.body = body.into();
        request
    }

    /// A message as a client of `version` sends it: to its endpoint, with its headers.
    pub fn message(version: &str, message: &Value) -> Self {
        let body = message.to_string();
        if version != MODERN {
            let request = Self::post("/mcp-compat", body);
            // The handshake settles the version, so it carries no header itself; the oldest ones have none at all.
            let has_header = message["method"] != "initialize" && version >= "2025-06-18";
            return if has_header {
                request.header("MCP-Protocol-Version", version)
            } else {
                request
            };
        }
        let method = message["method"].as_str().unwrap_or_default();
        let mut request = Self::post("/mcp", body)
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", method);
        let params = &message["params"];
        for member in ["name", "uri"] {
            if let Some(name) = params[member].as_str() {
                request = request.header("Mcp-Name", name);
            }
        }
        request
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub fn with(self, name: &str, value: &str) -> Self {
        self.without(name).header(name, value)
    }
}

#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The messages of the body: one JSON object, or the events of a stream.
    #[track_caller]
    pub fn messages(&self) -> Vec<Value> {
        let text = self.text();
        let is_stream = self
            .header("content-type")
            .is_some_and(|value| value.starts_with("text/event-stream"));
        if !is_stream {
            return vec![
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}")),
            ];
        }
        text.split("\n\n")
            .filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")))
            .map(|data| {
                serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"))
            })
            .collect()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        self.messages().pop().expect("a message")
    }
}
