//! Many clients, many sequences, threads and processes on one file: nothing crosses and nothing is lost.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Barrier;

use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Column, Database, Value as Stored};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::process::Process;
use crate::vectors::modern;

const CLIENTS: u8 = 6;
const THOUGHTS: u32 = 12;

fn client(path: &Path, lane: u8) -> Bench {
    let mut bench = Bench::on(Sqlite::open(path).unwrap());
    bench.lane = lane;
    bench
}

/// Acceptance 22, concurrent appends: a new file, opened by all at once, written by all at once.
#[test]
fn acceptance_22_concurrent_appends_are_ordered_and_none_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thoughts.db");
    let barrier = Barrier::new(CLIENTS.into());
    let run = |lane: u8| {
        barrier.wait();
        let mut bench = client(&path, lane);
        let mut own = Vec::new();
        for number in 1..=THOUGHTS {
            let text = format!("client {lane} says {number}");
            own.push(
                bench
                    .think(number, &json!({"thought": text}))
                    .unwrap()
                    .ordinal,
            );
        }
        assert_eq!(own, (1..=THOUGHTS).collect::<Vec<_>>());
        bench.sequence_id.unwrap()
    };
    let ids: Vec<String> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|lane| scope.spawn(move || run(lane)))
            .collect();
        clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .collect()
    });
    assert_eq!(
        ids.iter().collect::<BTreeSet<_>>().len(),
        usize::from(CLIENTS)
    );
    for (lane, id) in ids.iter().enumerate() {
        let page = client(&path, 50).page(&json!({"sequenceId": id})).unwrap();
        let texts: Vec<_> = page
            .thoughts
            .iter()
            .map(|thought| thought.text.clone())
            .collect();
        let expected: Vec<_> = (1..=THOUGHTS)
            .map(|number| format!("client {lane} says {number}"))
            .collect();
        assert_eq!(texts, expected);
    }
}

#[test]
fn one_sequence_written_by_many_is_one_sequence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thoughts.db");
    let mut first = client(&path, 99);
    first.think(1, &json!({})).unwrap();
    let id = first.sequence_id.clone().unwrap();
    let run = |lane: u8| {
        let mut bench = client(&path, lane);
        bench.sequence_id = Some(id.clone());
        let append = |number| {
            // Half of them write to main, half to a branch that whoever comes first begins.
            let mut more = json!({"thought": format!("{lane} {number}")});
            if lane.is_multiple_of(2) {
                more["branchId"] = json!("shared");
                more["branchFromThought"] = json!(1);
            }
            bench.think(number, &more).unwrap().ordinal
        };
        (2..THOUGHTS + 2).map(append).collect::<Vec<_>>()
    };
    let mut ordinals: Vec<u32> = std::thread::scope(|scope| {
        let run = &run;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|lane| scope.spawn(move || run(lane)))
            .collect();
        clients
            .into_iter()
            .flat_map(|client| {
                let own = client.join().unwrap();
                assert!(own.is_sorted(), "a client's thoughts changed their order");
                own
            })
            .collect()
    });
    ordinals.sort_unstable();
    let count = u32::from(CLIENTS) * THOUGHTS;
    assert_eq!(ordinals, (2..=count + 1).collect::<Vec<_>>());
    assert_eq!(
        first.ordinals(&json!({"limit": 7})),
        (1..=count + 1).collect::<Vec<_>>()
    );
    let branches = first.page(&json!({})).unwrap().sequence.branches.unwrap();
    assert_eq!(branches.len(), 1);
}

#[test]
fn two_processes_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thoughts.db");
    let mut processes = [Process::start(&path), Process::start(&path)];
    let think = |id: usize, thought: &str, sequence: &Value| {
        let arguments = json!({"sequenceId": sequence, "thought": thought, "thoughtNumber": id + 1, "totalThoughts": 99, "nextThoughtNeeded": true});
        modern(
            id,
            "tools/call",
            json!({"name": "sequentialthinking", "arguments": arguments}),
        )
        .to_string()
            + "\n"
    };
    processes[0].write(&think(0, "begin", &Value::Null));
    let begun = processes[0].read().unwrap();
    let id = begun["result"]["structuredContent"]["sequenceId"].clone();
    // All lines of both are under way before any answer is read.
    for (at, process) in processes.iter_mut().enumerate() {
        for number in 1..=20 {
            process.write(&think(number, &format!("process {at} says {number}"), &id));
        }
    }
    let mut stored = BTreeSet::new();
    for process in &mut processes {
        for _ in 1..=20 {
            let answer = process.read().unwrap();
            let count = &answer["result"]["structuredContent"]["thoughtHistoryLength"];
            assert!(stored.insert(count.as_u64().unwrap()), "{answer}");
        }
    }
    assert_eq!(stored, (2..=41).collect());
    let read = modern(
        99,
        "tools/call",
        json!({"name": "get_thought_history", "arguments": {"sequenceId": id, "limit": 100}}),
    );
    for mut process in processes {
        process.write(&format!("{read}\n"));
        let answer = process.read().unwrap();
        assert_eq!(
            answer["result"]["structuredContent"]["thoughts"]
                .as_array()
                .unwrap()
                .len(),
            41
        );
        process.stop();
    }
}

/// Two sequences that say the same have nothing in common in the file but numbers and flags.
#[test]
fn what_is_stored_tells_nothing_of_other_sequences() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thoughts.db");
    let mut bench = client(&path, 1);
    let mut ids = Vec::new();
    for _ in 0..2 {
        bench
            .think(1, &json!({"thought": "a secret both share"}))
            .unwrap();
        let fork = json!({"thought": "a secret both share", "branchId": "secret branch", "branchFromThought": 1});
        bench.think(2, &fork).unwrap();
        ids.extend(bench.sequence_id.take());
    }
    let columns = [
        ("thought", "text"),
        ("thought", "repeat_match"),
        ("thought", "call_id"),
        ("branch", "name"),
        ("branch", "name_match"),
        ("sequence", "title"),
        ("sequence", "lookup"),
    ];
    for (table, column) in columns {
        let count = format!("select count(*), count(distinct {column}) from {table}");
        let mut rows = bench.store.database().query(&count, &[]).unwrap();
        let (all, distinct) = (
            rows[0].integer(Column("count", "all")).unwrap(),
            rows[0].integer(Column("count", "distinct")).unwrap(),
        );
        assert_eq!(all, distinct, "{table}.{column}");
    }
    bench
        .store
        .database()
        .query("pragma wal_checkpoint(truncate)", &[] as &[Stored])
        .unwrap();
    drop(bench);
    let bytes = std::fs::read(&path).unwrap();
    let secrets = [
        "a secret",
        "secret branch",
        "seq_",
        &ids[0][4..],
        &ids[1][4..],
    ];
    for secret in secrets {
        assert!(
            !bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes()),
            "{secret}"
        );
    }
    for id in &ids {
        let raw = durable_thinking::sequence_id::SequenceId::parse(id).unwrap();
        assert!(!bytes.windows(16).any(|window| window == raw.bytes()));
    }
}
