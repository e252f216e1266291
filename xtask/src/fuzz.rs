//! `cargo xtask fuzz`: lets libFuzzer choose the input of every door that `fuzz` has.
//!
//! It needs no nightly compiler: what tells libFuzzer the way through the code is a pass of LLVM, which stable flags turn on.
//! What stays out without nightly is the address sanitizer, and this project has no unsafe code for it to watch. `fuzz` is
//! laid out as `cargo fuzz` wants it, for whoever has that at hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::program;
use crate::setup::wasm32;
use crate::step::step;

/// What `cargo fuzz` passes too: counters at every edge, a table of them, and the values that are compared.
const COVERAGE: [&str; 5] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];
/// Built apart, since these flags would build everything else anew.
const FOLDER: &str = "target/fuzz";
const SECONDS: u32 = 60;
/// A single input that takes longer is reported as a hang.
const TIMEOUT_SECONDS: u32 = 10;
const INPUT_BYTES_MAX: u32 = 16 * 1024;
const MEMORY_MEGABYTES_MAX: u32 = 1024;

/// Runs the target with this name, or one after another, for so many seconds each.
pub fn fuzz(root: &Path, arguments: &[&str]) -> Result<()> {
    let known = targets(root)?;
    let (names, seconds) = read(arguments, &known)?;
    let folder = step("building the fuzz targets", || build(root))?;
    for name in names {
        run(root, &folder, &name, seconds)?;
    }
    Ok(())
}

/// `[TARGET] [SECONDS]`, in this order; either may be left out.
fn read(arguments: &[&str], known: &[String]) -> Result<(Vec<String>, u32)> {
    let is_known = |name: &str| known.iter().any(|it| it == name);
    let (names, rest) = match arguments {
        [name, rest @ ..] if is_known(name) => (vec![(*name).to_owned()], rest),
        rest => (known.to_vec(), rest),
    };
    let seconds = match rest {
        [] => SECONDS,
        [text] => match text.parse() {
            Ok(seconds @ 1..) => seconds,
            _ => bail!(
                "{text:?} is no target and no number of seconds; the targets are {}",
                known.join(", ")
            ),
        },
        _ => bail!("at most a target and a number of seconds are understood"),
    };
    Ok((names, seconds))
}

/// The names of the targets: each is one file.
fn targets(root: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root.join("fuzz/targets")).context("fuzz/targets is missing")? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str());
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Builds every target and returns the folder they stand in. The host is named, so that the flags do not reach what runs
/// while cargo builds.
fn build(root: &Path) -> Result<PathBuf> {
    let host = host()?;
    program::run_with_progress(
        Command::new(wasm32::cargo())
            .current_dir(root)
            .args(["build", "--quiet", "--package", "fuzz", "--bins"])
            .args(["--features", "libfuzzer", "--target", &host])
            .args(["--target-dir", FOLDER])
            .env("CARGO_ENCODED_RUSTFLAGS", COVERAGE.join("\u{1f}"))
            .env("CARGO_PROFILE_DEV_OPT_LEVEL", "3"),
    )?;
    Ok(root.join(FOLDER).join(host).join("debug"))
}

fn host() -> Result<String> {
    let version = program::output(Command::new("rustc").arg("-vV"))?;
    let line = version.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).context("rustc names no host")
}

/// What is found lies in `target`; the seeds are only read.
fn run(root: &Path, folder: &Path, name: &str, seconds: u32) -> Result<()> {
    let work = root.join(FOLDER).join("corpus").join(name);
    let artifacts = root.join(FOLDER).join("artifacts").join(name);
    fs::create_dir_all(&work)?;
    fs::create_dir_all(&artifacts)?;
    eprintln!("\n== {name}: {seconds} s");
    program::run_loud(
        Command::new(folder.join(name))
            .arg(work)
            .arg(root.join("fuzz/corpus").join(name))
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-timeout={TIMEOUT_SECONDS}"))
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .arg(format!("-rss_limit_mb={MEMORY_MEGABYTES_MAX}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg("-print_final_stats=1")
            .arg("-verbosity=1"),
    )
    .with_context(|| {
        let artifacts = artifacts.display();
        format!("{name} broke a promise; the input lies in {artifacts}. Make it a seed and a test")
    })
}

#[cfg(test)]
mod tests {
    use super::{SECONDS, read};

    #[track_caller]
    fn check(arguments: &[&str], expected: Option<(&[&str], u32)>) {
        let known = ["cursor", "form"].map(str::to_owned);
        let found = read(arguments, &known).ok();
        let expected = expected.map(|(names, seconds)| {
            let names = names.iter().map(|name| (*name).to_owned());
            (names.collect::<Vec<_>>(), seconds)
        });
        assert_eq!(found, expected, "{arguments:?}");
    }

    #[test]
    fn a_target_and_a_time_may_be_named() {
        check(&[], Some((&["cursor", "form"], SECONDS)));
        check(&["form"], Some((&["form"], SECONDS)));
        check(&["7"], Some((&["cursor", "form"], 7)));
        check(&["form", "7"], Some((&["form"], 7)));
        for wrong in [
            &["nope"][..],
            &["0"],
            &["-1"],
            &["form", "x"],
            &["form", "7", "8"],
        ] {
            check(wrong, None);
        }
    }
}
