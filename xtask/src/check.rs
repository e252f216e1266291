//! `cargo xtask check`: what a change must pass before it is tested: format, lints of both targets, documentation.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::program;
use crate::setup::wasm32::{self, Compiler};
use crate::step::step;

/// Runs every check; the first that fails ends it.
pub fn check(root: &Path, compiler: &Compiler) -> Result<()> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(wasm32::cargo());
        command.current_dir(root).args(arguments);
        command
    };
    step("cargo fmt", || {
        program::run(&mut cargo(&["fmt", "--all", "--check"]))
    })?;
    step("clippy", || {
        program::run(&mut cargo(&[
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    if matches!(compiler, Compiler::AtHand) {
        step("clippy for Wasm", || {
            program::run(&mut cargo(&[
                "clippy",
                "--quiet",
                "--lib",
                "--target",
                wasm32::TARGET,
                "--",
                "-D",
                "warnings",
            ]))
        })?;
    } else {
        eprintln!("  left out: clippy for Wasm, which Debian's compiler does not bring");
    }
    step("cargo doc", || {
        program::run(
            cargo(&["doc", "--quiet", "--no-deps", "--document-private-items"])
                .env("RUSTDOCFLAGS", "-D warnings"),
        )
    })
}
