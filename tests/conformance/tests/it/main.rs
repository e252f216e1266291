//! The conformance suite, on two legs: the product in workerd, which lacks the suite's fixtures, and the fixtures on the
//! product's protocol layer, which has them all. What is expected to fail stands in the files beside this folder, and a
//! scenario that is listed there and passes is a failure too.

// Tests may fail at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(clippy::disallowed_methods, unreachable_pub, dead_code)]

mod schema;

// Shared with the native hosts.
#[path = "../../../transcripts/runner.rs"]
mod runner;
#[path = "../../../it/support.rs"]
mod support;
#[path = "../../../transcripts/vectors.rs"]
mod vectors;
#[path = "../../../transcripts/wire.rs"]
mod wire;

use conformance::{proxy, serve};
use e2e::{TOKEN, Worker, root};
use tempfile::TempDir;
use xtask::setup::npm;

/// Runs the suite. `expected` is a file of expected failures; an empty one makes warnings count as well.
#[track_caller]
fn run(url: &str, selection: &[&str], expected: &str) {
    let packages = root().join("tests/clients");
    npm::set_up(&packages).unwrap();
    let (results, home) = (TempDir::new().unwrap(), root().join("tests/conformance"));
    let output = npm::set_up(&root())
        .unwrap()
        .node()
        .unwrap()
        .arg(packages.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", url])
        .args(selection)
        .arg("--expected-failures")
        .arg(home.join(expected))
        .arg("-o")
        .arg(results.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{selection:?}\n{text}\n{errors}");
    assert!(
        std::fs::read_dir(results.path()).unwrap().count() > 0,
        "nothing was run"
    );
}

const HEADERS: [&str; 4] = [
    "--scenario",
    "http-header-validation",
    "--spec-version",
    "2026-07-28",
];

fn product() -> (Worker, String) {
    let worker = Worker::start();
    let origin = proxy::start(([127, 0, 0, 1], worker.port()).into(), TOKEN);
    (worker, origin)
}

#[test]
fn the_product_speaks_2026_07_28() {
    let (_worker, origin) = product();
    let url = format!("{origin}/mcp");
    run(
        &url,
        &["--requirements", "2026-07-28"],
        "product-2026-07-28.yml",
    );
    run(&url, &HEADERS, "none.yml");
}

#[test]
fn the_product_speaks_2025_11_25() {
    let (_worker, origin) = product();
    run(
        &format!("{origin}/mcp-compat"),
        &["--requirements", "2025-11-25"],
        "product-2025-11-25.yml",
    );
}

#[test]
fn the_protocol_layer_speaks_2026_07_28() {
    let url = format!("{}/mcp", proxy::start(serve::start(), TOKEN));
    run(&url, &["--requirements", "2026-07-28"], "none.yml");
    run(&url, &HEADERS, "none.yml");
}

#[test]
fn the_protocol_layer_speaks_2025_11_25() {
    run(
        &format!("{}/mcp-compat", proxy::start(serve::start(), TOKEN)),
        &["--requirements", "2025-11-25"],
        "protocol-2025-11-25.yml",
    );
}
