//! The commands. `cargo xtask` without one lists them.

// This program runs on the developer's machine only.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Context, Result, bail};
use xtask::check::check;
use xtask::dev;
use xtask::fuzz::fuzz;
use xtask::identity;
use xtask::program;
use xtask::release::release;
use xtask::setup::npm::{self, Npm};
use xtask::setup::wasm32::{self, Compiler};
use xtask::test::{self, Ready};
use xtask::wasm;

const HELP: &str = "\
cargo xtask COMMAND

  dev [--wrangler]   build the Worker and serve it at http://127.0.0.1:8787
                     (environment: PORT, MCP_API_TOKEN, STATE_DIR)
  test [PART…]       run every test, or the parts named
  build [FOLDER]     build the Worker into build/, or into another folder
  check [PART…]      format, types, docs, registry; by name also app, contract,
                     supply (licenses, sources, unused crates), advisories
  bench [ADDRESS]    measure the Worker, and another server of the same tools beside it
                     (environment for the other: BENCH_TOKEN, BENCH_PID)
  bench ratios       measure only what has a target
  torture [ROUNDS [SEED]]
                     kill workerd and the native program under load, and look for what is lost
  soak [CALLS]       make mixed calls and watch the Worker's memory
  fuzz [TARGET] [SECONDS]
                     throw random input, guided by coverage, at every door or at one
  setup              bring what is missing on this machine, as all the others do by themselves
  secrets            print a fresh MCP_API_TOKEN
  rehome OWNER/REPO  move every link and name of the project to your fork
  release VERSION    commit the version everywhere and the changelog's heading
";

fn main() -> ExitCode {
    if let Some(code) = wasm::link::run() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let root = root()?;
    let mut words = arguments.iter().map(String::as_str);
    let command = words.next().unwrap_or("help");
    let rest: Vec<&str> = words.collect();
    match (command, rest.as_slice()) {
        ("dev", []) => {
            let settings = dev::Settings::read(&root)?;
            build(&root)?;
            dev::serve(&root, &settings)
        }
        ("dev", ["--wrangler"]) => {
            let settings = dev::Settings::read(&root)?;
            let npm = build(&root)?;
            dev::serve_with_wrangler(&root, &npm, &settings)
        }
        ("test", _) => {
            let npm = build(&root)?;
            let ready = Ready {
                root: &root,
                npm: &npm,
                program: &std::env::current_exe()?,
            };
            test::test(&ready, arguments.get(1..).unwrap_or_default())
        }
        ("build", []) => build(&root).map(drop),
        ("build", [folder]) => {
            wasm::build(&root, &wasm32::set_up(&root)?, &root.join(folder)).map(drop)
        }
        ("bench" | "torture" | "soak", arguments) => {
            build(&root)?;
            program::run_loud(
                Command::new(wasm32::cargo())
                    .current_dir(&root)
                    .args(["run", "--quiet", "--package", "e2e", "--bin", command])
                    .arg("--")
                    .args(arguments),
            )
        }
        ("fuzz", arguments) => fuzz(&root, arguments),
        ("check", names) => check(&root, &wasm32::set_up(&root)?, names),
        ("secrets", []) => dev::print_secret(),
        ("rehome", [address]) => {
            for path in identity::rehome(&root, address)? {
                println!("{path}");
            }
            Ok(())
        }
        ("release", [version]) => release(&root, version),
        ("setup", []) => set_up(&root).map(drop),
        ("help" | "--help" | "-h", _) => {
            print!("{HELP}");
            Ok(())
        }
        _ => bail!("`{}` is not understood\n\n{HELP}", arguments.join(" ")),
    }
}

fn root() -> Result<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_owned)
        .context("xtask stands in no folder")
}

fn set_up(root: &Path) -> Result<(Npm, Compiler)> {
    let npm = npm::set_up(root)?;
    Ok((npm, wasm32::set_up(root)?))
}

/// Sets up and builds. The npm packages come while the compiler works.
fn build(root: &Path) -> Result<Npm> {
    thread::scope(|scope| {
        let npm = scope.spawn(|| npm::set_up(root));
        let compiler = wasm32::set_up(root)?;
        wasm::build(root, &compiler, &root.join(wasm::FOLDER))?;
        npm.join()
            .unwrap_or_else(|_| bail!("the installation of npm packages crashed"))
    })
}
