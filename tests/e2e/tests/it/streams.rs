//! Responses that are made while they are sent: heartbeats, clients that leave, and ends that come too early.

use std::time::{Duration, Instant};

use e2e::client::{Chunk, Stream};
use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

use crate::long::call;
use crate::wire::{MODERN, Request};

const HEARTBEAT: &[u8] = b":\n\n";
const TIMEOUT: Duration = Duration::from_secs(10);

pub fn steered() -> Worker {
    let mut worker = Worker::prepare(&[]);
    worker.wrap_glue("steered.mjs");
    worker.restart();
    worker
}

/// Gives an order and answers what has been counted since the last `hold`.
pub fn steer(worker: &Worker, order: &str) -> Value {
    let headers = [("x-steer", order)];
    worker.client().send("GET", "/", &headers, b"").json()
}

/// Waits until `name` has been counted so often.
#[track_caller]
fn wait_for(worker: &Worker, name: &str, count: u64) -> Value {
    let start = Instant::now();
    loop {
        let state = steer(worker, "look");
        if state[name] == count {
            return state;
        }
        assert!(start.elapsed() < TIMEOUT, "{name} is not {count}: {state}");
        std::thread::yield_now();
    }
}

fn open(worker: &Worker, request: &Request) -> Stream {
    let headers: Vec<_> = request
        .headers
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let client = worker.client();
    client.open(&request.method, &request.path, &headers, &request.body)
}

/// A sequence of a hundred thoughts, which is read in five calls.
fn write(worker: &Worker) -> String {
    let thoughts: Vec<_> = (1..=100).map(|number| format!("step {number}")).collect();
    Tools::new(worker).think_all(&thoughts)
}

/// Begins to read `id` with progress, and comes back when the first report is read and the second call waits.
fn begin(worker: &Worker, id: &str) -> Stream {
    steer(worker, "hold 1");
    let arguments = json!({ "sequenceId": id, "limit": 100, "maxCharacters": 250_000 });
    let message = call("get_thought_history", &arguments, Some(json!("token")));
    let mut stream = open(worker, &Request::message(MODERN, &message));
    assert_eq!(stream.head.status, 200);
    let first = stream.next_chunk();
    let Chunk::Data(first) = first else {
        panic!("{first:?}");
    };
    let first = String::from_utf8(first).unwrap();
    assert!(first.contains("Read 20 of 100 thoughts"), "{first}");
    wait_for(worker, "waiting", 1);
    stream
}

#[test]
fn a_client_that_leaves_stops_the_work_and_nobody_else_notices() {
    let worker = steered();
    let id = write(&worker);
    let stream = begin(&worker, &id);
    drop(stream);
    // A heartbeat finds nobody there any more, and what waits for the call under way is let go of: it would wait for ever.
    wait_for(&worker, "left", 1);
    wait_for(&worker, "freed", 1);
    assert_eq!(steer(&worker, "look")["waiting"], 1);
    steer(&worker, "release");
    let state = wait_for(&worker, "waiting", 0);
    assert_eq!(state["calls"], 2, "{state}");
    // The instance of Wasm lives, and serves the next client.
    let after = Tools::new(&worker).read_all(&id, 100).len();
    let state = steer(&worker, "look");
    assert_eq!(
        (after, &state["calls"], &state["waiting"]),
        (100, &json!(3), &json!(0))
    );
}

#[test]
fn a_stream_says_that_it_lives_while_the_work_takes_long() {
    let worker = steered();
    let id = write(&worker);
    let mut stream = begin(&worker, &id);
    for _ in 0..3 {
        assert_eq!(stream.next_chunk(), Chunk::Data(HEARTBEAT.to_vec()));
    }
    steer(&worker, "release");
    let mut rest = Vec::new();
    while let Chunk::Data(data) = stream.next_chunk() {
        rest.extend(data);
    }
    let rest = String::from_utf8(rest).unwrap();
    let last = rest.trim_end().rsplit("data: ").next().unwrap();
    let answer: Value = serde_json::from_str(last).unwrap();
    let thoughts = &answer["result"]["structuredContent"]["thoughts"];
    assert_eq!(thoughts.as_array().unwrap().len(), 100);
    // Comments stand between events, never inside of one.
    let is_whole = |event: &str| event == ":" || event.starts_with("event: message\ndata: {");
    assert!(rest.split_terminator("\n\n").all(is_whole), "{rest}");
}

/// The status is long sent: a transfer without its end is what tells a client that it has half a document.
#[test]
fn an_export_that_fails_midway_ends_without_an_end() {
    let worker = steered();
    let id = write(&worker);
    let body = json!({ "sequenceId": id, "format": "markdown" }).to_string();
    let request = Request::post("/export", body);
    steer(&worker, "hold 1");
    let mut stream = open(&worker, &request);
    assert_eq!(stream.head.status, 200);
    let Chunk::Data(first) = stream.next_chunk() else {
        panic!("nothing came of the first page");
    };
    assert!(first.starts_with(b"# step 1"));
    wait_for(&worker, "waiting", 1);
    steer(&worker, "fail");
    assert_eq!(stream.next_chunk(), Chunk::Broken);
    // And it is not the Worker that broke.
    steer(&worker, "release");
    let bearer = format!("Bearer {TOKEN}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let whole = worker
        .client()
        .send("POST", "/export", &headers, &request.body);
    assert_eq!(whole.text().matches("\n### ").count(), 100);
}

/// What it reads from ended with the instance that made it; the one after that has nothing to do with it.
#[test]
fn a_stream_that_outlives_its_instance_ends_alone() {
    let worker = steered();
    let id = write(&worker);
    let body = json!({ "sequenceId": id, "format": "markdown" }).to_string();
    steer(&worker, "hold 1000");
    steer(&worker, "stop");
    let mut stream = open(&worker, &Request::post("/export", body));
    wait_for(&worker, "pulls", 1);
    steer(&worker, "trap");
    let mut tools = Tools::new(&worker);
    let mut ping = || tools.post("ping", &json!({}), &[]).status;
    assert_eq!((ping(), ping()), (500, 200));
    let instance = steer(&worker, "look")["instance"].clone();
    steer(&worker, "release");
    assert_eq!(stream.next_chunk(), Chunk::Broken);
    assert_eq!(ping(), 200);
    assert_eq!(steer(&worker, "look")["instance"], instance);
}
