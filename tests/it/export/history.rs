//! Thought histories of other servers of these tools, as their `get_thought_history` gives them.

use std::cell::RefCell;

use durable_thinking::command::https::Https;
use durable_thinking::command::import::import_from_server;
use durable_thinking::config::Origin;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::view::export::Format;
use serde_json::{Value, json};

use crate::export::bench::Bench;
use crate::export::routes;
use crate::support::Router;
use crate::wire::{Http, Request, TOKEN};

/// Two pages of the TypeScript server: bare ordinals with gaps, no times, numbers as cursors.
fn pages() -> [Value; 2] {
    let sequence = json!({
        "sequenceId": "seq_7b0c4f0e-6e65-4b0e-9a37-8f0f5a3f4c11", "title": "Begin", "completed": true,
        "thoughtHistoryLength": 5, "lastThoughtNumber": 3, "totalThoughts": 3,
        "branches": [{ "branchId": "b", "parentBranchId": "main", "branchFromThought": 2 }],
    });
    let step = |ordinal: u32, number: u32, more: Value| {
        let mut step = json!({
            "ordinal": ordinal, "thoughtNumber": number, "totalThoughts": 3, "thought": format!("Step {ordinal}"),
            "nextThoughtNeeded": true,
        });
        step.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        step
    };
    [
        json!({ "sequence": sequence, "nextCursor": 14, "thoughts": [
            step(11, 1, json!({})),
            step(13, 2, json!({})),
            step(14, 3, json!({"branchId": "b", "branchFromThought": 2})),
        ]}),
        json!({ "sequence": sequence, "nextCursor": null, "thoughts": [
            step(20, 2, json!({"isRevision": true, "revisesThought": 2})),
            step(21, 3, json!({"nextThoughtNeeded": false, "needsMoreThoughts": true})),
        ]}),
    ]
}

#[track_caller]
fn check(text: &str) -> Value {
    let mut bench = Bench::new();
    bench.id = Some(
        bench
            .import(text)
            .unwrap_or_else(|it| panic!("{it}"))
            .sequence_id,
    );
    serde_json::from_str(&bench.export(Format::Json)).unwrap()
}

#[test]
fn pages_are_read_as_an_array_or_one_after_another() {
    let [first, second] = pages();
    let array = check(&json!([first, second]).to_string());
    let lines = check(&format!("{first}\n{second}\n"));
    assert_eq!(array, lines);
    let thoughts = array["thoughts"].as_array().unwrap();
    assert_eq!(thoughts.len(), 5);
    assert_eq!(
        thoughts[2]["forked"],
        json!({"branchId": "main", "ordinal": 2})
    );
    assert_eq!(
        thoughts[3]["revised"],
        json!({"branchId": "main", "ordinal": 2})
    );
    assert_eq!(thoughts[4]["needsMoreThoughts"], true);
    assert_eq!(array["sequence"]["completed"], true);
    let origin = array["sequence"]["origin"].as_str().unwrap();
    assert!(
        origin.ends_with("from a thought history of 5 thoughts, which tells no times"),
        "{origin}"
    );
}

#[test]
fn a_history_that_is_not_whole_is_refused() {
    let [first, second] = pages();
    for (text, expected) in [
        (
            first.to_string(),
            "/nextCursor: nextCursor says that more follows after 3 thoughts",
        ),
        (
            second.to_string(),
            "/sequence/thoughtHistoryLength: says 5, but there are 2",
        ),
        (
            json!([second, first]).to_string(),
            "/1/thoughts/0/ordinal: 11 came after 21",
        ),
        (
            format!("{first}{first}"),
            "page 2: /thoughts/0/ordinal: 11 came after 14",
        ),
        (
            json!([first, {"thoughts": []}]).to_string(),
            "/1/thoughts: must stand after the sequence",
        ),
    ] {
        let refusal = Bench::new().import(&text).unwrap_err();
        assert!(
            refusal.starts_with(&format!("import_invalid: {expected}")),
            "{refusal}"
        );
    }
}

/// The network to a server in this process.
struct Wire(RefCell<Router>);

impl Https for Wire {
    fn send(&self, request: http::Request<Vec<u8>>) -> Result<http::Response<Vec<u8>>, String> {
        let mut sent = Request::new(request.method().as_str(), request.uri().path());
        for (name, value) in request.headers() {
            sent = sent.header(name.as_str(), value.to_str().unwrap());
        }
        sent.body = request.into_body();
        let reply = self.0.borrow_mut().send(&sent);
        let mut response = http::Response::builder().status(reply.status);
        for (name, value) in &reply.headers {
            response = response.header(name, value);
        }
        Ok(response.body(reply.body).unwrap())
    }
}

#[test]
fn a_running_server_is_read_by_id() {
    let (router, id) = routes::router(130);
    let server = Origin::parse("http://127.0.0.1:8787").unwrap();
    let wire = Wire(RefCell::new(router));
    let mut bench = Bench::new();
    let fresh = bench.fresh();
    let import = |token, id: &str| {
        import_from_server(&bench.store, &fresh, &server, token, id, &wire)
            .map_err(|it| it.to_string())
    };
    let refusal = import(None, &id).unwrap_err();
    assert_eq!(
        refusal,
        "the server answered 401 Unauthorized. Give its token in MCP_API_TOKEN"
    );
    let unknown = SequenceId::new([9; 16]).to_string();
    let refusal = import(Some(TOKEN), &unknown).unwrap_err();
    assert!(
        refusal.starts_with("the server refused: sequence_not_found"),
        "{refusal}"
    );
    let imported = import(Some(TOKEN), &id).unwrap();
    assert_eq!((imported.thoughts, imported.branches), (130, 0));
    bench.id = Some(imported.sequence_id);
    let document: Value = serde_json::from_str(&bench.export(Format::Json)).unwrap();
    let origin = document["sequence"]["origin"].as_str().unwrap();
    assert!(
        origin.ends_with("It came from http://127.0.0.1:8787"),
        "{origin}"
    );
    assert!(!origin.contains("seq_"));
    assert_eq!(document["thoughts"][129]["nextThoughtNeeded"], false);
    assert_eq!(
        bench
            .rows()
            .iter()
            .filter(|row| row.starts_with("sequence "))
            .count(),
        1
    );
}
