//! `cargo xtask test`: every test there is, part by part. A part that fails names itself, and the others still run.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, bail};

use crate::fallback;
use crate::program;
use crate::setup::chromium;
use crate::setup::npm::Npm;
use crate::setup::wasm32;
use crate::size;
use crate::step::seconds;
use crate::ui;

/// What a part may use: everything is set up and built when it runs.
pub struct Ready<'a> {
    pub root: &'a Path,
    pub npm: &'a Npm,
    /// Where this program stands. Asked for later, a system may not know: cargo links it anew while tests are built.
    pub program: &'a Path,
}

struct Part {
    name: &'static str,
    about: &'static str,
    when: When,
    run: fn(&Ready<'_>) -> Result<()>,
}

/// Whether a part runs when no part is named.
enum When {
    Always,
    /// In CI, since it changes the machine.
    InCi,
}

/// In the order in which they run. A new kind of test is one line here.
const PARTS: &[Part] = &[
    Part {
        name: "native",
        about: "the library and the native program",
        when: When::Always,
        run: native,
    },
    Part {
        name: "xtask",
        about: "this program",
        when: When::Always,
        run: xtask,
    },
    Part {
        name: "fuzz",
        about: "the seeds of the fuzz targets",
        when: When::Always,
        run: |ready| cargo(ready, &["test", "--quiet", "--package", "fuzz"]),
    },
    Part {
        name: "worker",
        about: "the Worker in workerd",
        when: When::Always,
        run: worker,
    },
    Part {
        name: "ui",
        about: "the card in Chromium, fed by the Worker in workerd",
        when: When::Always,
        run: ui::test,
    },
    Part {
        name: "conformance",
        about: "the conformance suite and the schemas of the protocol",
        when: When::Always,
        run: |ready| cargo(ready, &["test", "--quiet", "--package", "conformance"]),
    },
    Part {
        name: "clients",
        about: "real clients",
        when: When::Always,
        run: |ready| cargo(ready, &["test", "--quiet", "--package", "clients"]),
    },
    Part {
        name: "size",
        about: "the Worker's size against its budget",
        when: When::Always,
        run: |ready| size::check(ready.root),
    },
    Part {
        name: "deploy",
        about: "what wrangler would deploy, without deploying it",
        when: When::Always,
        run: deploy,
    },
    Part {
        name: "fallback",
        about: "the build where rustup is out of reach",
        when: When::InCi,
        run: |ready| fallback::prove(ready.root, ready.program),
    },
];

/// Runs the parts with these names, or all of them.
pub fn test(ready: &Ready<'_>, names: &[String]) -> Result<()> {
    let known: BTreeSet<_> = PARTS.iter().map(|part| part.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name.as_str())) {
        bail!("no part is called {unknown:?}; there are {known:?}");
    }
    let start = Instant::now();
    let mut lines = Vec::new();
    let (mut passed, mut failed) = (0_u32, 0_u32);
    for part in PARTS {
        let asked_for = names.iter().any(|name| name == part.name);
        let due = match part.when {
            When::Always => true,
            When::InCi => std::env::var_os("CI").is_some(),
        };
        if !(asked_for || names.is_empty() && due) {
            continue;
        }
        eprintln!("\n== {}: {}", part.name, part.about);
        let part_start = Instant::now();
        let result = (part.run)(ready);
        let time = seconds(part_start.elapsed());
        match result {
            Ok(()) => {
                passed = passed.saturating_add(1);
                lines.push(format!("  passed  {}  {time}", part.name));
            }
            Err(error) => {
                failed = failed.saturating_add(1);
                lines.push(format!("  FAILED  {}  {time}: {error:#}", part.name));
            }
        }
    }
    println!("\n{}", lines.join("\n"));
    println!("all parts in {}", seconds(start.elapsed()));
    println!("parts: {passed} passed, {failed} failed");
    if failed > 0 {
        // The summary has said it: the exit code is all that is left to say.
        std::process::exit(1);
    }
    Ok(())
}

fn cargo(ready: &Ready<'_>, arguments: &[&str]) -> Result<()> {
    program::run_loud(
        Command::new(wasm32::cargo())
            .current_dir(ready.root)
            .args(arguments),
    )
}

fn native(ready: &Ready<'_>) -> Result<()> {
    cargo(ready, &["test", "--quiet"])
}

fn xtask(ready: &Ready<'_>) -> Result<()> {
    cargo(ready, &["test", "--quiet", "--package", "xtask"])
}

fn worker(ready: &Ready<'_>) -> Result<()> {
    // People sign in with a browser there.
    let browser = chromium::set_up()?;
    program::run_loud(
        Command::new(wasm32::cargo())
            .current_dir(ready.root)
            .args(["test", "--quiet", "--package", "e2e"])
            .env("CHROMIUM", browser),
    )
}

fn deploy(ready: &Ready<'_>) -> Result<()> {
    let mut command = ready.npm.script("wrangler/bin/wrangler.js")?;
    command
        .current_dir(ready.root)
        .args(["deploy", "--dry-run", "--outdir", "target/deploy"])
        .env("WRANGLER_SEND_METRICS", "false");
    program::run_loud(&mut command)
}
