//! Long sequences in a short time: the beginning and the end are written by the store, what lies between is copied in SQL.

use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Column, Database, Value};
use serde_json::json;

use crate::bench::Bench;

/// Thoughts at either end that the store writes, more than any page holds.
const ENDS: u32 = 110;

/// Makes `main` of the bench's sequence `thoughts` long, numbered 1 and on: all of it is trunk.
pub fn lengthen(bench: &mut Bench<Sqlite>, thoughts: u32) {
    for number in 1..=thoughts.min(ENDS) {
        think(bench, number);
    }
    let copies = thoughts.saturating_sub(2 * ENDS);
    if copies > 0 {
        copy_newest(bench.store.database(), copies);
    }
    for number in (ENDS + copies + 1)..=thoughts {
        think(bench, number);
    }
}

/// Begins branches `from` to `to` at thoughts 1, 2, … of `main`, each with one thought.
pub fn branch_out(bench: &mut Bench<Sqlite>, from: u32, to: u32) {
    for branch in from..=to {
        let fork = json!({"branchId": branch.to_string(), "branchFromThought": branch % 10 + 1});
        bench.think(branch % 10 + 2, &fork).unwrap();
    }
}

fn think(bench: &mut Bench<Sqlite>, number: u32) {
    let more = json!({"totalThoughts": 100_000, "thought": format!("Thought {number}")});
    bench.think(number, &more).unwrap();
}

/// Follows the newest thought with `copies` of its row, each one further on. Their texts do not open, and nothing reads them.
fn copy_newest(database: &Sqlite, copies: u32) {
    let columns: Vec<String> = database
        .query("select name from pragma_table_info('thought')", &[])
        .unwrap()
        .iter_mut()
        .map(|row| row.text(Column("pragma_table_info", "name")).unwrap())
        .collect();
    let values: Vec<String> = columns
        .iter()
        .map(|column| match column.as_str() {
            "place" | "number" | "position" | "steps" | "created_at" => format!("{column} + i"),
            "call_id" => "randomblob(16)".to_owned(),
            "text" => "x'01'".to_owned(),
            _ => column.clone(),
        })
        .collect();
    let sql = format!(
        "insert into thought ({}) with recursive further (i) as (select 1 union all select i + 1 from further where i < ?) \
         select {} from thought, further where place = (select max(place) from thought)",
        columns.join(", "),
        values.join(", "),
    );
    database.query(&sql, &[Value::from(copies)]).unwrap();
}
