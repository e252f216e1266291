//! Faults of the database under the native hosts: what the client is told, and the one line that the owner gets.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::database::{Column, Database, Row};
use serde_json::{Value, json};

use crate::support::Router;
use crate::vectors::legacy;
use crate::wire::{Http, Request};

fn number(rows: Vec<Row>) -> i64 {
    let mut row = rows.into_iter().next().unwrap();
    row.integer(Column("pragma", "value")).unwrap()
}

/// A tool's result, and the request's id.
fn call(router: &mut Router, tool: &str, arguments: &Value) -> (Value, String) {
    let params = json!({ "name": tool, "arguments": arguments });
    let reply = router.send(&Request::message(
        "2025-11-25",
        &legacy(1, "tools/call", params),
    ));
    let request_id = reply.header("x-request-id").unwrap().to_owned();
    (reply.json()["result"].take(), request_id)
}

/// SQLite itself says that it is full: it may not grow by another page.
#[test]
fn a_full_database_refuses_what_is_new_and_gives_back_what_it_has() {
    let mut router = Router::new();
    let mut sequence = Value::Null;
    let mut stored = 0;
    let think = |router: &mut Router, sequence: &Value, number: u32| {
        let arguments = json!({
            "thought": "x".repeat(3_000), "thoughtNumber": number, "totalThoughts": 99, "nextThoughtNeeded": true,
            "sequenceId": sequence,
        });
        call(router, "sequentialthinking", &arguments)
    };
    let (first, _) = think(&mut router, &sequence, 1);
    sequence.clone_from(&first["structuredContent"]["sequenceId"]);
    let site = Rc::clone(&router.site);
    let database = site.server.host.store.database();
    let pages = number(database.query("pragma page_count", &[]).unwrap());
    let limit = format!("pragma max_page_count = {}", pages + 4);
    assert_eq!(number(database.query(&limit, &[]).unwrap()), pages + 4);
    let (refused, request_id) = loop {
        stored += 1;
        let (result, request_id) = think(&mut router, &sequence, stored + 1);
        if result["isError"] == true {
            break (result, request_id);
        }
        assert!(stored < 20, "it never fills up");
    };
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(
        text.starts_with("storage_full: ") && text.contains(&request_id),
        "{text}"
    );
    assert!(text.ends_with("\nclass: limit · retry: later"), "{text}");
    let read = json!({ "sequenceId": sequence, "maxCharacters": 250_000 });
    let (history, _) = call(&mut router, "get_thought_history", &read);
    let thoughts = history["structuredContent"]["thoughts"].as_array().unwrap();
    assert_eq!(thoughts.len(), usize::try_from(stored).unwrap());
    let (deleted, _) = call(
        &mut router,
        "delete_thought_sequence",
        &json!({ "sequenceId": sequence, "confirm": true }),
    );
    assert_eq!(deleted["structuredContent"]["deleted"], true, "{deleted}");
    let (again, _) = think(&mut router, &Value::Null, 1);
    assert_eq!(again["isError"], Value::Null, "{again}");
}

/// Sends these calls to the native program; its results, and what it printed to standard error.
fn converse(database: &Path, calls: &[Value]) -> (Vec<Value>, Vec<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_durable-thinking"))
        .arg("--database")
        .arg(database)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let hello = json!({
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    });
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{}", legacy(0, "initialize", hello)).unwrap();
    for (id, call) in (1..).zip(calls) {
        writeln!(input, "{}", legacy(id, "tools/call", call.clone())).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = |bytes: Vec<u8>| -> Vec<String> {
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(str::to_owned).collect()
    };
    let answers = lines(output.stdout).into_iter().skip(1);
    let results =
        answers.map(|line| serde_json::from_str::<Value>(&line).unwrap()["result"].take());
    (results.collect(), lines(output.stderr))
}

#[test]
fn a_row_that_does_not_decode_is_one_line_on_standard_error_and_the_program_goes_on() {
    const TEXT: &str = "what nobody else may read";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("thoughts.db");
    let first = json!({ "name": "sequentialthinking", "arguments": {
        "thought": TEXT, "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": true,
    } });
    let (results, errors) = converse(&path, std::slice::from_ref(&first));
    assert_eq!(errors, [""; 0]);
    let id = &results[0]["structuredContent"]["sequenceId"];
    Sqlite::open(&path)
        .unwrap()
        .query("update thought set text = x'00'", &[])
        .unwrap();
    let read = json!({ "name": "get_thought_history", "arguments": { "sequenceId": id } });
    let (results, errors) = converse(&path, &[read, first]);
    let text = results[0]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("unavailable: "), "{text}");
    assert_eq!(
        results[1]["structuredContent"]["thoughtHistoryLength"], 1,
        "{results:?}"
    );
    let [line] = errors.as_slice() else {
        panic!("{errors:?}");
    };
    let entry: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&entry["kind"], &entry["stage"]),
        (&json!("error"), &json!("store"))
    );
    assert!(
        text.contains(entry["requestId"].as_str().unwrap()),
        "{text}"
    );
    assert!(
        !line.contains(TEXT) && !line.contains(id.as_str().unwrap()),
        "{line}"
    );
}
