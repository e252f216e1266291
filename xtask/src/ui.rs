//! Tests the card in a real browser, fed by the real Worker.
//!
//! The scenes themselves are `tests/ui`; this starts what they need: a Chromium, and the built Worker on a store of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::program;
use crate::setup::chromium;
use crate::test::Ready;
use crate::workerd::{Options, Server};

const TOKEN: &str = "test-token-0123456789abcdef0123456789";
pub fn test(ready: &Ready<'_>) -> Result<()> {
    let browser = chromium::set_up()?;
    let state = ready.root.join("target/ui-state");
    if state.exists() {
        fs::remove_dir_all(&state)?;
    }
    fs::create_dir_all(&state)?;
    let options = Options {
        port: 0,
        state: state.clone(),
        variables: BTreeMap::from([("MCP_API_TOKEN".to_owned(), TOKEN.to_owned())]),
        reaches_loopback: false,
        limits: false,
        modules: Vec::new(),
        log: Box::new(|_| {}),
    };
    let server = Server::start(ready.root, options)?;
    let scenes = scenes(&ready.root.join("tests/ui"))?;
    let result = program::run_loud(
        ready
            .npm
            .node()?
            .current_dir(ready.root)
            // One file after the other: each has a browser of its own.
            .args(["--test", "--test-concurrency=1", "--test-reporter=spec"])
            .args(scenes)
            .env("CHROMIUM", browser)
            .env("CARD_SERVER", format!("http://{}", server.address()))
            .env("CARD_TOKEN", TOKEN),
    );
    server.stop();
    fs::remove_dir_all(&state)?;
    result
}

/// The files with scenes, in a fixed order.
fn scenes(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(".test.mjs") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
