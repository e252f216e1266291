//! When Wasm ends in the middle of a call, everybody who waits gets an answer and the next call works.

use std::thread;

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::json;

fn faulty() -> Worker {
    let mut worker = Worker::prepare(&[]);
    worker.wrap_glue("faulty.mjs");
    worker.restart();
    worker
}

fn thought() -> serde_json::Value {
    json!({ "name": "sequentialthinking", "arguments": {
        "thought": "before the fault", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
    } })
}

#[test]
fn a_fault_in_the_worker_is_answered_and_the_next_call_works() {
    let worker = faulty();
    let mut tools = Tools::new(&worker);
    let sequence = tools.think_all(&["kept"]);
    for fault in ["worker panic", "worker exception"] {
        let reply = tools.post("tools/call", &thought(), &[("x-fault", fault)]);
        assert_eq!((fault, reply.status), (fault, 500));
        assert_eq!(reply.json()["error"], "internal_error");
        assert_eq!(tools.read_texts(&sequence, 50), ["kept"], "after {fault}");
    }
}

#[test]
fn a_fault_in_the_object_is_answered_and_the_next_call_works() {
    let worker = faulty();
    let mut tools = Tools::new(&worker);
    let sequence = tools.think_all(&["kept"]);
    for fault in ["object panic", "object exception"] {
        // Worker and object are one instance here, so the Worker's own call ends as well.
        let reply = tools.post("tools/call", &thought(), &[("x-fault", fault)]);
        assert_eq!((fault, reply.status), (fault, 500));
        assert_eq!(reply.json()["error"], "internal_error");
        assert_eq!(tools.read_texts(&sequence, 50), ["kept"], "after {fault}");
    }
}

#[test]
fn calls_beside_a_fault_end_too_and_nothing_acknowledged_is_lost() {
    let worker = faulty();
    let sequence = Tools::new(&worker).think_all(&["kept"]);
    thread::scope(|scope| {
        for lane in 0..8 {
            let (worker, sequence) = (&worker, &sequence);
            scope.spawn(move || {
                let mut tools = Tools::new(worker);
                for round in 0..10 {
                    let fault = if lane == 0 && round % 3 == 0 { "worker panic" } else { "none" };
                    let reply = tools.post("tools/call", &thought(), &[("x-fault", fault)]);
                    let read = Tools::new(worker).post(
                        "tools/call",
                        &json!({ "name": "get_thought_history", "arguments": { "sequenceId": sequence } }),
                        &[],
                    );
                    for reply in [reply, read] {
                        assert!(matches!(reply.status, 200 | 500), "{}", reply.text());
                        if reply.status == 200 {
                            assert_eq!(reply.json()["error"], serde_json::Value::Null);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(Tools::new(&worker).read_texts(&sequence, 50), ["kept"]);
}

#[test]
fn the_shipped_build_has_no_way_to_ask_for_a_fault() {
    let worker = Worker::start();
    let mut tools = Tools::new(&worker).with_token(TOKEN);
    for fault in ["worker panic", "object exception"] {
        let reply = tools.post("tools/call", &thought(), &[("x-fault", fault)]);
        assert_eq!(reply.status, 200, "{}", reply.text());
    }
}
