//! What was thought stands readable nowhere but in the reply to who holds the id: not in files, not in the log.

use std::fs;
use std::path::Path;

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
use memchr::memmem;
use serde_json::json;

const SECRETS: [&str; 4] = [
    "the vault's combination is 48-15-16-23",
    "zweiter Gedanke über den Tresor",
    "第三个想法：金库在地下室",
    "side-road-of-thought",
];

/// Thinks with a branch and returns the id.
fn think(worker: &Worker) -> String {
    let mut tools = Tools::new(worker);
    let sequence = tools.think_all(&SECRETS[..2]);
    tools.succeed(
        "sequentialthinking",
        &json!({
            "thought": SECRETS[2], "thoughtNumber": 3, "totalThoughts": 3, "nextThoughtNeeded": false,
            "sequenceId": sequence, "branchFromThought": 1, "branchId": SECRETS[3],
        }),
    );
    sequence
}

/// Looks for the secrets in every stored file and every line of the log of a Worker that has ended.
#[track_caller]
pub(crate) fn assert_nowhere(worker: &Worker, secrets: &[&str]) {
    let mut places: Vec<(String, Vec<u8>)> = Vec::new();
    read_files(worker.state(), &mut places);
    let is_database = |name: &str| name.contains("ThoughtStore") && name.ends_with(".sqlite");
    assert!(places.iter().any(|(name, _)| is_database(name)));
    places.push(("the log".to_owned(), worker.log().join("\n").into_bytes()));
    for (name, bytes) in places {
        for secret in secrets {
            for form in forms(secret) {
                let stands = memmem::find(&bytes, &form).is_some();
                assert!(!stands, "{secret:?} stands in {name}");
            }
        }
    }
}

fn read_files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_files(&path, found);
        } else {
            found.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
}

/// The whole text, and parts of it, so that a value cut by a page boundary is found as well.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    let bytes = secret.as_bytes();
    let half = bytes.len() / 2;
    vec![
        bytes.to_vec(),
        bytes[..half].to_vec(),
        bytes[half..].to_vec(),
    ]
}

#[test]
fn no_file_and_no_line_of_the_log_holds_a_thought_a_branch_name_an_id_or_a_token() {
    let mut worker = Worker::start_with(&[("LOG_LEVEL", "debug")]);
    let sequence = think(&worker);
    let deleted = think(&worker);
    let mut tools = Tools::new(&worker);
    tools.read_texts(&sequence, 2);
    let read = json!({ "sequenceId": sequence, "cursor": SECRETS[0] });
    tools.refused("get_thought_history", &read);
    let incomplete = json!({ "thought": SECRETS[1], "sequenceId": sequence });
    tools.refused("sequentialthinking", &incomplete);
    Tools::new(&worker)
        .with_token(SECRETS[3])
        .post("ping", &json!({}), &[]);
    worker.get(&format!("/{sequence}?thought={}", SECRETS[3]));
    let delete = json!({ "sequenceId": deleted, "confirm": true });
    tools.succeed("delete_thought_sequence", &delete);
    worker.kill();
    let log = worker.log().join("\n");
    for line in [
        "\"tool\":\"sequentialthinking\"",
        "\"rowsWritten\":",
        "credential_refused",
        "sequence_deleted",
    ] {
        assert!(log.contains(line), "{line} is missing in {log}");
    }
    let ids = [&sequence, &deleted].map(|id| id.strip_prefix("seq_").unwrap());
    assert_nowhere(&worker, &SECRETS);
    assert_nowhere(&worker, &[ids[0], ids[1], TOKEN]);
}
