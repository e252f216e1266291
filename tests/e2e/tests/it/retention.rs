//! What is older than the owner wants is gone, without anybody asking for it.

use std::time::{Duration, Instant};

use e2e::Worker;
use e2e::mcp::Tools;
use serde_json::json;

const DAY_MILLISECONDS: i64 = 86_400_000;
const TIMEOUT: Duration = Duration::from_secs(10);

#[test]
fn the_alarm_deletes_what_has_expired_and_nothing_else() {
    let mut worker = Worker::prepare(&[("THOUGHT_RETENTION_DAYS", "2")]);
    worker.wrap_glue("shifted.mjs");
    worker.restart();
    let mut tools = Tools::new(&worker);
    let young = tools.think_all(&["one", "two"]);
    let params = json!({ "name": "sequentialthinking", "arguments": {
        "thought": "old", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
    } });
    let before = (-3 * DAY_MILLISECONDS).to_string();
    let reply = tools.post("tools/call", &params, &[("x-shift-milliseconds", &before)]);
    let old = reply.json()["result"]["structuredContent"]["sequenceId"].take();

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
