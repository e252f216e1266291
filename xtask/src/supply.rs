//! What others wrote and is built in or built with: its licenses, where it comes from, whether it is used, and what is known
//! against it.
//!
//! The judges are installed below `target` when they are first asked for, in fixed versions.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use crate::program;
use crate::setup::npm;
use crate::setup::wasm32;
use crate::step::step;

const FOLDER: &str = "target/tools";
const DENY: Tool = Tool("cargo-deny", "0.20.2");
const MACHETE: Tool = Tool("cargo-machete", "0.9.2");

/// A program and its version.
struct Tool(&'static str, &'static str);

impl Tool {
    /// The program, installed now unless it already stands there in this version.
    fn set_up(&self, root: &Path) -> Result<PathBuf> {
        let Self(name, version) = self;
        let folder = root.join(FOLDER);
        let program = folder.join("bin").join(name);
        let told = program::output(Command::new(&program).arg("--version"));
        if !told.is_ok_and(|told| told.split_whitespace().any(|word| word == *version)) {
            step(format!("installing {name} {version}"), || {
                program::run(
                    Command::new(wasm32::cargo())
                        .args(["install", name, "--version", version, "--locked", "--root"])
                        .arg(&folder),
                )
            })?;
        }
        Ok(program)
    }
}

/// Licenses, sources and bans by `deny.toml`, and no crate that nobody uses.
pub fn check(root: &Path) -> Result<()> {
    deny(root, &["licenses", "bans", "sources"])?;
    let machete = MACHETE.set_up(root)?;
    step("cargo machete", || {
        program::run(Command::new(machete).current_dir(root))
    })
}

/// What is known against the crates and the npm packages, asked of the databases of today.
pub fn advisories(root: &Path) -> Result<()> {
    deny(root, &["advisories"])?;
    for folder in [root.to_owned(), root.join("tests/clients")] {
        step(format!("npm audit in {}", folder.display()), || {
            program::run(
                Command::new(npm::program())
                    .current_dir(folder)
                    .args(["audit", "--audit-level=high"]),
            )
        })?;
    }
    Ok(())
}

fn deny(root: &Path, what: &[&str]) -> Result<()> {
    let deny = DENY.set_up(root)?;
    step(format!("cargo deny check {}", what.join(" ")), || {
        program::run(
            Command::new(deny)
                .current_dir(root)
                .args([
                    "--workspace",
                    "--all-features",
                    "check",
                    "--hide-inclusion-graph",
                ])
                .args(what),
        )
    })
}
