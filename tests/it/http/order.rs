//! Which fault answers when a request has many: a request with every fault is mended one fault after another, and each time
//! the next check speaks.

use serde_json::{Value, json};

use crate::support::Router;
use crate::vectors::{CAPABILITIES, PROTOCOL_VERSION};
use crate::wire::{Http, MODERN, Reply, Request, TOKEN};

/// Takes one fault away.
type Mend = fn(&mut Request);

#[track_caller]
fn check(number: usize, reply: &Reply, status: u16, said: &Value) {
    let body = reply.json();
    let found = if said.is_string() {
        &body["error"]
    } else {
        &body["error"]["code"]
    };
    assert_eq!(
        (reply.status, found),
        (status, said),
        "step {number}: {body}"
    );
}

fn set_header(request: &mut Request, name: &str, value: &str) {
    *request = request.clone().with(name, value);
}

fn set_body(request: &mut Request, change: impl FnOnce(&mut Value)) {
    let mut body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    change(&mut body);
    request.body = body.to_string().into_bytes();
}

fn worst(path: &str) -> Request {
    let mut request = Request::new("PUT", path)
        .header("Host", "evil.example.com")
        .header("Origin", "http://evil.example.com")
        .header("Content-Type", "text/plain");
    request.body = vec![b'{'; 256 * 1024 + 1];
    request
}

/// What both endpoints ask in the same order.
const COMMON: [(Mend, u16, &str); 6] = [
    (|_| {}, 403, "host_not_allowed"),
    (
        |request| *request = request.clone().without("Host"),
        403,
        "origin_not_allowed",
    ),
    (
        |request| *request = request.clone().without("Origin"),
        401,
        "unauthorized",
    ),
    (
        |request| set_header(request, "Authorization", &format!("Bearer {TOKEN}")),
        405,
        "method_not_allowed",
    ),
    (
        |request| request.method = "POST".to_owned(),
        415,
        "unsupported_media_type",
    ),
    (
        |request| set_header(request, "Content-Type", "application/json"),
        413,
        "payload_too_large",
    ),
];

#[track_caller]
fn play(path: &str, steps: &[(Mend, u16, i64)]) -> Value {
    let (mut router, mut request) = (Router::new(), worst(path));
    for (number, (mend, status, word)) in COMMON.iter().enumerate() {
        mend(&mut request);
        check(number, &router.send(&request), *status, &json!(word));
    }
    for (number, (mend, status, code)) in steps.iter().enumerate() {
        mend(&mut request);
        check(
            number + COMMON.len(),
            &router.send(&request),
            *status,
            &json!(code),
        );
    }
    serde_json::from_slice(&request.body).unwrap()
}

/// A request of 2026-07-28 from the fourth step on, with everything about it wrong.
const STRICT: [(Mend, u16, i64); 11] = [
    (|request| request.body = b"{".to_vec(), 400, -32700),
    (|request| request.body = b"[{}]".to_vec(), 400, -32600),
    (
        |request| request.body = br#"{"jsonrpc":"1.0","id":7,"method":"nope"}"#.to_vec(),
        400,
        -32600,
    ),
    (
        |request| {
            set_body(request, |body| {
                body["jsonrpc"] = json!("2.0");
                body["params"]["_meta"][PROTOCOL_VERSION] = json!("v2");
            });
        },
        400,
        -32020,
    ),
    (
        |request| set_header(request, "MCP-Protocol-Version", "v1"),
        400,
        -32020,
    ),
    (
        |request| set_header(request, "MCP-Protocol-Version", "v2"),
        400,
        -32022,
    ),
    (
        |request| {
            set_header(request, "MCP-Protocol-Version", MODERN);
            set_body(request, |body| {
                body["params"]["_meta"][PROTOCOL_VERSION] = json!(MODERN);
            });
        },
        400,
        -32602,
    ),
    (
        |request| {
            set_body(request, |body| {
                body["params"]["_meta"][CAPABILITIES] = json!({});
            });
        },
        400,
        -32020,
    ),
    (
        |request| set_header(request, "Mcp-Method", "nope"),
        404,
        -32601,
    ),
    // A method that there is, with a name in its header that is not the body's.
    (
        |request| {
            set_header(request, "Mcp-Method", "tools/call");
            set_header(request, "Mcp-Name", "another");
            set_body(request, |body| {
                body["method"] = json!("tools/call");
                body["params"]["name"] = json!("unknown");
            });
        },
        400,
        -32020,
    ),
    (
        |request| set_header(request, "Mcp-Name", "unknown"),
        200,
        -32602,
    ),
];

#[test]
fn the_strict_endpoint_asks_in_the_order_of_the_specification() {
    assert_eq!(play("/mcp", &STRICT)["id"], 7);
}

#[test]
fn the_other_endpoint_asks_in_the_order_of_its_versions() {
    play(
        "/mcp-compat",
        &[
            (|request| request.body = b"{".to_vec(), 400, -32700),
            (
                |request| {
                    set_header(request, "MCP-Protocol-Version", "v1");
                    request.body = br#"{"jsonrpc":"1.0","id":7,"method":"nope"}"#.to_vec();
                },
                400,
                -32600,
            ),
            // The version is read before the message is served, and echoes its id.
            (
                |request| set_body(request, |body| body["jsonrpc"] = json!("2.0")),
                400,
                -32600,
            ),
            (
                |request| set_header(request, "MCP-Protocol-Version", "2025-11-25"),
                200,
                -32601,
            ),
            (
                |request| set_body(request, |body| body["method"] = json!("tools/call")),
                200,
                -32602,
            ),
        ],
    );
}

/// `OPTIONS` is answered before anybody is asked who they are, and after where they come from.
#[test]
fn a_preflight_stands_between_the_origin_and_the_credential() {
    let mut router = Router::new();
    let mut request = worst("/mcp").without("Host");
    request.method = "OPTIONS".to_owned();
    assert_eq!(router.send(&request).status, 403);
    assert_eq!(router.send(&request.without("Origin")).status, 204);
}
