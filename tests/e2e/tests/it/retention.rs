//! What is older than the owner wants is gone, without anybody asking for it.

use std::time::{Duration, Instant};

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

const DAY_MILLISECONDS: i64 = 86_400_000;
const TIMEOUT: Duration = Duration::from_secs(10);

/// A sequence of one thought, written so many days ago.
fn think_days_ago(tools: &mut Tools, days: i64) -> Value {
    let params = json!({ "name": "sequentialthinking", "arguments": {
        "thought": "old", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
    } });
    let before = (-days * DAY_MILLISECONDS).to_string();
    let reply = tools.post("tools/call", &params, &[("x-shift-milliseconds", &before)]);
    reply.json()["result"]["structuredContent"]["sequenceId"].take()
}

#[test]
fn the_alarm_deletes_what_has_expired_and_nothing_else() {
    let mut worker = Worker::prepare(&[("THOUGHT_RETENTION_DAYS", "2")]);
    worker.wrap_glue("shifted.mjs");
    worker.restart();
    let mut tools = Tools::new(&worker);
    let young = tools.think_all(&["one", "two"]);
    let old = think_days_ago(&mut tools, 3);

    let expected = r#""event":"sequences_expired","sequences":1,"thoughts":1}"#;
    let start = Instant::now();
    while !worker.log().iter().any(|line| line.ends_with(expected)) {
        assert!(start.elapsed() < TIMEOUT, "{:?}", worker.log());
        std::thread::yield_now();
    }
    let refusal = tools.refused("get_thought_history", &json!({ "sequenceId": old }));
    assert!(refusal.contains("sequence_not_found"), "{refusal}");
    assert_eq!(tools.read_texts(&young, 50), ["one", "two"]);
}

#[test]
fn the_owner_frees_what_nobody_was_at() {
    let mut worker = Worker::prepare(&[]);
    worker.wrap_glue("shifted.mjs");
    worker.restart();
    let mut tools = Tools::new(&worker);
    let young = tools.think_all(&["one", "two"]);
    let old = think_days_ago(&mut tools, 366);
    let purge = |token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        worker
            .client()
            .send("POST", "/admin/purge", &headers, b"{\"days\":365}")
    };
    assert_eq!(purge("x").status, 401);
    let (first, second) = (purge(TOKEN), purge(TOKEN));
    let bytes = "old".len() + 41;
    assert_eq!(
        first.json(),
        json!({ "sequences": 1, "thoughts": 1, "bytes": bytes, "more": false })
    );
    assert_eq!(second.json()["sequences"], 0);
    let refusal = tools.refused("get_thought_history", &json!({ "sequenceId": old }));
    assert!(refusal.contains("sequence_not_found"), "{refusal}");
    assert_eq!(tools.read_texts(&young, 50), ["one", "two"]);
    let log = worker.log().join("\n");
    assert!(log.contains("sequences_purged") && !log.contains(old.as_str().unwrap()));
}
