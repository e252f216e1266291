//! The router at byte level: the golden vectors, and what stands around the protocol.

mod order;

use std::rc::Rc;

use durable_thinking::local::ready;
use durable_thinking::transport::http::route;
use serde_json::json;

use crate::support::{Router, to_message};
use crate::vectors::{VECTORS, modern};
use crate::wire::{Http, MODERN, Request, TOKEN};

#[test]
fn golden_vectors() {
    for (number, check) in VECTORS {
        eprintln!("vector {number}");
        check(&mut Router::new());
    }
}

fn list() -> Request {
    Request::message(MODERN, &modern(1, "tools/list", json!({})))
}

#[test]
fn paths_are_taken_in_any_case_and_with_one_slash_too_many() {
    let mut router = Router::new();
    for (path, status) in [
        ("/mcp/", 200),
        ("/MCP", 200),
        ("/Mcp/", 200),
        ("/mcp//", 404),
        ("/mcp-other", 404),
        ("/mcpx", 404),
        ("/mcp/x", 404),
        ("/mcp?token=x", 200),
    ] {
        let mut request = list();
        request.path = path.to_owned();
        assert_eq!(router.send(&request).status, status, "{path}");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    for path in ["/mcp-compat", "/MCP-Compat/", "/"] {
        let reply = router.send(&Request::post(path, ping.clone()));
        assert_eq!(
            (reply.status, reply.json()["id"].as_i64()),
            (200, Some(1)),
            "{path}"
        );
    }
}

#[test]
fn a_body_is_refused_by_its_size_and_only_to_those_who_may_come_in() {
    let mut router = Router::new();
    let mut message = modern(1, "tools/list", json!({}));
    message["params"]["pad"] = "x".repeat(256 * 1024).into();
    let request = Request::message(MODERN, &message);
    let reply = router.send(&request);
    assert_eq!(
        (reply.status, &reply.json()["bytesMax"]),
        (413, &json!(262_144))
    );
    assert_eq!(
        router
            .send(&request.clone().without("Authorization"))
            .status,
        401
    );
    message["params"]["pad"] = "x".repeat(255 * 1024).into();
    assert_eq!(router.send(&Request::message(MODERN, &message)).status, 200);
}

#[test]
fn hosts_that_are_not_ours_are_refused_before_anything_else() {
    let mut router = Router::new();
    let evil = list()
        .header("Host", "evil.example.com")
        .without("Authorization");
    assert_eq!(router.send(&evil).status, 403);
    assert_eq!(
        router.send(&list().header("Host", "127.0.0.1:9999")).status,
        200
    );
    let twice = list()
        .header("Host", "127.0.0.1")
        .header("Host", "127.0.0.1");
    assert_eq!(router.send(&twice).status, 403);
    let mut hosted = Router::with(
        &[
            ("MCP_API_TOKEN", TOKEN),
            ("ALLOWED_HOSTNAMES", "think.example"),
        ],
        "https://think.example",
    );
    let reply = hosted.send(&list().header("Origin", "https://claude.ai"));
    assert_eq!(reply.status, 200);
    assert_eq!(
        reply.header("access-control-allow-origin"),
        Some("https://claude.ai")
    );
    assert_eq!(
        reply.header("strict-transport-security"),
        Some("max-age=31536000")
    );
    assert_eq!(
        hosted
            .send(&list().header("Origin", "http://localhost:3000"))
            .status,
        403
    );
    assert_eq!(
        hosted.send(&list().header("Host", "x.workers.dev")).status,
        403
    );
}

#[test]
fn a_preflight_needs_no_credential() {
    let mut router = Router::new();
    let mut request = Request::new("OPTIONS", "/mcp").header("Origin", "http://localhost:6274");
    let reply = router.send(&request);
    assert_eq!((reply.status, reply.body.len()), (204, 0));
    assert_eq!(
        reply.header("access-control-allow-origin"),
        Some("http://localhost:6274")
    );
    for (name, word) in [
        ("access-control-allow-headers", "Authorization"),
        ("access-control-allow-headers", "Mcp-Name"),
        ("access-control-allow-methods", "POST"),
        ("access-control-expose-headers", "WWW-Authenticate"),
        ("vary", "Origin"),
    ] {
        assert!(reply.header(name).unwrap().contains(word), "{name}");
    }
    assert_eq!(reply.header("access-control-allow-credentials"), None);
    request.path = "/nowhere".to_owned();
    assert_eq!(router.send(&request).status, 404);
}

#[test]
fn every_response_carries_a_request_id_and_is_not_kept() {
    let mut router = Router::new();
    for request in [
        list(),
        Request::new("GET", "/healthz"),
        Request::new("GET", "/nowhere"),
    ] {
        let reply = router.send(&request);
        assert_eq!(reply.header("x-request-id").unwrap().len(), 16);
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn health_names_what_is_wrong_and_repeats_no_secret() {
    #[track_caller]
    fn check(environment: &[(&str, &str)], status: u16, word: &str) {
        let mut router = Router::with(environment, "http://127.0.0.1:8787");
        let reply = router.send(&Request::new("GET", "/healthz"));
        assert_eq!(reply.status, status, "{}", reply.text());
        assert!(reply.text().contains(word), "{}", reply.text());
        assert!(!reply.text().contains("secret"));
        assert_eq!(reply.json()["ok"], status == 200);
    }
    check(&[("MCP_API_TOKEN", TOKEN)], 200, "\"token\":true");
    check(&[], 503, "MCP_API_TOKEN");
    check(&[("MCP_API_TOKEN", "secret")], 503, "at least 32");
    check(
        &[("MCP_API_TOKEN", TOKEN), ("LOOP_GUARD", "secret")],
        503,
        "LOOP_GUARD",
    );
    let mut router = Router::new();
    let deep = Request::new("GET", "/healthz?deep=1");
    assert_eq!(router.send(&deep).status, 401);
    let reply = router.send(&deep.header("Authorization", &format!("Bearer {TOKEN}")));
    assert_eq!((reply.status, &reply.json()["store"]), (200, &json!("ok")));
    let reply = router.send(&Request::new("POST", "/healthz"));
    assert_eq!(
        (reply.status, reply.header("allow")),
        (405, Some("GET, HEAD, OPTIONS"))
    );
}

#[test]
fn a_token_that_cannot_be_used_is_no_silent_401() {
    for token in ["", "short"] {
        let mut router = Router::with(&[("MCP_API_TOKEN", token)], "http://127.0.0.1:8787");
        let reply = router.send(&list());
        assert_eq!(reply.status, 503);
        assert!(reply.text().contains("/healthz"));
    }
}

#[test]
fn the_token_before_the_rotation_is_good_and_says_so() {
    let (new, old) = ("n".repeat(40), "o".repeat(40));
    let environment = [
        ("MCP_API_TOKEN", new.as_str()),
        ("MCP_API_TOKEN_PREVIOUS", &old),
    ];
    let mut router = Router::with(&environment, "http://127.0.0.1:8787");
    let with = |token: &str| list().with("Authorization", &format!("Bearer {token}"));
    let reply = router.send(&with(&new));
    assert_eq!((reply.status, reply.header("deprecation")), (200, None));
    let reply = router.send(&with(&old));
    assert_eq!(reply.status, 200);
    assert!(reply.header("deprecation").is_some());
    assert_eq!(router.send(&with(TOKEN)).status, 401);
    assert_eq!(
        router
            .send(&with(&new).header("Authorization", "Bearer x"))
            .status,
        400
    );
}

#[test]
fn the_strict_endpoint_serves_older_protocols_only_when_told_to() {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } });
    let request = Request::post("/mcp", initialize.to_string());
    assert_eq!(Router::new().send(&request).status, 400);
    let environment = [("MCP_API_TOKEN", TOKEN), ("MCP_LEGACY_ON_STRICT", "true")];
    let mut router = Router::with(&environment, "http://127.0.0.1:8787");
    assert_eq!(
        router.send(&request).json()["result"]["protocolVersion"],
        "2025-06-18"
    );
    assert_eq!(
        router.send(&list()).json()["result"]["resultType"],
        "complete"
    );
}

#[test]
fn a_client_that_takes_the_origin_for_the_endpoint_is_not_shown_the_page() {
    let mut router = Router::new();
    let page = Request::new("GET", "/").header("Accept", "text/html,*/*;q=0.8");
    let stream = Request::new("GET", "/").header("Accept", "text/event-stream");
    assert_eq!(router.send(&stream).status, 401);
    let mut head = page;
    head.method = "HEAD".to_owned();
    let reply = router.send(&head);
    assert_eq!((reply.status, reply.body.len()), (200, 0));
}

#[test]
fn the_log_learns_what_came_of_a_call_in_fixed_words() {
    let mut router = Router::new();
    let mut learned = |version: &str, message: &serde_json::Value| {
        let message = to_message(&router.origin(), &Request::message(version, message));
        let (site, fresh) = (Rc::clone(&router.site), router.fresh());
        let (_, access) = ready(route(message, site, fresh)).unwrap();
        (access.route, access.method, access.tool, access.outcome)
    };
    let call = |arguments| {
        modern(
            1,
            "tools/call",
            json!({ "name": "sequentialthinking", "arguments": arguments }),
        )
    };
    let thought = json!({ "thought": "secret", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false });
    let (method, tool) = (Some("tools/call"), Some("sequentialthinking"));
    assert_eq!(
        learned(MODERN, &call(thought.clone())),
        ("/mcp", method, tool, Some("ok"))
    );
    assert_eq!(
        learned(MODERN, &call(json!({}))),
        ("/mcp", method, tool, Some("invalid_input"))
    );
    let mut old = call(json!({}));
    old["params"].as_object_mut().unwrap().remove("_meta");
    assert_eq!(
        learned("2025-11-25", &old),
        ("/mcp-compat", method, tool, Some("invalid_input"))
    );
    let nowhere = modern(1, "secret/method", json!({}));
    assert_eq!(
        learned(MODERN, &nowhere),
        ("/mcp", None, None, Some("method_not_found"))
    );
}
