//! `POST /export` and `POST /import` over HTTP.

use serde_json::{Value, json};

use crate::support::Router;
use crate::wire::{Http, Reply, Request};

/// A router with a process of `thoughts` steps, and the id of it.
pub fn router(thoughts: u32) -> (Router, String) {
    let mut router = Router::new();
    let mut id = Value::Null;
    for number in 1..=thoughts {
        let message = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {
            "name": "sequentialthinking",
            "arguments": {
                "sequenceId": id, "thought": format!("Step {number} {}", "x".repeat(800)), "thoughtNumber": number,
                "totalThoughts": thoughts, "nextThoughtNeeded": number < thoughts,
            },
        }});
        let reply = router.send(&Request::post("/mcp-compat", message.to_string()));
        id = reply.json()["result"]["structuredContent"]["sequenceId"].clone();
    }
    (router, id.as_str().unwrap().to_owned())
}

fn ask(router: &mut Router, id: &str, format: &str) -> Reply {
    let body = json!({ "sequenceId": id, "format": format });
    router.send(&Request::post("/export", body.to_string()))
}

#[test]
fn every_format_has_its_type_and_a_name_without_the_id() {
    let (mut router, id) = router(3);
    for (format, media_type, name, begin) in [
        (
            "markdown",
            "text/markdown; charset=utf-8",
            "thinking-process.md",
            "# Step 1",
        ),
        (
            "mermaid",
            "text/vnd.mermaid; charset=utf-8",
            "thinking-process.mmd",
            "flowchart TB",
        ),
        (
            "json",
            "application/json",
            "thinking-process.json",
            "{\n\"format\"",
        ),
    ] {
        let reply = ask(&mut router, &id, format);
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), Some(media_type));
        assert_eq!(
            reply.header("content-disposition"),
            Some(format!("attachment; filename=\"{name}\"").as_str())
        );
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        let body = String::from_utf8(reply.body).unwrap();
        assert!(body.starts_with(begin), "{body}");
        assert!(!body.contains(&id));
    }
}

#[test]
fn a_long_process_is_streamed_and_comes_back_in_one_piece() {
    let (mut router, id) = router(1300);
    let document = ask(&mut router, &id, "json");
    let document: Value = serde_json::from_slice(&document.body).unwrap();
    assert_eq!(document["thoughts"].as_array().unwrap().len(), 1300);
    let markdown = String::from_utf8(ask(&mut router, &id, "markdown").body).unwrap();
    assert_eq!(markdown.matches("\n### ").count(), 1300);
    assert!(markdown.contains("[30](#t30) → … → [1271](#t1271)"));
}

#[test]
fn an_import_makes_a_sequence_that_can_be_read() {
    let (mut router, id) = router(3);
    let document = ask(&mut router, &id, "json").body;
    let reply = router.send(&Request::post("/import", document.clone()));
    assert_eq!(reply.status, 201, "{:?}", reply.json());
    let imported = reply.json();
    assert_eq!(
        (&imported["thoughts"], &imported["branches"]),
        (&json!(3), &json!(0))
    );
    let new = imported["sequenceId"].as_str().unwrap();
    assert_ne!(new, id);
    let again: Value = serde_json::from_slice(&ask(&mut router, new, "json").body).unwrap();
    let first: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(again["thoughts"], first["thoughts"]);
    assert!(
        again["sequence"]["origin"]
            .as_str()
            .unwrap()
            .starts_with("Imported 2026-")
    );
}

#[test]
fn a_refusal_says_what_and_where() {
    let (mut router, id) = router(2);
    let document = String::from_utf8(ask(&mut router, &id, "json").body).unwrap();
    let damaged = document.replacen("\"thoughtNumber\":2", "\"thoughtNumber\":0", 1);
    let unknown = "seq_014d2pf2dbsqqg28t5cy4tqkffkn";
    for (path, body, status, error, message) in [
        (
            "/import",
            damaged,
            400,
            "import_invalid",
            "/thoughts/1/check",
        ),
        ("/import", "{".to_owned(), 400, "import_invalid", "/: EOF"),
        (
            "/export",
            "{".to_owned(),
            400,
            "invalid_input",
            "the body must be",
        ),
        (
            "/export",
            json!({"sequenceId": id, "format": "pdf"}).to_string(),
            400,
            "invalid_input",
            "the body must be",
        ),
        (
            "/export",
            json!({"sequenceId": "x", "format": "json"}).to_string(),
            400,
            "invalid_input",
            "sequenceId: a sequence id begins",
        ),
        (
            "/export",
            json!({"sequenceId": unknown, "format": "json"}).to_string(),
            404,
            "sequence_not_found",
            "no sequence",
        ),
    ] {
        let reply = router.send(&Request::post(path, body));
        assert_eq!(reply.status, status);
        let body = reply.json();
        assert_eq!(body["error"], error);
        assert!(
            body["message"].as_str().unwrap().starts_with(message),
            "{body}"
        );
    }
}

#[test]
fn the_routes_ask_what_every_route_asks() {
    let (mut router, id) = router(1);
    let body = json!({ "sequenceId": id, "format": "json" }).to_string();
    for path in ["/export", "/import"] {
        let request = Request::post(path, body.clone());
        assert_eq!(
            router
                .send(&request.clone().without("Authorization"))
                .status,
            401
        );
        let mut get = request.clone();
        get.method = "GET".to_owned();
        assert_eq!(router.send(&get).status, 405);
        assert_eq!(
            router
                .send(&request.clone().with("Content-Type", "text/plain"))
                .status,
            415
        );
        let mut large = request.clone();
        large.body = vec![b' '; 256 * 1024 + 1];
        assert_eq!(router.send(&large).status, 413);
        assert_eq!(
            router
                .send(&request.header("Origin", "https://evil.example"))
                .status,
            403
        );
    }
}

/// A part of a document: a slice of its thoughts, as a client cuts it.
fn part(document: &Value, from: usize, to: usize, upload: &Value) -> String {
    let thoughts = document["thoughts"].as_array().unwrap();
    let mut part = format!(
        "{{\"format\":{},\"version\":1,\"sequence\":{},",
        document["format"], document["sequence"]
    );
    if !upload.is_null() {
        part.push_str(&format!("\"upload\":{upload},"));
    }
    let more = to < thoughts.len();
    let slice = Value::Array(thoughts[from..to].to_vec());
    part.push_str(&format!("\"more\":{more},\"thoughts\":{slice}}}"));
    part
}

#[test]
fn a_large_document_comes_in_parts() {
    let (mut router, id) = router(700);
    let document: Value = serde_json::from_slice(&ask(&mut router, &id, "json").body).unwrap();
    let first = part(&document, 0, 200, &Value::Null);
    let reply = router.send(&Request::post("/import", first));
    assert_eq!(reply.status, 202, "{}", reply.json());
    let upload = reply.json()["upload"].clone();
    let hidden = ask(&mut router, upload.as_str().unwrap(), "json");
    assert_eq!(hidden.status, 404, "half a document can be read");
    let mut send = |from, to, status, expected: Value| {
        let reply = router.send(&Request::post(
            "/import",
            part(&document, from, to, &upload),
        ));
        let body = reply.json();
        assert_eq!((reply.status, &body), (status, &expected));
    };
    let second = json!({ "upload": upload, "thoughts": 450 });
    send(200, 450, 202, second.clone());
    // The answer was lost, and the part is sent again.
    send(200, 450, 202, second);
    let gap = json!({
        "error": "import_invalid", "class": "input", "retry": "fix_input",
        "message": "/upload: 450 thoughts have come; the next part begins after them. Nothing was stored",
    });
    send(500, 700, 400, gap);
    let done = json!({ "sequenceId": upload, "thoughts": 700, "branches": 0 });
    send(450, 700, 201, done.clone());
    send(450, 700, 201, done);
    let again = ask(&mut router, upload.as_str().unwrap(), "json").body;
    let again: Value = serde_json::from_slice(&again).unwrap();
    assert_eq!(again["thoughts"], document["thoughts"]);
    let mut wrong = |from, to, upload: &Value, expected: &str| {
        let reply = router.send(&Request::post("/import", part(&document, from, to, upload)));
        let message = reply.json()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with(expected), "{message}");
    };
    let unknown = json!("seq_014d2pf2dbsqqg28t5cy4tqkffkn");
    wrong(200, 300, &unknown, "/upload: no import is under way");
    wrong(200, 300, &json!("x"), "/upload: a sequence id begins");
    wrong(
        200,
        300,
        &Value::Null,
        "/thoughts/0/ordinal: 201 came after 0",
    );
}
