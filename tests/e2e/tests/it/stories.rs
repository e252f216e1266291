//! Whole chains of thought, as a client thinks them, with the real runtime ending in between.

use std::thread;

use e2e::Worker;
use e2e::mcp::Tools;
use serde_json::{Value, json};

const CHAIN: [&str; 12] = [
    "The bill is wrong by a cent, so somewhere money is rounded twice.",
    "Suspects: the tax line, the discount, the currency conversion.",
    "先看税额：每一行都先四舍五入，再把结果相加。",
    "按行舍入与按总额舍入相差一分，这与症状完全吻合。",
    "But the discount is applied before tax 🤔 so check the order too.",
    "Order is right: discount → tax → total. The spec says the same. ✅",
    "假设：只有三行以上的发票会错。",
    "Test: 3 lines of 0.335 each. Per line 0.34 × 3 = 1.02; in sum 1.005 → 1.01. 👩🏽‍💻",
    "Confirmed. \"Rounding per line\" is the fault; \\ and \t survive, too.",
    "修复：保留小数到最后一步，只舍入一次。",
    "A migration is not needed: stored bills keep their totals.",
    "Answer: round once, at the total. 完成 🎉",
];

#[test]
fn a_chain_is_read_back_page_by_page_before_and_after_a_crash() {
    let mut worker = Worker::start();
    let sequence = Tools::new(&worker).think_all(&CHAIN);
    for limit in [1, 5, 12, 100] {
        assert_eq!(Tools::new(&worker).read_texts(&sequence, limit), CHAIN);
    }
    worker.restart();
    assert_eq!(Tools::new(&worker).read_texts(&sequence, 5), CHAIN);
    // The chain goes on where it stood.
    let stored =
        Tools::new(&worker).think(Some(&sequence), 13, 13, "And after the crash, one more.");
    assert_eq!(stored["thoughtHistoryLength"], 13);
}

#[test]
fn a_retry_is_stored_once() {
    let worker = Worker::start();
    let mut tools = Tools::new(&worker);
    let sequence = tools.think_all(&["only once", "and then this"]);
    let repeated = json!({
        "thought": "and then this", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false,
        "sequenceId": sequence,
    });
    let again = tools.succeed("sequentialthinking", &repeated);
    assert_eq!(again["thoughtHistoryLength"], 2);
    assert_eq!(again["warnings"][0]["code"], "deduplicated", "{again}");
    assert_eq!(
        tools.read_texts(&sequence, 50),
        ["only once", "and then this"]
    );
}

#[test]
fn a_deleted_sequence_is_not_found() {
    let mut worker = Worker::start();
    let mut tools = Tools::new(&worker);
    let (kept, sequence) = (tools.think_all(&["keep me"]), tools.think_all(&CHAIN));
    let arguments = json!({ "sequenceId": sequence, "confirm": true });
    let delete =
        |tools: &mut Tools| tools.succeed("delete_thought_sequence", &arguments)["deleted"].take();
    assert_eq!(delete(&mut tools), true);
    assert_eq!(delete(&mut tools), false);
    let read = json!({ "sequenceId": sequence });
    let refusal = tools.refused("get_thought_history", &read);
    assert!(refusal.contains("not_found"), "{refusal}");
    worker.restart();
    let mut tools = Tools::new(&worker);
    assert_eq!(tools.refused("get_thought_history", &read), refusal);
    assert_eq!(tools.read_texts(&kept, 50), ["keep me"]);
}

#[test]
fn without_the_token_nothing_is_told() {
    let worker = Worker::start();
    let sequence = Tools::new(&worker).think_all(&["secret"]);
    let params = json!({ "name": "get_thought_history", "arguments": { "sequenceId": sequence } });
    for token in ["", "wrong", "test-token-0123456789abcdef0123456788"] {
        let reply = Tools::new(&worker)
            .with_token(token)
            .post("tools/call", &params, &[]);
        assert_eq!(reply.status, 401, "{token:?}");
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(challenge.starts_with("Bearer "), "{challenge}");
        assert!(!reply.text().contains("secret"));
    }
}

#[test]
fn a_token_that_is_too_short_opens_nothing_and_is_named() {
    let worker = Worker::start_with(&[("MCP_API_TOKEN", "short")]);
    let health = worker.get("/healthz");
    assert_eq!(health.status, 503);
    assert!(health.text().contains("MCP_API_TOKEN"), "{}", health.text());
    let reply = Tools::new(&worker)
        .with_token("short")
        .post("ping", &json!({}), &[]);
    assert!(matches!(reply.status, 401 | 503), "{}", reply.status);
}

#[test]
fn health_is_told_and_with_a_credential_the_object_is_asked() {
    let worker = Worker::start();
    assert_eq!(worker.get("/healthz").status, 200);
    assert_eq!(worker.get("/healthz?deep=1").status, 401);
    let bearer = format!("Bearer {}", e2e::TOKEN);
    let deep = worker
        .client()
        .send("GET", "/healthz?deep=1", &[("authorization", &bearer)], b"");
    assert_eq!(deep.status, 200, "{}", deep.text());
}

#[test]
fn sequences_written_at_the_same_time_do_not_cross() {
    const SEQUENCES: usize = 50;
    const THOUGHTS: usize = 6;
    const LANES: usize = 10;
    let text =
        |sequence: usize, thought: usize| format!("sequence {sequence}, thought {thought} 思考");
    let worker = Worker::start();
    let ids: Vec<(usize, String)> = thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES)
            .map(|lane| {
                let worker = &worker;
                scope.spawn(move || {
                    let mut tools = Tools::new(worker);
                    let own: Vec<usize> = (lane..SEQUENCES).step_by(LANES).collect();
                    let mut ids: Vec<Option<String>> = vec![None; own.len()];
                    // Round by round, so that every sequence is open while the others grow.
                    for thought in 0..THOUGHTS {
                        for (&sequence, id) in own.iter().zip(&mut ids) {
                            let number = thought as u64 + 1;
                            let stored = tools.think(
                                id.as_deref(),
                                number,
                                THOUGHTS as u64,
                                &text(sequence, thought),
                            );
                            assert_eq!(stored["thoughtHistoryLength"], number);
                            *id = stored["sequenceId"].as_str().map(str::to_owned);
                        }
                    }
                    own.into_iter()
                        .zip(ids.into_iter().flatten())
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        lanes
            .into_iter()
            .flat_map(|lane| lane.join().unwrap())
            .collect()
    });
    assert_eq!(ids.len(), SEQUENCES);
    let mut tools = Tools::new(&worker);
    for (sequence, id) in ids {
        let expected: Vec<_> = (0..THOUGHTS)
            .map(|thought| text(sequence, thought))
            .collect();
        assert_eq!(tools.read_texts(&id, 4), expected);
    }
}

#[test]
fn appends_to_one_sequence_at_the_same_time_are_all_kept() {
    const LANES: u64 = 8;
    let worker = Worker::start();
    let sequence = Tools::new(&worker).think_all(&["the start"]);
    thread::scope(|scope| {
        for lane in 1..=LANES {
            let (worker, sequence) = (&worker, &sequence);
            scope.spawn(move || {
                Tools::new(worker).think(Some(sequence), lane + 1, 20, &format!("lane {lane}"));
            });
        }
    });
    let thoughts = Tools::new(&worker).read_all(&sequence, 100);
    let ordinals: Vec<Value> = thoughts
        .iter()
        .map(|thought| thought["ordinal"].clone())
        .collect();
    assert_eq!(
        ordinals,
        (1..=LANES + 1).map(Value::from).collect::<Vec<_>>()
    );
}
