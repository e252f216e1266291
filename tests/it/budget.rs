//! What calls cost on SQLite, at every length and width of a sequence.
//!
//! Natively the measure is the instructions of SQLite's machine, beside rows scanned and sorts, which must be none: they grow
//! as soon as a statement passes over rows that it does not need. The rows that the platform bills are counted in workerd.

mod load;

use std::collections::BTreeMap;

use durable_thinking::database::Database;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::tools::{Call, Outcome};
use serde_json::{Value, json};

use crate::bench::Bench;

const LENGTHS: [u32; 3] = [10, 1_000, 100_000];
const WIDTHS: [u32; 3] = [1, 10, 500];

#[derive(Clone, Copy, Debug, PartialEq)]
struct Spent {
    statements: u64,
    steps: u64,
    returned: u64,
    changed: u64,
}

fn spend(bench: &mut Bench<Sqlite>, call: &Call) -> Spent {
    let (effort, cost) = (
        bench.store.database().effort(),
        bench.store.database().cost(),
    );
    let _ = bench.run(call);
    let (after, cost_after) = (
        bench.store.database().effort(),
        bench.store.database().cost(),
    );
    assert_eq!(after.scanned - effort.scanned, 0, "{call:?} scans");
    assert_eq!(after.sorts - effort.sorts, 0, "{call:?} sorts");
    Spent {
        statements: after.statements - effort.statements,
        steps: after.steps - effort.steps,
        returned: cost_after.rows_read - cost.rows_read,
        changed: cost_after.rows_written - cost.rows_written,
    }
}

/// The appends that are measured, on a sequence whose `main` ends at `last`.
fn appends(last: u32) -> Vec<(&'static str, u32, Value)> {
    let revises = |number: u32| json!({"isRevision": true, "revisesThought": number});
    vec![
        ("append to main", last + 1, json!({})),
        ("append to a branch", 30, json!({"branchId": "1"})),
        ("append with a number met before", 3, json!({})),
        ("revision", last + 2, revises(3)),
        (
            "revision from a branch",
            31,
            json!({"branchId": "1", "isRevision": true, "revisesThought": 1}),
        ),
        ("summary", last + 3, json!({"summarizesThrough": 5})),
        ("refused revision", last + 4, revises(999_999)),
        (
            "rewind",
            last + 1,
            json!({"isRevision": true, "revisesThought": last + 1, "rewind": true}),
        ),
    ]
}

fn pages() -> Vec<(&'static str, Value)> {
    vec![
        ("page of 50", json!({})),
        ("page of 1", json!({"limit": 1})),
        (
            "page of 100, newest first",
            json!({"limit": 100, "order": "desc"}),
        ),
        (
            "active, page of 100",
            json!({"limit": 100, "view": "active", "order": "desc"}),
        ),
        (
            "main, page of 100",
            json!({"limit": 100, "branchId": "main"}),
        ),
        (
            "path, page of 100",
            json!({"limit": 100, "view": "branch_path"}),
        ),
        (
            "path, newest first",
            json!({"limit": 100, "view": "branch_path", "order": "desc"}),
        ),
        ("brief", json!({"view": "brief"})),
    ]
}

type Table = BTreeMap<(&'static str, u32, u32), Spent>;

fn measure(length: u32, has_trunk: bool, table: &mut Table) {
    let mut bench = Bench::new();
    if !has_trunk {
        // The number comes once more, so all that follows lies beyond.
        bench.think(1, &json!({"thought": "once more"})).unwrap();
    }
    load::lengthen(&mut bench, length);
    let mut from = 1;
    // The shortest tells how long a page is; the two longer ones are compared at every width.
    let widths = if length == LENGTHS[0] {
        &WIDTHS[..2]
    } else {
        &WIDTHS[..]
    };
    for width in widths.iter().copied() {
        load::branch_out(&mut bench, from, width);
        from = width + 1;
        for (name, query) in pages() {
            measure_pages(&mut bench, name, &query, (length, width), table);
        }
    }
    for (name, number, more) in appends(length) {
        let call = bench.draft(number, &more).unwrap();
        let spent = spend(&mut bench, &call);
        table.insert((name, length, from - 1), spent);
    }
    for (name, query) in pages() {
        let name = Box::leak(format!("{name}, after a rewind").into_boxed_str());
        measure_pages(&mut bench, name, &query, (length, from - 1), table);
    }
}

/// The first page of a query and, where there is one, the next.
fn measure_pages(
    bench: &mut Bench<Sqlite>,
    name: &'static str,
    query: &Value,
    (length, width): (u32, u32),
    table: &mut Table,
) {
    let call = bench.parse("get_thought_history", query).unwrap();
    let spent = spend(bench, &call);
    assert_eq!(spent.changed, 0, "{name} writes");
    table.insert((name, length, width), spent);
    let Ok(Outcome::History(page)) = bench.run(&call) else {
        panic!("{name} was refused");
    };
    // The ends of a long sequence hold no more than a page of 100.
    if query["limit"] != 100
        && let Some(cursor) = page.next_cursor
    {
        let mut query = query.clone();
        query["cursor"] = json!(cursor);
        let call = bench.parse("get_thought_history", &query).unwrap();
        let name = Box::leak(format!("{name}, second").into_boxed_str());
        table.insert((name, length, width), spend(bench, &call));
    }
}

/// Rows that a page may read beyond its thoughts and its branches.
const PAGE_ROWS: u64 = 12;

/// Rows of the list of branches on a first page: of each, its row and its newest thought; after a rewind also whether the
/// thoughts are active that branches begin at, of which there are ten here.
fn branch_rows(name: &str, width: u32) -> u64 {
    let width = u64::from(width);
    match (name.ends_with("second"), name.contains("after a rewind")) {
        // The names of the branches on this page, and whether the thoughts on each are active.
        (true, _) => 2 * width.min(50),
        (false, false) => 2 * width,
        (false, true) => 2 * width + 3 * 10 + 2 * width.min(100),
    }
}

fn check_page(name: &str, width: u32, spent: Spent) {
    if name.starts_with("brief") {
        assert!(spent.returned <= 400, "{name}: {spent:?}");
        return;
    }
    let limit = [("page of 50", 50), ("page of 1", 1)]
        .iter()
        .find(|(prefix, _)| name == *prefix || name.starts_with(&format!("{prefix},")))
        .map_or(100, |(_, limit)| *limit);
    let most = limit + PAGE_ROWS + branch_rows(name, width);
    assert!(
        spent.returned <= most,
        "{name} at {width} branches: {spent:?}, at most {most}"
    );
}

#[test]
fn costs_do_not_grow_with_a_sequence() {
    println!("{}", check_costs(true));
}

#[test]
fn costs_do_not_grow_beyond_the_trunk() {
    println!("{}", check_costs(false));
}

/// The table of costs, for a reader.
fn check_costs(has_trunk: bool) -> String {
    let mut table = Table::new();
    let mut lines = Vec::new();
    for length in LENGTHS {
        measure(length, has_trunk, &mut table);
    }
    for ((name, length, width), spent) in &table {
        lines.push(format!(
            "| {name} | {length} | {width} | {} | {} | {} |",
            spent.statements, spent.returned, spent.steps
        ));
        if let Some(short) = table.get(&(*name, LENGTHS[1], *width))
            && *length == LENGTHS[2]
        {
            // To the instruction: not a little more, none.
            assert_eq!(spent, short, "{name}");
        }
        match name.starts_with("append")
            || name.contains("revision")
            || ["rewind", "summary"].contains(name)
        {
            true => assert!(
                spent.changed <= 1 && spent.returned <= 24 && spent.statements <= 26,
                "{name}: {spent:?}"
            ),
            false => check_page(name, *width, *spent),
        }
    }
    // A search that passes over rows would show, since the table is long enough.
    assert!(table.len() > 100);
    lines.join("\n")
}

#[test]
fn a_scan_is_seen_by_the_measure() {
    let mut bench = Bench::new();
    load::lengthen(&mut bench, 1_000);
    let database = bench.store.database();
    let steps = |sql: &str| {
        let before = database.effort();
        database.query(sql, &[]).unwrap();
        let after = database.effort();
        (after.steps - before.steps, after.scanned - before.scanned)
    };
    let (found, scanned) = steps("select 1 from thought where place = 1 << 22 | 500");
    assert!(found < 50 && scanned == 0);
    let (passed, scanned) = steps("select 1 from thought where total = 1");
    assert!(passed > 1_000 && scanned > 900, "{passed} {scanned}");
    // A range of an index is no scan in SQLite's words, but its instructions tell.
    let (passed, _) =
        steps("select 1 from thought where place between 1 << 22 and 2 << 22 and total = 1");
    assert!(passed > 1_000, "{passed}");
}
