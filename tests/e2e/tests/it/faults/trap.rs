//! When Wasm ends in the middle of a call, everybody who waits gets an answer and the next call works.

use std::thread;

use e2e::client::Reply;
use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

use super::{Scene, error};

#[track_caller]
fn is_told(reply: &Reply) -> String {
    assert_eq!(reply.status, 500, "{}", reply.text());
    let told = reply.json();
    let advice = ["error", "class", "retry"].map(|member| told[member].clone());
    assert_eq!(advice, ["internal_error", "unavailable", "later"]);
    let request_id = reply.header("x-request-id").unwrap();
    let message = told["message"].as_str().unwrap();
    assert!(message.contains(&request_id), "{message}");
    request_id
}

#[test]
fn a_panic_in_the_worker_or_in_the_object_is_answered_and_the_next_call_works() {
    // Worker and object are one instance here, so the Worker's own call ends with the object's.
    for fault in [
        "worker panic",
        "worker exception",
        "object panic",
        "object exception",
    ] {
        let mut scene = Scene::set();
        let reply = scene.append_during(fault);
        let request_id = is_told(&reply);
        assert_eq!(
            scene.errors(),
            [error(&request_id, ["worker", "failed"])],
            "{fault}"
        );
        scene.repeat(false);
    }
}

#[test]
fn calls_beside_a_fault_end_too_and_nothing_acknowledged_is_lost() {
    let scene = Scene::set();
    thread::scope(|scope| {
        for lane in 0..8 {
            let scene = &scene;
            scope.spawn(move || {
                let mut tools = Tools::new(&scene.worker);
                for round in 0..10 {
                    let fault = if lane == 0 && round % 3 == 0 { "worker panic" } else { "none none 0" };
                    let first = json!({ "name": "sequentialthinking", "arguments": {
                        "thought": "one more", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
                    } });
                    let written = tools.post("tools/call", &first, &[("x-fault", fault)]);
                    let read = json!({ "name": "get_thought_history", "arguments": { "sequenceId": scene.sequence } });
                    let read = Tools::new(&scene.worker).post("tools/call", &read, &[]);
                    for reply in [written, read] {
                        match reply.status {
                            200 => assert_eq!(reply.json()["error"], Value::Null),
                            _ => drop(is_told(&reply)),
                        }
                    }
                }
            });
        }
    });
    let mut tools = Tools::new(&scene.worker);
    assert_eq!(tools.read_texts(&scene.sequence, 50), [super::KEPT]);
}

#[test]
fn the_shipped_build_has_no_way_to_ask_for_a_fault() {
    let worker = Worker::start();
    let mut tools = Tools::new(&worker).with_token(TOKEN);
    for header in [
        ("x-fault", "worker panic"),
        ("x-fault", "object exception"),
        ("x-probe", "1"),
    ] {
        let reply = tools.post("ping", &json!({}), &[header]);
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.json()["result"], json!({}));
    }
}
