//! `cargo xtask bench`: what each kind of call costs on bare workerd, beside the least that the platform allows.
//!
//! Every row is measured for each server in turn, so that what else the machine does disturbs all of them alike; for the
//! ratios that have a target, all calls take turns.
//! The CPU of a call is that of the server's process; it is the figure that survives a busy machine.

// A measurement that cannot be made ends the program, and its clock is the machine's.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]
#![allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::disallowed_methods
)]
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use e2e::client::Client;
use e2e::mcp::Tools;
use e2e::sign_in::Person;
use e2e::torture::dice::Dice;
use e2e::{TOKEN, Worker};
use serde_json::{Value, json};

const SAMPLES: usize = 200;
const LANES: u64 = 8;
const STARTS: u32 = 10;
/// For the ratios, each call is made so often before it is the next one's turn, and so many times over. The first calls of a
/// turn are not counted: they find the processor's caches full of another server.
const TURN: usize = 25;
const TURN_UNCOUNTED: usize = 10;
const TURNS: usize = 400;
/// The runtime compiles what is called often once more, while it is.
const TURNS_TO_WARM_UP: usize = 20;
const LOAD: Duration = Duration::from_secs(3);
/// The short ones come again at the end: what differs then is the machine, not the length.
const LENGTHS: [u64; 4] = [10, 1_000, 10_000, 10];
/// Sequences that share the appends to short ones.
const SHORT_ONES: usize = 40;
const THOUGHTS_TOTAL: u64 = 1_000_000;
const THOUGHT: &str = "The rounding happens twice: once in each line and once in the total. Round only at the end and compare.";
/// Linux counts a process's time in hundredths of a second.
const TICK_MICROSECONDS: f64 = 10_000.0;

/// A server of the same tools.
struct Target {
    name: String,
    address: SocketAddr,
    token: String,
    process: Option<u32>,
}

impl Target {
    fn tools(&self) -> Tools {
        Tools::at(self.address).with_token(&self.token)
    }

    /// Time of the server's process so far, if it is known and the system tells.
    fn cpu_microseconds(&self) -> Option<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process?)).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
        let user: f64 = fields.next()?.parse().ok()?;
        let system: f64 = fields.next()?.parse().ok()?;
        Some((user + system) * TICK_MICROSECONDS)
    }
}

/// One kind of call, ready to be made again and again by one client. It says how long the server took: what the client does
/// before and after is not the server's.
type Call = Box<dyn FnMut() -> Duration>;
type Prepare<'a> = Box<dyn Fn(&Target) -> Call + Sync + 'a>;

fn main() {
    let worker = Worker::start_with(&[("LOG_LEVEL", "off")]);
    let mut bare = Worker::prepare(&[]);
    bare.set_module("src/entry.mjs", "bare.mjs");
    bare.restart();
    let own = Target {
        name: "this Worker".to_owned(),
        address: ([127, 0, 0, 1], worker.port()).into(),
        token: TOKEN.to_owned(),
        process: Some(worker.id()),
    };
    let floor = Target {
        name: "bare insert".to_owned(),
        address: ([127, 0, 0, 1], bare.port()).into(),
        token: String::new(),
        process: Some(bare.id()),
    };
    if std::env::args().nth(1).is_some_and(|only| only == "ratios") {
        return ratios(&own, &floor);
    }
    start_up();
    let mut targets = vec![own];
    targets.extend(other());

    println!(
        "{:<22} {:<14} {:>8} {:>8} {:>8} {:>8} {:>9}",
        "call", "server", "p50 ms", "p95 ms", "p99 ms", "req/s", "CPU ms"
    );
    row("one row", &floor, &(Box::new(bare_insert) as Prepare<'_>));
    row("health", &floor, &(Box::new(health) as Prepare<'_>));
    let cases: [(&str, Prepare<'_>); 3] = [
        ("health", Box::new(health)),
        ("tools/list", Box::new(list)),
        ("first thought", Box::new(first)),
    ];
    for (name, prepare) in &cases {
        for target in &targets {
            row(name, target, prepare);
        }
    }
    for length in LENGTHS {
        for target in &targets {
            let grown = Grown::new(target, length);
            let prepare: Prepare<'_> = Box::new(|target| append(target, &grown));
            let sequence = &grown.sequences[0].id;
            row(&format!("append at {length}"), target, &prepare);
            for (view, arguments) in [
                ("first page", json!({ "sequenceId": sequence })),
                (
                    "last page",
                    json!({ "sequenceId": sequence, "order": "desc" }),
                ),
                ("brief", json!({ "sequenceId": sequence, "view": "brief" })),
            ] {
                let read: Prepare<'_> = Box::new(move |target| read(target, arguments.clone()));
                row(&format!("{view} at {length}"), target, &read);
            }
        }
    }
    for target in &targets {
        let grown = Grown::new(target, LENGTHS[0]);
        for sequence in grown.sequences.iter() {
            sequence.fork(target);
        }
        let prepare: Prepare<'_> = Box::new(|target| append(target, &grown));
        row("append beside a branch", target, &prepare);
    }
    ratios(&targets[0], &floor);
    checks();
    rows_of_an_append();
}

/// How the medians of calls that take turns compare, and what that must not exceed. Calls are compared within a turn of all,
/// since the machine's speed is not the same a second later; of these ratios the median counts. Each turn has an order of its
/// own: who always came after the same call would find the processor's caches as that one leaves them.
fn ratios(own: &Target, floor: &Target) {
    let mut calls = [
        bare_insert(floor),
        append_to_short_ones(own),
        append(own, &Grown::new(own, 10_000)),
        health(own),
        list(own),
        health(floor),
        list(floor),
    ];
    let mut order: Vec<_> = (0..calls.len()).collect();
    let mut dice = Dice::new(1);
    let mut turn = || {
        dice.shuffle(&mut order);
        let mut medians = calls.each_ref().map(|_| 0.0);
        for &place in &order {
            let times: Vec<_> = (0..TURN_UNCOUNTED + TURN).map(|_| calls[place]()).collect();
            medians[place] = at(&sorted(times.into_iter().skip(TURN_UNCOUNTED)), 0.5);
        }
        medians
    };
    for _ in 0..TURNS_TO_WARM_UP {
        turn();
    }
    let turns: Vec<_> = (0..TURNS).map(|_| turn()).collect();
    println!(
        "\n{:<34} {:>8} {:>8} {:>8} {:>8}",
        "ratio of medians", "quarter", "half", "3/4", "at most"
    );
    // By the places of two calls above.
    for (name, one, other, most) in [
        ("append at 10 / one row", 1, 0, "1.50"),
        ("append at 10000 / append at 10", 2, 1, "1.10"),
        ("tools/list / health", 4, 3, "1.30"),
        ("the same of a bare Worker", 6, 5, ""),
    ] {
        let mut ratios: Vec<_> = turns.iter().map(|turn| turn[one] / turn[other]).collect();
        ratios.sort_by(f64::total_cmp);
        let [low, half, high] = [0.25, 0.5, 0.75].map(|part| at(&ratios, part));
        println!("{name:<34} {low:>8.2} {half:>8.2} {high:>8.2} {most:>8}");
    }
}

/// What the runtime spends until the first answer, with this Worker and with the bare one: the difference is what reading,
/// compiling and starting the Wasm costs.
fn start_up() {
    for (name, is_bare) in [("bare insert", true), ("this Worker", false)] {
        let mut spent = 0.0;
        for _ in 0..STARTS {
            let mut worker = Worker::prepare(&[("LOG_LEVEL", "off")]);
            if is_bare {
                worker.set_module("src/entry.mjs", "bare.mjs");
            }
            worker.restart();
            let started = Target {
                name: name.to_owned(),
                address: ([127, 0, 0, 1], worker.port()).into(),
                token: String::new(),
                process: Some(worker.id()),
            };
            health(&started)();
            spent += started.cpu_microseconds().unwrap_or(f64::NAN);
        }
        let spent = spent / 1000.0 / f64::from(STARTS);
        println!("start to first answer  {name:<14} {spent:>8.1} ms of CPU");
    }
    println!();
}

/// `cargo xtask bench 127.0.0.1:PORT` measures a second server with the token in `BENCH_TOKEN`, and with the CPU of the
/// process in `BENCH_PID`.
fn other() -> Option<Target> {
    let address: SocketAddr = std::env::args()
        .nth(1)?
        .parse()
        .expect("an address such as 127.0.0.1:8788");
    assert!(
        address.ip().is_loopback(),
        "only servers on this machine are measured"
    );
    Some(Target {
        name: address.to_string(),
        address,
        token: std::env::var("BENCH_TOKEN").expect("BENCH_TOKEN"),
        process: std::env::var("BENCH_PID")
            .ok()
            .and_then(|id| id.parse().ok()),
    })
}

fn row(name: &str, target: &Target, prepare: &Prepare<'_>) {
    let mut call = prepare(target);
    for _ in 0..SAMPLES / 10 {
        call();
    }
    let cpu = target.cpu_microseconds();
    let times = sorted((0..SAMPLES).map(|_| call()));
    let count = AtomicU64::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                let mut call = prepare(target);
                while start.elapsed() < LOAD {
                    call();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let count = count.into_inner() as f64;
    let cpu = target
        .cpu_microseconds()
        .zip(cpu)
        .map_or("–".to_owned(), |(after, before)| {
            format!(
                "{:.2}",
                (after - before) / 1000.0 / (count + SAMPLES as f64)
            )
        });
    println!(
        "{name:<22} {:<14} {:>8.2} {:>8.2} {:>8.2} {:>8.0} {cpu:>9}",
        target.name,
        at(&times, 0.5),
        at(&times, 0.95),
        at(&times, 0.99),
        count / start.elapsed().as_secs_f64()
    );
}

/// In milliseconds, the shortest first.
fn sorted(times: impl Iterator<Item = Duration>) -> Vec<f64> {
    let mut times: Vec<_> = times.map(|time| time.as_secs_f64() * 1000.0).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn at(times: &[f64], part: f64) -> f64 {
    times[((times.len() - 1) as f64 * part) as usize]
}

fn bare_insert(target: &Target) -> Call {
    let mut client = Client::new(target.address);
    Box::new(move || {
        let start = Instant::now();
        let reply = client.send("POST", "/", &[], THOUGHT.as_bytes());
        let waited = start.elapsed();
        assert_eq!(reply.status, 200);
        waited
    })
}

fn health(target: &Target) -> Call {
    let mut client = Client::new(target.address);
    Box::new(move || {
        let start = Instant::now();
        let reply = client.send("GET", "/healthz", &[], b"");
        let waited = start.elapsed();
        assert_eq!(reply.status, 200);
        waited
    })
}

fn list(target: &Target) -> Call {
    let mut tools = target.tools();
    Box::new(move || {
        assert_eq!(tools.post("tools/list", &json!({}), &[]).status, 200);
        tools.waited
    })
}

fn first(target: &Target) -> Call {
    let mut tools = target.tools();
    Box::new(move || {
        tools.think(None, 1, 5, THOUGHT);
        tools.waited
    })
}

/// Appends to the sequences in turn, each thought numbered after the one before it.
fn append(target: &Target, grown: &Grown) -> Call {
    let mut tools = target.tools();
    let grown = grown.clone();
    Box::new(move || {
        let turn = grown.turn.fetch_add(1, Ordering::Relaxed) as usize;
        let sequence = &grown.sequences[turn % grown.sequences.len()];
        let number = sequence.length.fetch_add(1, Ordering::Relaxed) + 1;
        tools.think(Some(&sequence.id), number, THOUGHTS_TOTAL, THOUGHT);
        tools.waited
    })
}

/// Appends to one sequence at a time, as a client does that thinks, and begins another one in each turn.
fn append_to_short_ones(target: &Target) -> Call {
    let mut tools = target.tools();
    let mut sequence = String::new();
    let mut number = 0;
    Box::new(move || {
        if (number as usize).is_multiple_of(TURN_UNCOUNTED + TURN) {
            number = 0;
            sequence.clear();
        }
        number += 1;
        let id = (number > 1).then_some(sequence.as_str());
        let stored = tools.think(id, number, THOUGHTS_TOTAL, THOUGHT);
        if number == 1 {
            stored["sequenceId"]
                .as_str()
                .unwrap()
                .clone_into(&mut sequence);
        }
        tools.waited
    })
}

fn read(target: &Target, arguments: Value) -> Call {
    let mut tools = target.tools();
    Box::new(move || {
        tools.succeed("get_thought_history", &arguments);
        tools.waited
    })
}

/// Sequences that have grown to a length, shared by all clients that append to them.
#[derive(Clone)]
struct Grown {
    sequences: Arc<Vec<Sequence>>,
    turn: Arc<AtomicU64>,
}

struct Sequence {
    id: String,
    length: AtomicU64,
}

impl Grown {
    fn new(target: &Target, length: u64) -> Self {
        // Several short ones, so that none of them is long before the measurement ends.
        let count = if length < 100 { SHORT_ONES } else { 1 };
        Self {
            sequences: Arc::new((0..count).map(|_| Sequence::new(target, length)).collect()),
            turn: Arc::default(),
        }
    }
}

impl Sequence {
    fn new(target: &Target, length: u64) -> Self {
        let mut tools = target.tools();
        let id = tools.think(None, 1, length, THOUGHT)["sequenceId"]
            .as_str()
            .unwrap()
            .to_owned();
        for number in 2..=length {
            tools.think(Some(&id), number, length + 1, THOUGHT);
        }
        Self {
            id,
            length: length.into(),
        }
    }

    /// Begins a branch. What is appended after it goes on on `main`.
    fn fork(&self, target: &Target) {
        let arguments = json!({
            "sequenceId": self.id, "thought": THOUGHT, "nextThoughtNeeded": true,
            "thoughtNumber": 3, "totalThoughts": 9, "branchId": "other", "branchFromThought": 2,
        });
        target.tools().succeed("sequentialthinking", &arguments);
    }
}

/// What it costs to know who asks: a call that does nothing else, by where the answer is found. One client, one call after
/// another, with the server's clock moved on so that the isolate has forgotten the token by the next one.
fn checks() {
    const FORGOTTEN_MILLISECONDS: u64 = 31_000;
    let mut person = Person::new();
    let mut worker = person.prepare(&[("LOG_LEVEL", "off")]);
    worker.wrap_glue("vault.mjs");
    worker.set_module("build/shifted.mjs", "shifted.mjs");
    worker.restart();
    let token = person.sign_in(&worker).access;
    println!(
        "\n{:<22} {:>8} {:>8} {:>8}",
        "who asks is known by", "p50 ms", "p95 ms", "p99 ms"
    );
    let mut clock = 0;
    for (name, token, step, miss) in [
        ("the static token", TOKEN, 0, None),
        ("memory", &token, 0, None),
        ("the cache", &token, FORGOTTEN_MILLISECONDS, None),
        ("the vault", &token, FORGOTTEN_MILLISECONDS, Some("yes")),
    ] {
        let mut tools = Tools::new(&worker).with_token(token);
        let times = sorted((0..SAMPLES).map(|_| {
            clock += step;
            let clock = clock.to_string();
            let mut headers = vec![("x-shift-milliseconds", clock.as_str())];
            headers.extend(miss.map(|value| ("x-cache-misses", value)));
            let reply = tools.post("ping", &json!({}), &headers);
            assert_eq!(reply.status, 200, "{name}: {}", reply.text());
            tools.waited
        }));
        println!(
            "{name:<22} {:>8.2} {:>8.2} {:>8.2}",
            at(&times, 0.5),
            at(&times, 0.95),
            at(&times, 0.99)
        );
    }
}

/// What the platform bills for an append, as the object itself counts it.
fn rows_of_an_append() {
    let worker = Worker::start_with(&[("LOG_LEVEL", "debug")]);
    let mut tools = Tools::new(&worker);
    let texts: Vec<_> = (1..=12)
        .map(|number| format!("{THOUGHT} {number}"))
        .collect();
    let sequence = tools.think_all(&texts);
    tools.read_texts(&sequence, 50);
    println!("\nrows of 12 appends and one page of history");
    for line in worker.log() {
        let Ok(line) = serde_json::from_str::<Value>(&line) else {
            continue;
        };
        if line["kind"] == "cost" {
            println!(
                "{:<8} read {:>3}, written {:>3}",
                line["call"].as_str().unwrap(),
                line["rowsRead"],
                line["rowsWritten"]
            );
        }
    }
}
