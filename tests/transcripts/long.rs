//! Long answers, on every host over HTTP: progress on a stream, and the same page as without.

#![allow(dead_code, reason = "each crate of tests uses its part")]

use serde_json::{Value, json};

use super::runner::{Host, Restart};
use super::vectors::modern;
use super::wire::{Http, MODERN, Request};

pub fn call(tool: &str, arguments: &Value, token: Option<Value>) -> Value {
    let mut message = modern(
        1,
        "tools/call",
        json!({ "name": tool, "arguments": arguments }),
    );
    if let Some(token) = token {
        message["params"]["_meta"]["progressToken"] = token;
    }
    message
}

/// A sequence of a hundred thoughts of which some are long.
pub fn write(host: &mut impl Host) -> String {
    let mut id = Value::Null;
    for number in 1..=100 {
        let text = format!("{number} {}", "long ".repeat(number % 7 * 150));
        let arguments = json!({
            "thought": text, "thoughtNumber": number, "totalThoughts": 100, "nextThoughtNeeded": number < 100, "sequenceId": id,
        });
        let answer = host
            .exchange(MODERN, &call("sequentialthinking", &arguments, None))
            .unwrap();
        id = answer["result"]["structuredContent"]["sequenceId"].clone();
    }
    id.as_str().unwrap().to_owned()
}

/// Reads the same pages with progress and without.
pub fn check(http: &mut (impl Http + Restart)) {
    let id = write(http);
    for (more, streams) in [
        (json!({ "limit": 100, "maxCharacters": 250_000 }), true),
        (json!({ "limit": 100, "maxCharacters": 60_000 }), true),
        (
            json!({ "limit": 100, "maxCharacters": 30_001, "order": "desc" }),
            true,
        ),
        (
            json!({ "limit": 33, "maxCharacters": 250_000, "view": "active" }),
            true,
        ),
        (json!({ "view": "brief" }), true),
        (json!({ "limit": 100 }), false),
        (json!({ "limit": 20, "maxCharacters": 250_000 }), false),
    ] {
        let mut arguments = more.clone();
        arguments["sequenceId"] = json!(id);
        let plain = http.send(&Request::message(
            MODERN,
            &call("get_thought_history", &arguments, None),
        ));
        assert_eq!(plain.header("content-type"), Some("application/json"));
        let with = call("get_thought_history", &arguments, Some(json!("token")));
        let request = Request::message(MODERN, &with);
        let reply = http.send(&request);
        let expected = if streams {
            "text/event-stream"
        } else {
            "application/json"
        };
        assert_eq!(reply.header("content-type"), Some(expected), "{more}");
        let mut messages = reply.messages();
        assert_eq!(messages.pop(), Some(plain.json()), "{more}");
        let mut last = 0;
        for message in &messages {
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], "token");
            let progress = message["params"]["progress"].as_u64().unwrap();
            assert!(progress > last, "{more}");
            last = progress;
        }
        assert_eq!(!messages.is_empty(), streams, "{more}");
        if streams {
            assert_eq!(reply.header("x-accel-buffering"), Some("no"));
            let reply = http.send(&request.with("Accept", "application/json"));
            assert_eq!(reply.json(), plain.json());
        }
    }
}
