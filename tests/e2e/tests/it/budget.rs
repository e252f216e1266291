//! What calls cost in rows read and written, as the platform counts and bills them. The Worker's debug log tells.
//!
//! The sequences are made natively and put in the place of the object's database: both hosts write one format.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use durable_thinking::database::sqlite::Sqlite;
use e2e::Worker;
use e2e::mcp::Tools;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::load;

const LENGTHS: [u32; 3] = [10, 1_000, 100_000];
const WIDTHS: [u32; 3] = [1, 10, 500];
const TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Spent {
    read: u64,
    written: u64,
}

/// A Worker on sequences of all lengths, with their ids.
struct Scene {
    worker: Worker,
    tools: Tools,
    ids: Vec<String>,
}

impl Scene {
    fn new() -> Self {
        let mut worker = Worker::prepare(&[("LOG_LEVEL", "debug")]);
        worker.restart();
        Tools::new(&worker).think_all(&["the object has a database"]);
        worker.kill();
        let place = database_of(worker.state());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("thoughts.db");
        let mut bench = Bench::on(Sqlite::open(&file).unwrap());
        let ids = LENGTHS.map(|length| {
            bench.sequence_id = None;
            load::lengthen(&mut bench, length);
            load::branch_out(&mut bench, 1, WIDTHS[0]);
            bench.sequence_id.clone().unwrap()
        });
        drop(bench);
        fs::copy(file, &place).unwrap();
        for more in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{more}", place.display()));
        }
        worker.restart();
        Self {
            tools: Tools::new(&worker),
            worker,
            ids: ids.to_vec(),
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> (Spent, Value) {
        let params = json!({"name": tool, "arguments": arguments});
        let reply = self.tools.post("tools/call", &params, &[]);
        let id = reply.header("x-request-id").unwrap();
        let start = format!(r#"{{"kind":"cost","requestId":"{id}""#);
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < TIMEOUT, "no cost was logged");
            // The newest lines are the ones that matter.
            if let Some(line) = self.worker.log().iter().rfind(|line| line.contains(&start)) {
                let json = &line[line.find(&start).unwrap()..];
                let cost: Value = serde_json::from_str(json).unwrap();
                let spent = Spent {
                    read: cost["rowsRead"].as_u64().unwrap(),
                    written: cost["rowsWritten"].as_u64().unwrap(),
                };
                return (spent, reply.json()["result"].take());
            }
            std::thread::yield_now();
        }
    }

    /// Begins a branch with a revision, which is the most that one append can write.
    fn fork(&mut self, sequence: usize, branch: u32) -> Spent {
        let number = branch % 10 + 1;
        let more = json!({
            "branchId": branch.to_string(),
            "branchFromThought": number,
            "isRevision": true,
            "revisesThought": number,
        });
        let (spent, result) = self.think(sequence, number + 1, &more);
        assert_eq!(result["isError"], Value::Null, "{result}");
        spent
    }

    fn think(&mut self, sequence: usize, number: u32, more: &Value) -> (Spent, Value) {
        let mut arguments = json!({
            "sequenceId": self.ids[sequence],
            "thought": "a thought of the test",
            "thoughtNumber": number,
            "totalThoughts": 100_100,
            "nextThoughtNeeded": true,
        });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().cloned().unwrap());
        self.call("sequentialthinking", &arguments)
    }
}

/// The file of the object that holds thoughts.
fn database_of(folder: &Path) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "sqlite") {
                found.push(path);
            }
        }
    }
    found.retain(|path| {
        path.to_string_lossy().contains("ThoughtStore") && !path.ends_with("metadata.sqlite")
    });
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

type Table = BTreeMap<(String, u32, u32), Spent>;

fn pages() -> Vec<(&'static str, u64, Value)> {
    vec![
        ("page of 50", 50, json!({})),
        ("page of 1", 1, json!({"limit": 1})),
        (
            "page of 100, newest first",
            100,
            json!({"limit": 100, "order": "desc"}),
        ),
        (
            "active, page of 100",
            100,
            json!({"limit": 100, "view": "active"}),
        ),
        (
            "main, page of 100",
            100,
            json!({"limit": 100, "branchId": "main"}),
        ),
        (
            "path, page of 100",
            100,
            json!({"limit": 100, "view": "branch_path"}),
        ),
        ("brief", 388, json!({"view": "brief"})),
    ]
}

fn read(scene: &mut Scene, sequence: usize, width: u32, state: &str, table: &mut Table) {
    for (name, limit, query) in pages() {
        let mut query = query.clone();
        query["sequenceId"] = json!(scene.ids[sequence]);
        let (spent, result) = scene.call("get_thought_history", &query);
        assert_eq!(result["isError"], Value::Null, "{result}");
        assert_eq!(spent.written, 0, "{name} wrote");
        let cursor = result["structuredContent"]["nextCursor"].clone();
        // Of each branch its row and its newest thought; after a rewind, whether what it begins at is active.
        let list = match (name, state) {
            ("brief", _) => 0,
            (_, "") => 2 * u64::from(width),
            _ => 3 * u64::from(width) + 30,
        };
        assert!(
            spent.read <= limit + 12 + list,
            "{name}{state} at {width}: {spent:?}"
        );
        let length = LENGTHS[sequence];
        table.insert((format!("{name}{state}"), length, width), spent);
        if cursor.is_string() && limit < 100 {
            query["cursor"] = cursor;
            let (spent, _) = scene.call("get_thought_history", &query);
            // The branches of its thoughts, at most one each: their names and, after a rewind, their newest thoughts.
            let branches = if state.is_empty() { limit } else { 2 * limit };
            assert!(
                spent.read <= limit + 12 + branches,
                "{name}, second: {spent:?}"
            );
            assert_eq!(spent.written, 0);
            table.insert((format!("{name}, second{state}"), length, width), spent);
        }
    }
}

/// Each append with the most rows that it may write.
fn write(scene: &mut Scene, sequence: usize, width: u32, table: &mut Table) {
    let length = LENGTHS[sequence];
    let last = length + 10 * width;
    let revises = |number: u32| json!({"isRevision": true, "revisesThought": number});
    let rewinds =
        |number: u32| json!({"isRevision": true, "revisesThought": number, "rewind": true});
    let calls = [
        ("append to main", 4, last + 1, json!({})),
        ("the same again", 0, last + 1, json!({})),
        ("append to a branch", 4, last, json!({"branchId": "1"})),
        ("a number met before", 4, 3, json!({})),
        ("revision", 6, last + 2, revises(3)),
        ("summary", 5, last + 3, json!({"summarizesThrough": 5})),
        ("summary that rewinds", 7, last + 1, {
            let mut both = rewinds(last + 1);
            both["summarizesThrough"] = json!(5);
            both
        }),
        ("refused revision", 0, last + 2, revises(999_999)),
    ];
    for (name, written, number, more) in calls {
        let (spent, result) = scene.think(sequence, number, &more);
        assert!(spent.written <= written, "{name}: {spent:?} {result}");
        assert!(spent.read <= 40, "{name}: {spent:?}");
        table.insert((name.to_owned(), length, width), spent);
    }
}

#[test]
fn acceptance_06_and_07_costs_do_not_grow_with_a_sequence() {
    let mut scene = Scene::new();
    let mut table = Table::new();
    for (sequence, length) in LENGTHS.into_iter().enumerate() {
        let mut from = WIDTHS[0] + 1;
        for width in WIDTHS {
            for branch in from..=width {
                let spent = scene.fork(sequence, branch);
                assert!(spent.written <= 8 && spent.read <= 40, "{spent:?}");
                let name = "a new branch that revises".to_owned();
                table.insert((name, length, width), spent);
            }
            from = from.max(width + 1);
            read(&mut scene, sequence, width, "", &mut table);
        }
        write(&mut scene, sequence, WIDTHS[2], &mut table);
        read(
            &mut scene,
            sequence,
            WIDTHS[2],
            ", after a rewind",
            &mut table,
        );
    }
    let first = json!({"thought": "first", "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": true});
    let (spent, result) = scene.call("sequentialthinking", &first);
    assert!(spent.written <= 4, "{spent:?}");
    table.insert(("a first thought".to_owned(), 0, 0), spent);
    let mut second = first.clone();
    second["sequenceId"] = result["structuredContent"]["sequenceId"].clone();
    for number in 2..=20 {
        second["thoughtNumber"] = json!(number);
        let (spent, _) = scene.call("sequentialthinking", &second);
        // The object remembers the sequence; what is read is the row that is written.
        assert!(spent.written == 1 && spent.read <= 1, "{spent:?}");
        table.insert(("an append to the trunk".to_owned(), number, 0), spent);
    }
    println!("| call | thoughts | branches | rows read | rows written |");
    for ((name, length, width), spent) in &table {
        println!(
            "| {name} | {length} | {width} | {} | {} |",
            spent.read, spent.written
        );
        let short = table.get(&(name.clone(), LENGTHS[1], *width));
        if let (Some(short), true) = (short, *length == LENGTHS[2]) {
            // A row beyond the end of a range is met, and counted, where another sequence follows.
            assert!(spent.read <= short.read, "{name}: {spent:?}, {short:?}");
            assert_eq!(spent.written, short.written, "{name}");
        }
    }
}
