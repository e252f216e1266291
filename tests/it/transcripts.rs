//! The transcripts on the hosts that need no Worker: the router in this process, and the native binary over pipes.

use std::path::Path;

use crate::process::Process;
use crate::runner::{Restart, Transcript};
use crate::strand::Strand;
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

const STRANDS: usize = 50;

#[test]
fn interleaved_sequences_never_cross() {
    let mut router = Router::new();
    let mut strands: Vec<_> = (0..STRANDS).map(Strand::new).collect();
    for _ in 0..5 {
        for strand in &mut strands {
            strand.write(&mut router);
        }
    }
    for strand in &strands {
        strand.check(&mut router);
    }
}

#[test]
fn two_processes_share_a_file_and_nothing_in_it_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("thoughts.db");
    let work = |numbers: std::ops::Range<usize>| {
        let mut process = Process::start(&database);
        let mut strands: Vec<_> = numbers.map(Strand::new).collect();
        for _ in 0..4 {
            for strand in &mut strands {
                strand.write(&mut process);
            }
        }
        process.stop();
        strands
    };
    let strands: Vec<_> = std::thread::scope(|scope| {
        let halves = [0..STRANDS / 2, STRANDS / 2..STRANDS].map(|half| scope.spawn(|| work(half)));
        halves
            .into_iter()
            .flat_map(|half| half.join().unwrap())
            .collect()
    });
    let mut process = Process::start(&database);
    for strand in &strands {
        strand.check(&mut process);
    }
    // Even while it is open, with the write-ahead log beside it.
    let files: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(
        files
            .iter()
            .any(|file| file.starts_with(b"SQLite format 3"))
    );
    for secret in strands.iter().flat_map(Strand::secrets) {
        let body = secret.strip_prefix("seq_").unwrap_or(&secret);
        assert!(body.len() > 8);
        for file in &files {
            let is_found = file
                .windows(body.len())
                .any(|window| window == body.as_bytes());
            assert!(!is_found, "{secret} stands in the file");
        }
    }
    process.stop();
}

/// Every text of every transcript, looked for in the file that the transcripts leave.
#[test]
fn no_thought_title_or_branch_name_stands_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("thoughts.db");
    let mut process = Process::start(&database);
    let mut texts = Vec::new();
    for transcript in transcripts() {
        transcript.play("2025-11-25", &mut process, &mut |_, _, _| {});
        texts.extend(transcript.thoughts());
    }
    texts.push("scenic route".to_owned());
    process.stop();
    let file = std::fs::read(database).unwrap();
    assert!(file.len() > 4096 && texts.len() > 15);
    for text in texts {
        let part = text.as_bytes().get(..20).unwrap_or(text.as_bytes());
        let is_found = file.windows(part.len()).any(|window| window == part);
        assert!(!is_found, "{text} stands in the file");
    }
}
