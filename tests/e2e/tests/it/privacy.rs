//! What was thought stands readable nowhere but in the reply to who holds the id: not in files, not in the log.

use std::fs;
use std::path::{Path, PathBuf};

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker};
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

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

#[test]
fn the_stored_files_hold_no_thought_no_branch_name_and_no_id() {
    let mut worker = Worker::start();
    let sequence = think(&worker);
    worker.kill();
    let mut found = Vec::new();
    files(worker.state(), &mut found);
    let databases = found
        .iter()
        .filter(|path| path.to_string_lossy().contains("ThoughtStore"))
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "sqlite")
        })
        .count();
    assert!(databases >= 1, "{found:?}");
    let random = sequence.strip_prefix("seq_").unwrap();
    for path in found {
        let bytes = fs::read(&path).unwrap();
        for secret in SECRETS.into_iter().chain([random, TOKEN]) {
            for form in forms(secret) {
                let stands = bytes.windows(form.len()).any(|window| window == form);
                assert!(!stands, "{secret:?} stands in {}", path.display());
            }
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
fn no_line_of_the_log_holds_a_thought_an_id_or_a_token() {
    let mut worker = Worker::start_with(&[("LOG_LEVEL", "debug")]);
    let sequence = think(&worker);
    let mut tools = Tools::new(&worker);
    tools.read_texts(&sequence, 2);
    tools.refused(
        "get_thought_history",
        &json!({ "sequenceId": sequence, "cursor": SECRETS[0] }),
    );
    tools.refused(
        "sequentialthinking",
        &json!({ "thought": SECRETS[1], "sequenceId": sequence }),
    );
    Tools::new(&worker)
        .with_token(SECRETS[3])
        .post("ping", &json!({}), &[]);
    worker.get(&format!("/{sequence}?thought={}", SECRETS[3]));
    tools.succeed(
        "delete_thought_sequence",
        &json!({ "sequenceId": sequence, "confirm": true }),
    );
    worker.kill();
    let lines = worker.log();
    assert!(
        lines.iter().any(|line| line.contains("sequentialthinking")),
        "{lines:?}"
    );
    for line in lines {
        for secret in SECRETS.into_iter().chain([sequence.as_str(), TOKEN]) {
            assert!(!line.contains(secret), "{secret:?} stands in {line:?}");
        }
    }
}
