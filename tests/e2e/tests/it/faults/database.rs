//! Faults in the object's database: no room left, and rows that do not decode.

use durable_thinking::database::Database;
use durable_thinking::database::sqlite::Sqlite;
use serde_json::{Value, json};

use super::{KEPT, Scene, TEXT, UNAVAILABLE};

#[test]
fn a_store_that_is_full_takes_nothing_more_and_gives_back_all_that_it_has() {
    let mut scene = Scene::set();
    let reply = scene.append_during("object full 9");
    scene.is_refused(
        &reply,
        ["storage_full", "limit", "later"],
        ["store", "the database is full"],
    );
    // It is full still.
    assert_eq!(scene.worker.probe()["left"], 8);
    assert_eq!(scene.tools.read_texts(&scene.sequence, 50), [KEPT]);
    let first = json!({ "thought": TEXT, "thoughtNumber": 1, "totalThoughts": 1, "nextThoughtNeeded": false });
    let refusal = scene.tools.refused("sequentialthinking", &first);
    assert!(refusal.starts_with("storage_full: "), "{refusal}");
    let other = scene.sequence.clone();
    scene.repeat(false);
    let delete = json!({ "name": "delete_thought_sequence", "arguments": { "sequenceId": other, "confirm": true } });
    let headers = [("x-fault", "object full 9")];
    let reply = scene.tools.post("tools/call", &delete, &headers).json();
    assert_eq!(
        reply["result"]["structuredContent"]["deleted"], true,
        "{reply}"
    );
}

/// The store's file, between two lives of the Worker.
fn tamper(scene: &mut Scene, statement: &str) {
    scene.worker.kill();
    let mut files = Vec::new();
    let mut folders = vec![scene.worker.state().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == "sqlite") {
                files.push(path);
            }
        }
    }
    files.retain(|path| {
        let path = path.to_string_lossy();
        path.contains("ThoughtStore") && !path.ends_with("metadata.sqlite")
    });
    let [file] = files.as_slice() else {
        panic!("{files:?}");
    };
    let database = Sqlite::open(file).unwrap();
    database.query(statement, &[]).unwrap();
    drop(database);
    scene.worker.restart();
    scene.tools = e2e::mcp::Tools::new(&scene.worker);
}

/// A row of one sequence that does not decode is a fault for that sequence and for no other.
#[test]
fn a_row_that_does_not_decode_is_a_fault_of_ours_and_stops_nothing_else() {
    for (statement, reason) in [
        (
            "update thought set text = zeroblob(40)",
            "a sealed value does not open",
        ),
        (
            "update thought set text = x'00'",
            "a sealed value does not open",
        ),
        (
            "update thought set number = -1",
            "an integer is out of range",
        ),
        (
            "update thought set repeat_match = x'00'",
            "repeat_match of thought has another length",
        ),
        (
            "delete from thought",
            "column place of thought holds null, not an integer",
        ),
    ] {
        let mut scene = Scene::set();
        tamper(&mut scene, statement);
        let read =
            json!({ "name": "get_thought_history", "arguments": { "sequenceId": scene.sequence } });
        let reply = scene.tools.post("tools/call", &read, &[]);
        scene.is_refused(&reply, UNAVAILABLE, ["store", reason]);
        let sound = scene.tools.think_all(&["a sound sequence", "goes on"]);
        assert_eq!(
            scene.tools.read_texts(&sound, 50),
            ["a sound sequence", "goes on"]
        );
        let errors = scene.errors();
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert_ne!(errors[0]["requestId"], Value::Null);
    }
}
