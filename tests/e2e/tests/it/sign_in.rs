//! People sign in: Chromium, the Worker, and a GitHub on loopback. The stories stand in `tests/signin/stories.mjs`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use e2e::Worker;
use serde_json::Value;
use xtask::setup::npm;

/// Starts a script that serves a GitHub, then the Worker beside it, and waits until the script has played.
fn play(script: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let npm = npm::set_up(&root).expect("npm packages");
    npm::set_up(&root.join("tests/clients")).expect("the clients' npm packages");
    let mut node = npm
        .node()
        .expect("node")
        .arg(root.join(script))
        .current_dir(&root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the stories");
    let mut lines = BufReader::new(node.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let github = first["github"].as_str().unwrap();
    let mut worker = Worker::prepare(&[
        ("GITHUB_BASE_URL", github),
        ("GITHUB_API_URL", &format!("{github}/api")),
        ("GITHUB_CLIENT_ID", "Iv1.loopback"),
        ("GITHUB_CLIENT_SECRET", "loopback-secret"),
        ("ALLOWED_GITHUB_LOGIN", "octocat"),
        ("LOG_LEVEL", "debug"),
    ]);
    worker.reach_loopback();
    worker.wrap_glue("shifted.mjs");
    worker.restart();
    let mut input = node.stdin.take().unwrap();
    writeln!(input, "http://127.0.0.1:{}", worker.port()).unwrap();
    let (mut told, mut secrets) = (Vec::new(), Vec::new());
    for line in lines.map_while(Result::ok) {
        match serde_json::from_str::<Value>(&line) {
            Ok(last) => secrets = serde_json::from_value(last["secrets"].clone()).unwrap(),
            Err(_) => told.push(line),
        }
    }
    for line in &told {
        eprintln!("{line}");
    }
    let ended = node.wait().unwrap();
    let log = worker.log().join("\n");
    assert!(ended.success(), "{}\n{log}", told.join("\n"));
    assert!(told.iter().any(|line| line.starts_with("ok ")));
    assert!(log.contains("oauth.token.code") && secrets.len() > 20);
    assert_silent(&log, &secrets);
    crate::logs::check(&worker.log());
}

/// Nothing that lets anybody in stands in the log.
#[track_caller]
fn assert_silent(log: &str, secrets: &[String]) {
    let known = [
        "mcpat", "mcprt", "mcpac", "mcs1_", "gho_", "code=", "state=",
    ];
    let known = known.iter().map(|start| (*start).to_owned());
    for secret in known.chain(secrets.iter().cloned()) {
        assert!(!log.contains(&secret), "{secret} in {log}");
    }
}

#[test]
fn people_sign_in_with_a_browser() {
    play("tests/signin/stories.mjs");
}

#[test]
fn real_clients_sign_in_and_refresh() {
    play("tests/signin/clients.mjs");
}
