//! Random input at every door: frames, envelopes, headers and arguments. Whatever comes, nothing panics, nothing answers 500,
//! no fault of ours is reported, and what is answered is a message.
//!
//! `PROPTEST_CASES` sets how many inputs each test makes; a failing one is shrunk, and the seed of its run printed.

use std::cell::RefCell;

use durable_thinking::local::ready;
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::settings::Settings;
use durable_thinking::transport::stdio::{Line, Session};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::seeded;
use crate::support::Router;
use crate::vectors::modern;
use crate::wire::{Http, Reply, Request};

const CASES: u32 = 400;
const METHODS: [&str; 14] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "subscriptions/listen",
    "notifications/cancelled",
    "notifications/initialized",
    "",
];
const ARGUMENTS: [&str; 22] = [
    "thought",
    "nextThoughtNeeded",
    "thoughtNumber",
    "totalThoughts",
    "sequenceId",
    "isRevision",
    "revisesThought",
    "branchFromThought",
    "branchId",
    "branchFromBranchId",
    "needsMoreThoughts",
    "rewind",
    "summarizesThrough",
    "limit",
    "cursor",
    "order",
    "maxCharacters",
    "view",
    "confirm",
    "thought_number",
    "revisionNumber",
    "problem",
];
const TEXTS: [&str; 16] = [
    "",
    " ",
    "null",
    "true",
    "FALSE",
    "0",
    "1",
    "-1",
    "1e309",
    "3.0",
    "seq_",
    "main",
    "\u{0}",
    "\u{202e}x",
    "brief",
    "🧵",
];

fn runner() -> TestRunner {
    TestRunner::new(seeded::config(CASES))
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3_i64..103).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(&TEXTS[..]).prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-zA-Z_/]{0,8}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Arguments of a tool, good and bad ones mixed, often enough with the required ones in order.
fn arguments() -> impl Strategy<Value = Value> {
    let least = json!({ "thought": "a", "nextThoughtNeeded": true, "thoughtNumber": 1, "totalThoughts": 1 });
    (
        any::<bool>(),
        btree_map(select(&ARGUMENTS[..]), value(), 0..6),
    )
        .prop_map(move |(is_good, more)| {
            let mut all = if is_good {
                least.as_object().cloned().unwrap()
            } else {
                Map::new()
            };
            all.extend(
                more.into_iter()
                    .map(|(name, value)| (name.to_owned(), value)),
            );
            Value::Object(all)
        })
}

fn envelope() -> impl Strategy<Value = Value> {
    let member = |name: &'static str, good: BoxedStrategy<Value>| {
        prop_oneof![
            6 => good.prop_map(move |value| Some((name, value))),
            1 => value().prop_map(move |value| Some((name, value))),
            1 => Just(None),
        ]
    };
    let id = prop_oneof![
        any::<i64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from)
    ]
    .boxed();
    let params = (
        btree_map(
            select(
                &[
                    "name",
                    "arguments",
                    "uri",
                    "cursor",
                    "notifications",
                    "protocolVersion",
                    "_meta",
                ][..],
            ),
            value(),
            0..5,
        ),
        any::<bool>(),
    )
        .prop_map(|(members, is_modern)| {
            let members: Map<_, _> = members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect();
            if is_modern {
                modern(1, "", Value::Object(members))["params"].clone()
            } else {
                Value::Object(members)
            }
        })
        .boxed();
    (
        member("jsonrpc", Just(json!("2.0")).boxed()),
        member("id", id),
        member("method", select(&METHODS[..]).prop_map(Value::from).boxed()),
        member("params", params),
        proptest::option::weighted(0.05, value().prop_map(|value| ("result", value))),
    )
        .prop_map(|(one, two, three, four, five)| {
            let members = [one, two, three, four, five].into_iter().flatten();
            Value::Object(
                members
                    .map(|(name, value)| (name.to_owned(), value))
                    .collect(),
            )
        })
}

/// What every answer has to be, whatever was asked.
fn check(reply: &Reply) {
    let text = reply.text();
    assert!(
        [200, 202, 400, 401, 403, 404, 405, 413, 415].contains(&reply.status),
        "{} {text}",
        reply.status
    );
    if reply.status == 202 {
        assert_eq!(text, "");
        return;
    }
    for message in reply.messages() {
        check_message(&message);
    }
}

fn check_message(message: &Value) {
    if let Some(batch) = message.as_array() {
        return batch.iter().for_each(check_message);
    }
    assert!(message.is_object(), "{message}");
    assert_ne!(message["error"]["code"], -32603, "{message}");
    let text = message["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_default();
    let is_fault = message["result"]["isError"] == true && text.starts_with("unavailable");
    assert!(!is_fault, "{message}");
}

/// A router that is made anew from time to time, so that a store full of noise does not slow the rest down.
struct Doors {
    router: Router,
    session: Session<
        Thinking<durable_thinking::local::Local<durable_thinking::database::sqlite::Sqlite>>,
    >,
    sent: u32,
}

impl Doors {
    fn open() -> Self {
        let host = Router::new().into_host();
        let session = Session::new(Thinking {
            settings: Settings::default(),
            host,
        });
        Self {
            router: Router::new(),
            session,
            sent: 0,
        }
    }

    fn send(&mut self, request: &Request) {
        self.sent += 1;
        if self.sent.is_multiple_of(20_000) {
            *self = Self::open();
        }
        check(&self.router.send(request));
    }

    fn line(&mut self, bytes: &[u8]) {
        self.session.take(&Line::Whole(bytes.to_vec()));
        let fresh = self.router.fresh();
        while !self.session.is_idle() {
            for line in ready(self.session.answer(&fresh)).unwrap() {
                assert!(!line.contains('\n'));
                check_message(&serde_json::from_str(&line).unwrap());
            }
        }
    }

    fn everywhere(&mut self, body: &[u8], version: &str) {
        self.send(
            &Request::post("/mcp", body)
                .header("MCP-Protocol-Version", version)
                .header("Mcp-Method", "tools/call"),
        );
        self.send(&Request::post("/mcp-compat", body).header("MCP-Protocol-Version", version));
        self.send(&Request::post("/", body));
        self.line(body);
    }
}

#[test]
fn frames() {
    let doors = RefCell::new(Doors::open());
    // Bytes of any kind, and good messages with some bytes changed.
    let broken = (
        envelope(),
        vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    )
        .prop_map(|(message, changes)| {
            let mut bytes = message.to_string().into_bytes();
            for (index, byte) in changes {
                let length = bytes.len();
                bytes[index.index(length)] = byte;
            }
            bytes
        });
    let bytes = prop_oneof![vec(any::<u8>(), 0..80), broken];
    runner()
        .run(&bytes, |bytes| {
            doors.borrow_mut().everywhere(&bytes, "2026-07-28");
            Ok(())
        })
        .unwrap();
}

#[test]
fn envelopes() {
    let doors = RefCell::new(Doors::open());
    let versions = select(
        &[
            "2026-07-28",
            "2025-11-25",
            "2025-03-26",
            "2024-11-05",
            "v9",
            "",
        ][..],
    );
    let body = prop_oneof![3 => envelope(), 1 => vec(envelope(), 0..5).prop_map(Value::from)];
    runner()
        .run(&(body, versions), |(body, version)| {
            doors
                .borrow_mut()
                .everywhere(body.to_string().as_bytes(), version);
            Ok(())
        })
        .unwrap();
}

#[test]
fn headers() {
    const NAMES: [&str; 14] = [
        "Host",
        "Origin",
        "Authorization",
        "Content-Type",
        "Accept",
        "MCP-Protocol-Version",
        "Mcp-Method",
        "Mcp-Name",
        "Mcp-Session-Id",
        "Last-Event-ID",
        "Content-Length",
        "X-MCP-Signature",
        "Cookie",
        "Mcp-Param-x",
    ];
    let doors = RefCell::new(Doors::open());
    let text = prop_oneof![
        "[ -~]{0,24}",
        "[ -~]{0,8}".prop_map(|text| format!("=?base64?{text}?=")),
        "[ -~]{0,8}".prop_map(|text| format!("Bearer {text}")),
        "[a-z0-9:/\\[\\].]{0,16}".prop_map(|text| format!("http://{text}")),
    ];
    let more = vec((select(&NAMES[..]), text), 0..4);
    let request = (
        select(&["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"][..]),
        select(&["/mcp", "/mcp-compat", "/", "/healthz", "/x"][..]),
        more,
        any::<bool>(),
    );
    runner()
        .run(&request, |(method, path, more, is_replaced)| {
            let call = modern(
                1,
                "tools/call",
                json!({ "name": "sequentialthinking", "arguments": {} }),
            );
            let mut request = Request::message("2026-07-28", &call);
            request.method = method.to_owned();
            request.path = path.to_owned();
            for (name, value) in more {
                request = if is_replaced {
                    request.with(name, &value)
                } else {
                    request.header(name, &value)
                };
            }
            if http::HeaderValue::from_str(
                &request
                    .headers
                    .iter()
                    .map(|(_, value)| value.as_str())
                    .collect::<String>(),
            )
            .is_ok()
            {
                let reply = doors.borrow_mut().router.send(&request);
                assert!(
                    [200, 202, 204, 400, 401, 403, 404, 405, 413, 415].contains(&reply.status),
                    "{}",
                    reply.status
                );
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn calls() {
    let doors = RefCell::new(Doors::open());
    let tools = select(
        &[
            "sequentialthinking",
            "sequential_thinking",
            "get_thought_history",
            "delete_thought_sequence",
        ][..],
    );
    let known = RefCell::new(Value::Null);
    runner()
        .run(
            &(tools, arguments(), any::<bool>()),
            |(tool, mut arguments, is_known)| {
                let id = known.borrow().clone();
                if is_known && !id.is_null() {
                    arguments["sequenceId"] = id;
                }
                let message = modern(
                    1,
                    "tools/call",
                    json!({ "name": tool, "arguments": arguments }),
                );
                let reply = doors
                    .borrow_mut()
                    .router
                    .send(&Request::message("2026-07-28", &message));
                check(&reply);
                let result = &reply.json()["result"];
                assert!(result.is_object(), "{message}");
                assert_eq!(
                    result["isError"] == true,
                    result.get("structuredContent").is_none()
                );
                if let Some(stored) = result["structuredContent"].get("thoughtHistoryLength") {
                    // A long sequence would slow the rest down.
                    *known.borrow_mut() = if stored.as_u64() < Some(200) {
                        result["structuredContent"]["sequenceId"].clone()
                    } else {
                        Value::Null
                    };
                }
                Ok(())
            },
        )
        .unwrap();
}
