//! Commands that the documents show, run as they stand there but for the host, the token and the id.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use e2e::mcp::Tools;
use e2e::{TOKEN, Worker, native_program, root};
use serde_json::Value;

/// The block of shell commands in `document` that holds `part`.
fn block(document: &str, part: &str) -> String {
    let text = fs::read_to_string(root().join(document)).unwrap();
    let blocks = text.split("```sh\n").skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
    let found = blocks.find(|block| block.contains(part));
    found
        .unwrap_or_else(|| panic!("{document} shows no {part}"))
        .to_owned()
}

/// What the commands print, in a folder of their own and with `input` for whatever they ask.
#[track_caller]
fn run(folder: &Path, commands: &str, input: &str) -> String {
    let program = native_program();
    let path = std::env::var("PATH").unwrap();
    let mut shell = Command::new("sh")
        .args(["-euc", commands])
        .current_dir(folder)
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .env("XDG_DATA_HOME", folder)
        .env("HOME", folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(shell.stdin.take().unwrap(), "{input}").unwrap();
    let output = shell.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{commands}\n{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_of_the_documents_work_as_they_stand() {
    let worker = Worker::start();
    let thoughts = ["one of three", "two of three", "three of three"];
    let id = Tools::new(&worker).think_all(&thoughts);
    let folder = tempfile::tempdir().unwrap();
    let local = format!("http://127.0.0.1:{}", worker.port());
    let here = |commands: String| {
        commands
            .replace("https://HOST", &local)
            .replace("https://OLD-HOST", &local)
            .replace("MCP_API_TOKEN=...", &format!("MCP_API_TOKEN={TOKEN}"))
            .replace("Bearer TOKEN", &format!("Bearer {TOKEN}"))
            .replace("seq_...", &id)
    };

    for readme in ["README.md", "README.zh-CN.md"] {
        let export = here(block(readme, "/export"));
        let markdown = run(folder.path(), &export, "");
        assert!(markdown.starts_with("# one of three\n"), "{markdown}");
    }
    let doctor = block("docs/connect.md", "durable-thinking doctor");
    let report = run(folder.path(), &here(doctor), "");
    assert!(report.contains(" 0 failed, "), "{report}");

    // From a server to this machine, and on to another server.
    let import = here(block("docs/migrate.md", "--from-server"));
    let printed = run(folder.path(), &import, &id);
    let copy = printed
        .split_whitespace()
        .find(|word| word.starts_with("seq_"));
    let copy = copy.unwrap_or_else(|| panic!("{printed}"));
    assert_ne!(copy, id);
    let moved = here(block("docs/migrate.md", "process.json"));
    let answer = run(folder.path(), &moved, copy);
    let answer: Value = serde_json::from_str(answer.lines().last().unwrap()).unwrap();
    let last = answer["sequenceId"].as_str().unwrap();
    assert_eq!(Tools::new(&worker).read_texts(last, 50), thoughts);

    let key = run(folder.path(), &block("docs/signing.md", "echo \"sk_"), "");
    assert_eq!(
        (key.trim().len(), key.starts_with("sk_")),
        (46, true),
        "{key}"
    );
}
