//! `cargo xtask check`: what a change must pass before it is tested: format, lints of both targets, documentation, and
//! what the project says of itself.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

use crate::setup::wasm32::{self, Compiler};
use crate::step::step;
use crate::{program, supply};

/// What a check may use.
struct Ready<'a> {
    root: &'a Path,
    compiler: &'a Compiler,
}

struct Part {
    name: &'static str,
    /// Whether it runs when no part is named.
    always: bool,
    run: fn(&Ready<'_>) -> Result<()>,
}

const PARTS: [Part; 8] = [
    Part {
        name: "format",
        always: true,
        run: |ready| cargo(ready, &["fmt", "--all", "--check"]),
    },
    Part {
        name: "types",
        always: true,
        run: types,
    },
    Part {
        name: "docs",
        always: true,
        run: docs,
    },
    Part {
        name: "registry",
        always: true,
        run: |ready| {
            let test = [
                "test",
                "--quiet",
                "--package",
                "xtask",
                "--test",
                "registry",
            ];
            cargo(ready, &test)
        },
    },
    // These two install tools that take minutes to build, and the second asks databases on the network.
    Part {
        name: "supply",
        always: false,
        run: |ready| supply::check(ready.root),
    },
    Part {
        name: "advisories",
        always: false,
        run: |ready| supply::advisories(ready.root),
    },
    // The tests run these too. They stand alone here for whoever changes just that.
    Part {
        name: "app",
        always: false,
        run: |ready| cargo(ready, &["test", "--quiet", "card"]),
    },
    Part {
        name: "contract",
        always: false,
        run: |ready| cargo(ready, &["test", "--quiet", "tools"]),
    },
];

/// Runs the checks with these names, or all of them; the first that fails ends it.
pub fn check(root: &Path, compiler: &Compiler, names: &[&str]) -> Result<()> {
    for name in names {
        if !PARTS.iter().any(|part| part.name == *name) {
            let known = PARTS.map(|part| part.name).join(", ");
            bail!("no check is called {name:?}; there are {known}");
        }
    }
    let ready = Ready { root, compiler };
    for part in &PARTS {
        if names.contains(&part.name) || (names.is_empty() && part.always) {
            (part.run)(&ready)?;
        }
    }
    Ok(())
}

fn cargo(ready: &Ready<'_>, arguments: &[&str]) -> Result<()> {
    step(format!("cargo {}", arguments.join(" ")), || {
        let mut command = Command::new(wasm32::cargo());
        program::run(command.current_dir(ready.root).args(arguments))
    })
}

fn types(ready: &Ready<'_>) -> Result<()> {
    let deny = ["--", "-D", "warnings"];
    let native = ["clippy", "--quiet", "--workspace", "--all-targets"];
    cargo(ready, &[&native[..], &deny].concat())?;
    if matches!(ready.compiler, Compiler::AtHand) {
        let wasm = ["clippy", "--quiet", "--lib", "--target", wasm32::TARGET];
        return cargo(ready, &[&wasm[..], &deny].concat());
    }
    eprintln!("  left out: clippy for Wasm, which Debian's compiler does not bring");
    Ok(())
}

fn docs(ready: &Ready<'_>) -> Result<()> {
    step("cargo doc", || {
        let mut command = Command::new(wasm32::cargo());
        command
            .current_dir(ready.root)
            .args(["doc", "--quiet", "--no-deps", "--document-private-items"])
            .env("RUSTDOCFLAGS", "-D warnings");
        program::run(&mut command)
    })
}
