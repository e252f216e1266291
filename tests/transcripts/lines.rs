//! Golden vector 41: lines of standard input, and the one message that answers each.

#![allow(dead_code, reason = "each crate of tests uses its part")]
#![allow(clippy::too_many_lines, reason = "a table is as long as it is")]

use serde_json::{Value, json};

use super::vectors::{CAPABILITIES, PROTOCOL_VERSION, legacy, modern};
use super::wire::MODERN;

/// Vector 41: lines of standard input, each with the id and the code or member of its one answer.
pub fn lines() -> Vec<(String, Expected)> {
    use Expected::{Code, Member, Nothing};
    let text = |message: Value| message.to_string();
    let bare = |meta: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } });
    let mut lines = vec![
        ("{bad".to_owned(), Code(None, -32700)),
        ("[]".to_owned(), Code(None, -32600)),
        (
            text(json!([modern(1, "server/discover", json!({}))])),
            Code(None, -32600),
        ),
        (
            text(json!({ "jsonrpc": "2.0", "id": 1, "result": {} })),
            Code(Some(json!(1)), -32600),
        ),
        (
            text(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })),
            Nothing,
        ),
        (
            text(modern("d", "server/discover", json!({}))),
            Member("supportedVersions"),
        ),
        (
            text(legacy(1, "server/discover", json!({}))),
            Code(Some(json!(1)), -32602),
        ),
        (
            text(json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover" })),
            Code(Some(json!(1)), -32602),
        ),
        (
            text(bare(json!({ CAPABILITIES: {} }))),
            Code(Some(json!(1)), -32602),
        ),
        (
            text(bare(json!({ PROTOCOL_VERSION: MODERN }))),
            Code(Some(json!(1)), -32602),
        ),
        (
            text(bare(
                json!({ PROTOCOL_VERSION: "v999.0.0", CAPABILITIES: {} }),
            )),
            Code(Some(json!(1)), -32022),
        ),
        (
            text(bare(
                json!({ PROTOCOL_VERSION: "2025-11-25", CAPABILITIES: {} }),
            )),
            Code(Some(json!(1)), -32022),
        ),
        (text(modern(10, "tools/list", json!({}))), Member("tools")),
        (
            text(modern(20, "tools/call", json!({ "name": "nope" }))),
            Code(Some(json!(20)), -32602),
        ),
        (
            text(modern(
                21,
                "tools/call",
                json!({ "name": "sequentialthinking" }),
            )),
            Member("isError"),
        ),
        (
            text(modern(22, "tools/list", json!({ "cursor": "" }))),
            Code(Some(json!(22)), -32602),
        ),
        (
            text(modern(23, "resources/read", json!({ "uri": "ui://nope" }))),
            Code(Some(json!(23)), -32602),
        ),
        (
            text(modern(
                24,
                "subscriptions/listen",
                json!({ "notifications": {} }),
            )),
            Expected::Method("notifications/subscriptions/acknowledged"),
        ),
    ];
    for id in [json!(null), json!(1.5), json!(true), json!({})] {
        let mut message = modern(1, "server/discover", json!({}));
        message["id"] = id;
        lines.push((text(message), Code(None, -32600)));
    }
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "tasks/get",
        "nope/x",
    ] {
        lines.push((
            text(modern("n", method, json!({}))),
            Code(Some(json!("n")), -32601),
        ));
    }
    lines
}

#[derive(Clone, Debug)]
pub enum Expected {
    Code(Option<Value>, i64),
    Member(&'static str),
    Method(&'static str),
    Nothing,
}

impl Expected {
    #[track_caller]
    pub fn check(&self, message: &Value) {
        match self {
            Self::Code(id, code) => {
                assert_eq!(&message["error"]["code"], code, "{message}");
                assert_eq!(message.get("id"), id.as_ref(), "{message}");
            }
            Self::Member(member) => assert!(message["result"].get(member).is_some(), "{message}"),
            Self::Method(method) => assert_eq!(&message["method"], method, "{message}"),
            Self::Nothing => panic!("nothing should have come: {message}"),
        }
    }
}
