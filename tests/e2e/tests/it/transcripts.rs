//! The stories and the golden vectors that the native hosts are tested with, on the Worker in workerd.

use std::collections::BTreeSet;
use std::fs;

use e2e::Worker;
use serde_json::Value;

use crate::runner::{Restart, Transcript};
use crate::vectors::VECTORS;
use crate::wire::{Http, Reply, Request};

/// The Worker as a host of the shared tests.
struct Workerd(Worker);

impl Http for Workerd {
    fn send(&mut self, request: &Request) -> Reply {
        let headers: Vec<_> = request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let reply = self
            .0
            .client()
            .send(&request.method, &request.path, &headers, &request.body);
        Reply {
            status: reply.status,
            headers: reply.headers,
            body: reply.body,
        }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.0.port())
    }
}

impl Restart for Workerd {
    fn restart(&mut self) -> bool {
        self.0.restart();
        true
    }
}

#[test]
fn transcripts() {
    let mut host = Workerd(Worker::start_with(&[("LOG_LEVEL", "debug")]));
    let (mut played, mut thoughts, mut keys) = (0, Vec::new(), BTreeSet::new());
    let mut paths: Vec<_> = fs::read_dir(e2e::root().join("tests/transcripts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    paths.sort();
    for path in paths {
        let transcript = Transcript::parse(&fs::read_to_string(path).unwrap());
        for version in &transcript.versions {
            transcript.play(version, &mut host, &mut |_, _, answer| {
                collect(answer, &mut keys);
            });
            played += 1;
        }
        thoughts.extend(transcript.thoughts());
    }
    assert!(played > 0 && thoughts.len() > 10);
    host.0.kill();
    assert!(keys.len() > 10, "{keys:?}");
    let secrets: Vec<_> = thoughts.iter().chain(&keys).map(String::as_str).collect();
    crate::privacy::assert_nowhere(&host.0, &secrets);
    crate::logs::check(&host.0.log());
}

/// What opens a sequence or a page of it, out of an answer.
fn collect(answer: &Value, keys: &mut BTreeSet<String>) {
    let told = &answer["result"]["structuredContent"];
    let id = told["sequenceId"].as_str();
    let id = id.and_then(|id| id.strip_prefix("seq_"));
    keys.extend(
        id.into_iter()
            .chain(told["nextCursor"].as_str())
            .map(str::to_owned),
    );
}

#[test]
fn golden_vectors() {
    let mut host = Workerd(Worker::start());
    for (number, check) in VECTORS {
        eprintln!("vector {number}");
        check(&mut host);
    }
    crate::logs::check(&host.0.log());
}

#[test]
fn long_pages_come_with_progress() {
    crate::long::check(&mut Workerd(Worker::start()));
}
