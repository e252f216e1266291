//! `cargo xtask soak [CALLS]`: makes calls of every kind, leaves in the middle of some, and watches Wasm's memory.

// It runs on a developer's machine, prints what it saw, and ends at what must not be.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout)]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(clippy::disallowed_methods)]

use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use e2e::client::connect;
use e2e::mcp::Tools;
use e2e::torture::dice::Dice;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

const CALLS: u64 = 100_000;
const LANES: u64 = 4;
/// How often the memory is looked at.
const LOOKS: u64 = 50;
const BYTES_MAX: u64 = 32 * 1024 * 1024;
/// After so many calls a client begins another sequence.
const CALLS_OF_A_SEQUENCE: u64 = 200;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let calls = arguments
        .next()
        .map_or(CALLS, |text| text.parse().expect("CALLS must be a number"));
    let worker = Worker::start_breakable(&[("LOG_LEVEL", "error")]);
    let memory = || worker.probe()["memoryBytes"].as_u64().unwrap();
    let (first, mut most, start) = (memory(), memory(), Instant::now());
    let made = AtomicU64::new(0);
    let address = ([127, 0, 0, 1], worker.port()).into();
    thread::scope(|scope| {
        for lane in 0..LANES {
            let made = &made;
            scope.spawn(move || {
                let mut client = Client::new(address, lane);
                while made.fetch_add(1, Ordering::Relaxed) < calls {
                    client.call();
                }
            });
        }
        let step = (calls / LOOKS).max(1);
        let mut next = step;
        while made.load(Ordering::Relaxed) < calls {
            thread::sleep(std::time::Duration::from_millis(50));
            let count = made.load(Ordering::Relaxed).min(calls);
            if count >= next {
                let bytes = memory();
                most = most.max(bytes);
                println!("{count:>8} calls  {:>6.2} MiB", mebibytes(bytes));
                next = count + step;
            }
        }
    });
    let last = memory();
    most = most.max(last);
    println!(
        "{calls} calls in {} s: {:.2} MiB at the start, {:.2} at the end, {:.2} at most",
        start.elapsed().as_secs(),
        mebibytes(first),
        mebibytes(last),
        mebibytes(most)
    );
    // A client that leaves is nobody's fault.
    let said = worker.log();
    let said: Vec<_> = said
        .iter()
        .filter(|line| !line.starts_with("mark "))
        .collect();
    assert!(said.is_empty(), "{said:#?}");
    assert!(most < BYTES_MAX, "more than 32 MiB");
}

#[allow(clippy::cast_precision_loss)] // for people
fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

/// One client with all that clients do.
struct Client {
    address: SocketAddr,
    tools: Tools,
    dice: Dice,
    sequence: Option<String>,
    number: u64,
}

impl Client {
    fn new(address: SocketAddr, lane: u64) -> Self {
        Self {
            address,
            tools: Tools::at(address),
            dice: Dice::new(lane),
            sequence: None,
            number: 0,
        }
    }

    fn call(&mut self) {
        let Some(sequence) = self.sequence.clone() else {
            let stored = self.tools.think(None, 1, 1_000_000, "The first of many");
            self.sequence = stored["sequenceId"].as_str().map(str::to_owned);
            self.number = 1;
            return;
        };
        let of = |more: Value| {
            let mut arguments = json!({ "sequenceId": sequence });
            arguments
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().cloned().unwrap());
            arguments
        };
        match self.dice.below(100) {
            0..50 => self.append(&sequence),
            50..60 => drop(self.tools.succeed(
                "get_thought_history",
                &of(json!({ "limit": 20, "order": "desc" })),
            )),
            60..65 => drop(
                self.tools
                    .succeed("get_thought_history", &of(json!({ "view": "brief" }))),
            ),
            65..72 => drop(
                self.tools
                    .refused("get_thought_history", &of(json!({ "cursor": "none" }))),
            ),
            72..80 => drop(self.tools.post("tools/list", &json!({}), &[])),
            80..84 => drop(self.tools.post(
                "resources/read",
                &json!({ "uri": "ui://sequential-thinking/process.html" }),
                &[],
            )),
            84..88 => assert_eq!(
                Tools::at(self.address)
                    .with_token("none")
                    .post("ping", &json!({}), &[])
                    .status,
                401
            ),
            88..91 => self.post(
                "/export",
                &json!({ "sequenceId": sequence, "format": "markdown" }),
            ),
            91..93 => self.post("/mcp-compat", &json!({ "too": "long ".repeat(60_000) })),
            93..96 => self.leave_in_the_body(),
            96..98 => self.leave_in_the_call(&sequence),
            98 => self.leave_in_the_stream(&sequence),
            _ => drop(self.tools.post("resources/list", &json!({}), &[])),
        }
        if self.number >= CALLS_OF_A_SEQUENCE {
            self.tools
                .succeed("delete_thought_sequence", &of(json!({ "confirm": true })));
            self.sequence = None;
        }
    }

    fn append(&mut self, sequence: &str) {
        self.number += 1;
        let length = usize::try_from(self.dice.below(8_000)).unwrap();
        let text = format!("{} {}", self.number, "思考 ".repeat(length / 7));
        self.tools
            .think(Some(sequence), self.number, 1_000_000, &text);
    }

    fn post(&self, path: &str, body: &Value) {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
        ];
        let body = body.to_string();
        let mut client = e2e::client::Client::new(self.address);
        let reply = client.send("POST", path, &headers, body.as_bytes());
        assert!(matches!(reply.status, 200 | 413), "{}", reply.text());
    }

    /// Sends a request's beginning and hangs up, with an earlier answer unread, so that the server sees it at once.
    fn send(&self, more: &str, body: &str, length: usize) {
        let address = self.address;
        let mut connection = connect(address).unwrap();
        let first = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\n\r\n");
        connection.get_mut().write_all(first.as_bytes()).unwrap();
        assert_eq!(connection.get_ref().peek(&mut [0]).unwrap(), 1);
        write!(
            connection.get_mut(),
            "POST /mcp-compat HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {TOKEN}\r\n\
             content-type: application/json\r\n{more}content-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        // Long enough for the server to be at it.
        thread::sleep(std::time::Duration::from_millis(self.number % 4));
    }

    fn leave_in_the_body(&self) {
        let body = "x".repeat(100_000);
        self.send("", &body, body.len() * 2);
    }

    fn leave_in_the_call(&mut self, sequence: &str) {
        self.number += 1;
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "sequentialthinking", "arguments": {
                "thought": "left behind ".repeat(1_000), "thoughtNumber": self.number, "totalThoughts": 1_000_000,
                "nextThoughtNeeded": true, "sequenceId": sequence,
            },
        } });
        let body = body.to_string();
        self.send("", &body, body.len());
    }

    fn leave_in_the_stream(&self, sequence: &str) {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "_meta": { "progressToken": 1 },
            "name": "get_thought_history", "arguments": { "sequenceId": sequence, "limit": 100, "maxCharacters": 250_000 },
        } });
        let body = body.to_string();
        self.send("accept: text/event-stream\r\n", &body, body.len());
    }
}
