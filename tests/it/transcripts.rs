//! The transcripts on the hosts that need no Worker: the router in this process, and the native binary over pipes.

use std::path::Path;

use crate::process::Process;
use crate::runner::{Restart, Transcript};
use crate::support::Router;

impl Restart for Router {}

fn transcripts() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jsonl")
        })
        .collect();
    paths.sort();
    let read =
        |path: &std::path::PathBuf| Transcript::parse(&std::fs::read_to_string(path).unwrap());
    paths.iter().map(read).collect()
}

#[test]
fn on_the_router() {
    for transcript in transcripts() {
        for version in &transcript.versions {
            transcript.play(version, &mut Router::new(), &mut |_, _, _| {});
        }
    }
}

#[test]
fn on_the_native_binary() {
    for transcript in transcripts() {
        for version in &transcript.versions {
            let folder = tempfile::tempdir().unwrap();
            let mut process = Process::start(&folder.path().join("thoughts.db"));
            transcript.play(version, &mut process, &mut |_, _, _| {});
            process.stop();
        }
    }
}
