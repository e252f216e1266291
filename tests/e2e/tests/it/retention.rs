//! What is older than the owner wants is gone, without anybody asking for it.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

const DAY_MILLISECONDS: u64 = 86_400_000;
const TIMEOUT: Duration = Duration::from_secs(10);

fn start(days: &str) -> Worker {
    Worker::start_breakable(&[("THOUGHT_RETENTION_DAYS", days)])
}

/// Begins a sequence in the past and returns its id.
fn think_days_ago(worker: &Worker, days: u64) -> String {
    let params = json!({ "name": "sequentialthinking", "arguments": {
        "thought": "old", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false,
    } });
    let before = format!("-{}", days * DAY_MILLISECONDS);
    let reply =
        Tools::new(worker).post("tools/call", &params, &[("x-shift-milliseconds", &before)]);
    let id = reply.json()["result"]["structuredContent"]["sequenceId"].take();
    id.as_str().expect("an id").to_owned()
}

#[track_caller]
fn is_gone(worker: &Worker, id: &str) {
    let refusal = Tools::new(worker).refused("get_thought_history", &json!({ "sequenceId": id }));
    assert!(refusal.starts_with("sequence_not_found"), "{refusal}");
}

/// What the store's alarm was set to since the start, `None` for each time that it was deleted.
fn alarms(worker: &Worker) -> Vec<Option<u64>> {
    serde_json::from_value(worker.probe()["alarms"].take()).unwrap()
}

fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    now.as_millis().try_into().unwrap()
}

/// Waits until the alarm has deleted `sequences` of one thought each.
#[track_caller]
fn wait_for_sweep(worker: &Worker, sequences: u32) {
    let end = format!(r#""sequences":{sequences},"thoughts":{sequences}}}"#);
    let start = Instant::now();
    while !worker
        .log()
        .iter()
        .any(|line| line.contains("sequences_expired") && line.ends_with(&end))
    {
        assert!(start.elapsed() < TIMEOUT, "{:?}", worker.log());
        thread::yield_now();
    }
}

#[test]
fn the_alarm_deletes_what_has_expired_and_nothing_else() {
    let worker = start("2");
    let mut tools = Tools::new(&worker);
    let young = tools.think_all(&["one", "two"]);
    let old = think_days_ago(&worker, 3);
    wait_for_sweep(&worker, 1);
    is_gone(&worker, &old);
    assert_eq!(tools.read_texts(&young, 50), ["one", "two"]);
}

#[test]
fn the_owner_frees_what_nobody_was_at() {
    let worker = start("0");
    let mut tools = Tools::new(&worker);
    let young = tools.think_all(&["one", "two"]);
    let old = think_days_ago(&worker, 366);
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
    is_gone(&worker, &old);
    assert_eq!(tools.read_texts(&young, 50), ["one", "two"]);
    let log = worker.log().join("\n");
    assert!(log.contains("sequences_purged") && !log.contains(&old));
}

/// A setting that is new after a start holds from the first request on: what it makes too old is unreadable before the
/// alarm has come, and the alarm comes soon, but is never set into the past, where it would ring for ever.
#[test]
fn a_changed_setting_takes_effect_with_the_next_request() {
    let mut worker = start("0");
    let old = think_days_ago(&worker, 3);
    let young = think_days_ago(&worker, 1);
    assert_eq!(Tools::new(&worker).read_texts(&old, 50), ["old"]);
    assert_eq!(alarms(&worker), []);

    worker.set_variable("THOUGHT_RETENTION_DAYS", "2");
    worker.restart();
    let started = now();
    is_gone(&worker, &old);
    let [Some(first)] = alarms(&worker)[..] else {
        panic!("{:?}", alarms(&worker));
    };
    assert!(first > started, "{first} is before {started}");
    wait_for_sweep(&worker, 1);
    assert_eq!(Tools::new(&worker).read_texts(&young, 50), ["old"]);
    // The next one is due when the younger one is two days old.
    let due = alarms(&worker)[1].unwrap();
    assert!(due > started + DAY_MILLISECONDS / 2 && due < started + 2 * DAY_MILLISECONDS);

    worker.set_variable("THOUGHT_RETENTION_DAYS", "0");
    worker.restart();
    assert_eq!(Tools::new(&worker).read_texts(&young, 50), ["old"]);
    assert_eq!(alarms(&worker), [None], "nothing expires any more");
    is_gone(&worker, &old);
}

/// Setting an alarm is a write: neither calls nor an object that begins anew may do it over and over.
#[test]
fn an_alarm_whose_time_has_not_changed_is_not_set_again() {
    let mut worker = start("2");
    let first = Tools::new(&worker).think_all(&["one", "two"]);
    let busy = |worker: &Worker| {
        let mut tools = Tools::new(worker);
        let id = tools.think_all(&["a", "b", "c"]);
        assert_eq!(tools.read_texts(&first, 50), ["one", "two"]);
        tools.succeed(
            "delete_thought_sequence",
            &json!({ "sequenceId": id, "confirm": true }),
        );
    };
    busy(&worker);
    let set = alarms(&worker);
    let [Some(due)] = set[..] else {
        panic!("{set:?}");
    };
    assert!(due > now() + DAY_MILLISECONDS);
    // The object is evicted and comes back, without and with its process.
    let reply = Tools::new(&worker).post(
        "tools/call",
        &json!({
            "name": "get_thought_history", "arguments": { "sequenceId": first },
        }),
        &[("x-fault", "object abort")],
    );
    assert_eq!(
        reply.json()["result"]["isError"],
        Value::Null,
        "{}",
        reply.text()
    );
    busy(&worker);
    assert_eq!(alarms(&worker), set);
    worker.restart();
    busy(&worker);
    assert_eq!(alarms(&worker), []);
}

/// The alarm that one life of the object has set rings in the next one, which nobody has called.
#[test]
fn an_alarm_outlives_the_process_that_set_it() {
    let mut worker = start("0");
    let old = think_days_ago(&worker, 3);
    worker.set_variable("THOUGHT_RETENTION_DAYS", "2");
    worker.restart();
    is_gone(&worker, &old);
    assert_eq!(alarms(&worker).len(), 1);
    // Killed within the second that every alarm is ahead.
    worker.kill();
    let so_far = worker.log();
    assert!(
        !so_far.iter().any(|line| line.contains("sequences_expired")),
        "{so_far:?}"
    );
    worker.restart();
    wait_for_sweep(&worker, 1);
    is_gone(&worker, &old);
}

/// Half a document is freed where every sequence is kept, too.
#[test]
fn an_import_whose_next_part_does_not_come_is_given_up() {
    let worker = start("0");
    let id = think_days_ago(&worker, 3);
    let more = json!({ "name": "sequentialthinking", "arguments": {
        "thought": "old, too", "thoughtNumber": 2, "totalThoughts": 2, "nextThoughtNeeded": false, "sequenceId": id,
    } });
    let before = format!("-{}", 3 * DAY_MILLISECONDS);
    let shift = [("x-shift-milliseconds", before.as_str())];
    Tools::new(&worker).post("tools/call", &more, &shift);
    let bearer = format!("Bearer {TOKEN}");
    let post = |path: &str, body: String, days_ago: u64| {
        let before = format!("-{}", days_ago * DAY_MILLISECONDS);
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("x-shift-milliseconds", &before),
        ];
        worker
            .client()
            .send("POST", path, &headers, body.as_bytes())
    };
    let asked = json!({ "sequenceId": id, "format": "json" });
    let document = post("/export", asked.to_string(), 0).json();
    let part = |days_ago: u64| {
        let part = format!(
            "{{\"format\":{},\"version\":1,\"sequence\":{},\"more\":true,\"thoughts\":[{}]}}",
            document["format"], document["sequence"], document["thoughts"][0]
        );
        let reply = post("/import", part, days_ago);
        assert_eq!(reply.status, 202, "{}", reply.text());
    };
    part(0);
    let set = alarms(&worker);
    let [Some(due)] = set[..] else {
        panic!("{set:?}");
    };
    let day = now() + DAY_MILLISECONDS;
    assert!((day - 60_000..=day).contains(&due), "{due}");
    part(2);
    wait_for_sweep(&worker, 1);
    assert_eq!(Tools::new(&worker).read_texts(&id, 50), ["old", "old, too"]);
    // The one that came now still waits for its next part.
    let start = Instant::now();
    while alarms(&worker).last() != Some(&Some(due)) {
        assert!(start.elapsed() < TIMEOUT, "{:?}", alarms(&worker));
        thread::yield_now();
    }
}

/// The platform rings again for an alarm that failed.
#[test]
fn an_alarm_that_ends_in_a_fault_rings_again() {
    let mut worker = start("0");
    let old = think_days_ago(&worker, 3);
    worker.set_variable("THOUGHT_RETENTION_DAYS", "2");
    worker.restart();
    let read = json!({ "name": "get_thought_history", "arguments": { "sequenceId": old } });
    Tools::new(&worker).post("tools/call", &read, &[("x-fault", "alarm exception")]);
    wait_for_sweep(&worker, 1);
    is_gone(&worker, &old);
    let log = worker.whole_log();
    let errors: Vec<_> = log
        .iter()
        .filter(|line| line.contains(r#""kind":"error""#))
        .collect();
    assert!(
        errors.len() == 1 && errors[0].contains(r#""stage":"alarm","reason":"failed""#),
        "{errors:?}"
    );
}
