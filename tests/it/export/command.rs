//! The commands of the native program, as a person types them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(folder: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_durable-thinking"))
        .current_dir(folder)
        .args(["--database", "thoughts.db"])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

#[track_caller]
fn well(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_document_goes_in_and_comes_out_again() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = include_str!("../../fixtures/document_v1.json");
    std::fs::write(folder.path().join("in.json"), fixture).unwrap();
    let id = well(&run(folder.path(), &["import", "in.json"], ""));
    assert!(id.starts_with("seq_"), "{id}");
    let piped = well(&run(folder.path(), &["import", "-"], fixture));
    assert_ne!(id, piped);
    well(&run(folder.path(), &["export", "--format", "json"], &id));
    let path = folder.path().join("thinking-process.json");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("seq_"));
    let (out, came): (Value, Value) = (
        serde_json::from_str(&text).unwrap(),
        serde_json::from_str(fixture).unwrap(),
    );
    assert_eq!(out["thoughts"], came["thoughts"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let again = run(folder.path(), &["export", "--format", "json"], &id);
    assert!(!again.status.success(), "a file was written over");
    well(&run(folder.path(), &["export", "-o", "other.md"], &id));
    let markdown = std::fs::read_to_string(folder.path().join("other.md")).unwrap();
    assert!(markdown.starts_with("# The page takes 4 s"), "{markdown}");
}

#[test]
fn what_is_refused_leaves_no_file_and_no_row() {
    let folder = tempfile::tempdir().unwrap();
    let refused = run(folder.path(), &["import", "-"], "{}");
    assert!(!refused.status.success());
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(
        message.contains("/sequence: is missing. Nothing was stored"),
        "{message}"
    );
    let unknown = "seq_014d2pf2dbsqqg28t5cy4tqkffkn";
    assert!(!run(folder.path(), &["export"], unknown).status.success());
    assert!(!folder.path().join("thinking-process.md").exists());
}

#[test]
fn a_process_becomes_a_page_that_only_its_owner_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = include_str!("../../fixtures/document_v1.json");
    let id = well(&run(folder.path(), &["import", "-"], fixture));
    let show = ["show", "--no-open", "--output", "process.html"];
    well(&run(folder.path(), &show, &id));
    let path = folder.path().join("process.html");
    let html = std::fs::read_to_string(&path).unwrap();
    assert!(html.contains("The page takes 4 s to load."));
    assert!(!html.contains(id.trim()) && html.contains("connect-src 'none'"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let again = run(folder.path(), &show, &id);
    assert!(!again.status.success(), "a file that exists stays");
}
