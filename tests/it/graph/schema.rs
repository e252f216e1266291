//! Databases of every schema that was ever written, and those that this program must leave alone.
//!
//! `tests/fixtures/schema_v1.sql` holds one of each stored format, `schema_v1.json` how it reads. Neither is ever written over:
//! a new format gets files of its own, made with `WRITE_FIXTURES=1`, and the old ones stay.

use std::path::{Path, PathBuf};

use durable_thinking::clock::Timestamp;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Database, DatabaseError};
use durable_thinking::fresh::Fresh;
use durable_thinking::seal::{Field, Keys};
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::LoopGuard;
use durable_thinking::store::Store;
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::graph::dump::{statements, tables};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

/// A database made of these statements, before any store has opened it.
fn database(statements: &[String]) -> Sqlite {
    let database = Sqlite::open_in_memory().unwrap();
    for statement in statements {
        database.query(statement, &[]).unwrap();
    }
    database
}

/// One sequence with every kind of thought, an imported one, and one that the loop guard ended.
fn write_everything(bench: &mut Bench) -> Vec<String> {
    let calls = [
        (
            1,
            json!({"thought": "First: 思考 🙂\r\n\u{0}\u{200b}end", "totalThoughts": 3}),
        ),
        (2, json!({"needsMoreThoughts": true})),
        (3, json!({"branchId": "方案 B", "branchFromThought": 2})),
        (4, json!({"branchId": "方案 B", "nextThoughtNeeded": false})),
        (
            5,
            json!({"branchId": "of a branch", "branchFromThought": 3, "branchFromBranchId": "方案 B", "thought": "x".repeat(2_001)}),
        ),
        (3, json!({"isRevision": true, "revisesThought": 2})),
        (4, json!({"summarizesThrough": 2})),
        (5, json!({})),
        (
            2,
            json!({"isRevision": true, "revisesThought": 2, "rewind": true}),
        ),
        (2, json!({"thought": "a number again"})),
        (3, json!({"nextThoughtNeeded": false, "totalThoughts": 40})),
        (4, json!({})),
    ];
    let mut ids = Vec::new();
    for (number, more) in calls {
        bench.think(number, &more).unwrap();
    }
    ids.extend(bench.sequence_id.take());
    bench
        .think(7, &json!({"thought": "came from elsewhere"}))
        .unwrap();
    let id = bench.sequence_id.take().unwrap();
    let origin = Keys::derive(&SequenceId::parse(&id).unwrap()).seal(
        Field::Origin,
        "another server",
        &Fresh::new(Timestamp::from_milliseconds(0), [9; 32]),
    );
    let sql =
        "update sequence set origin = ? where sequence = (select max(sequence) from sequence)";
    bench.store.database().query(sql, &[origin.into()]).unwrap();
    ids.push(id);
    bench.settings.loop_guard = LoopGuard::Enforce;
    bench.settings.loop_guard_at = 1;
    bench.think(1, &json!({})).unwrap();
    ids.extend(bench.sequence_id.take());
    ids
}

/// All that a reader can see of these sequences.
fn read_everything(bench: &mut Bench, ids: &[String]) -> Value {
    let mut all = json!({});
    for id in ids {
        // How a brief is worded is pinned elsewhere; here it must only open.
        bench
            .call(
                "get_thought_history",
                &json!({"sequenceId": id, "view": "brief"}),
            )
            .unwrap();
        for view in ["all", "active", "branch_path"] {
            let query = json!({"sequenceId": id, "view": view, "limit": 100});
            let rendered = bench.call("get_thought_history", &query).unwrap();
            all[format!("{id} {view}")] = rendered.structured.to_value();
        }
    }
    all
}

#[test]
fn acceptance_22_every_stored_format_is_read() {
    if std::env::var_os("WRITE_FIXTURES").is_some() && !fixture("schema_v1.sql").exists() {
        let mut bench = Bench::new();
        let ids = write_everything(&mut bench);
        let sql = statements(bench.store.database()).join(";\n") + ";\n";
        std::fs::write(fixture("schema_v1.sql"), sql).unwrap();
        let expected = json!({"ids": ids, "reads": read_everything(&mut bench, &ids)});
        let text = serde_json::to_string_pretty(&expected).unwrap() + "\n";
        std::fs::write(fixture("schema_v1.json"), text).unwrap();
    }
    let stored = std::fs::read_to_string(fixture("schema_v1.sql")).unwrap();
    let stored: Vec<String> = stored.split_terminator(";\n").map(str::to_owned).collect();
    let text = std::fs::read_to_string(fixture("schema_v1.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<String> = serde_json::from_value(expected["ids"].clone()).unwrap();
    let mut bench = Bench::on(database(&stored));
    // Opening changed nothing, and neither does reading.
    assert_eq!(read_everything(&mut bench, &ids), expected["reads"]);
    assert_eq!(statements(bench.store.database()), stored);
    // And it goes on where it ended.
    bench.sequence_id = Some(ids[0].clone());
    bench.calls = 1_000;
    assert_eq!(bench.think(5, &json!({})).unwrap().ordinal, 13);
}

/// The statements that make tables and indexes, without their comments.
fn shape<'a>(statements: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let is_made = |statement: &&str| statement.starts_with("CREATE");
    let bare = |statement: &str| {
        let lines = statement
            .lines()
            .map(|line| line.split("--").next().unwrap_or_default());
        let words = lines.flat_map(str::split_whitespace).collect::<Vec<_>>();
        words.join(" ")
    };
    statements.into_iter().filter(is_made).map(bare).collect()
}

#[test]
fn this_program_still_writes_the_schema_of_the_fixture() {
    let stored = std::fs::read_to_string(fixture("schema_v1.sql")).unwrap();
    let now = statements(Bench::new().store.database());
    assert_eq!(
        shape(now.iter().map(String::as_str)),
        shape(stored.split_terminator(";\n")),
        "the schema changed: raise SCHEMA_VERSION and migrate"
    );
}

#[test]
fn a_newer_schema_is_refused_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thoughts.db");
    let mut bench = Bench::on(Sqlite::open(&path).unwrap());
    bench.think(1, &json!({})).unwrap();
    bench
        .store
        .database()
        .query("update schema_version set version = 7", &[])
        .unwrap();
    drop(bench);
    let before = std::fs::read(&path).unwrap();
    let Err(error) = Store::open(Sqlite::open(&path).unwrap()) else {
        panic!("a newer schema was opened");
    };
    assert!(matches!(error, DatabaseError::Newer { found: 7, known: 1 }));
    assert_eq!(
        error.to_string(),
        "the database has schema 7; this program knows up to 1"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_schema_made_by_half_is_completed() {
    let whole = statements(Bench::new().store.database());
    for made in 0..whole.len() {
        let mut bench = Bench::on(database(&whole[..made]));
        bench.think(1, &json!({})).unwrap();
        assert_eq!(bench.ordinals(&json!({})), [1]);
        let mut now = statements(bench.store.database());
        now.retain(|statement| statement.starts_with("CREATE"));
        let mut expected = whole.clone();
        expected.retain(|statement| statement.starts_with("CREATE"));
        now.sort();
        expected.sort();
        assert_eq!(now, expected, "after {made} statements");
    }
}

#[test]
fn a_deleted_sequence_leaves_no_row_in_any_table() {
    let mut bench = Bench::new();
    bench.think(1, &json!({"thought": "the other"})).unwrap();
    let other = bench.sequence_id.take();
    let before = statements(bench.store.database());
    let ids = write_everything(&mut bench);
    assert!(statements(bench.store.database()).len() > before.len() + 15);
    for id in &ids {
        let call = json!({"sequenceId": id, "confirm": true});
        let deleted = bench.call("delete_thought_sequence", &call).unwrap();
        assert_eq!(deleted.structured.to_value()["deleted"], true);
        let again = bench.call("delete_thought_sequence", &call).unwrap();
        assert_eq!(again.structured.to_value()["deleted"], false);
    }
    assert_eq!(statements(bench.store.database()), before);
    assert_eq!(tables(bench.store.database()).len(), 4);
    // A sequence that takes the place of a deleted one in the tables meets nothing of it.
    bench.think(1, &json!({"branchId": null})).unwrap();
    bench.refused(2, &json!({"branchId": "方案 B"}), "branch_not_found");
    bench.sequence_id = other;
    assert_eq!(bench.ordinals(&json!({})), [1]);
}
