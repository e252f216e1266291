//! Proof that the second way to a Wasm compiler works: the first one is made to fail, and what the second one built
//! is served. It installs Debian's packages, so it runs where nobody minds: in CI, or when asked for by name.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::program;
use crate::setup::wasm32::TARGET;
use crate::stamp::write;
use crate::step::step;
use crate::wasm;
use crate::workerd::{Options, Server};

/// A compiler without a standard library for Wasm.
const RUSTC: &str = "#!/bin/sh\necho /nowhere\n";
/// A rustup that cannot reach its server.
const RUSTUP: &str = "#!/bin/sh\nexit 1\n";

/// Builds as on a machine where rustup is of no use, with this `program`, and serves the result.
pub fn prove(root: &Path, program: &Path) -> Result<()> {
    let work = root.join("target/fallback");
    // Nothing of an earlier run may help.
    for old in [&work, &root.join("target/wasm32-sysroot")] {
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
    }
    let programs = work.join("bin");
    script(&programs.join("rustc"), RUSTC)?;
    script(&programs.join("rustup"), RUSTUP)?;
    let built = work.join(wasm::FOLDER);
    step("building with rustup out of reach", || {
        let path = env::var_os("PATH").unwrap_or_default();
        let path =
            env::join_paths(std::iter::once(programs.clone()).chain(env::split_paths(&path)))?;
        program::run_loud(
            Command::new(program)
                .arg("build")
                .arg(&built)
                .env("PATH", path)
                .env_remove("RUSTC"),
        )
    })?;
    let library = root.join("target/wasm32-sysroot/lib/rustlib").join(TARGET);
    ensure!(library.exists(), "the build did not use Debian's compiler");
    let server = Server::start(
        root,
        Options {
            port: 0,
            state: work.join("state"),
            variables: BTreeMap::new(),
            reaches_loopback: false,
            limits: false,
            modules: modules(root, &built)?,
            log: Box::new(|line| eprintln!("{line}")),
        },
    )?;
    server.stop();
    Ok(())
}

/// What was built, under the names by which the entry knows the ordinary build.
fn modules(root: &Path, built: &Path) -> Result<Vec<(String, PathBuf)>> {
    let built = built
        .strip_prefix(root)
        .context("the build stands outside of the repository")?
        .to_string_lossy();
    wasm::list(root, &built)?
        .into_iter()
        .map(|file| {
            let name = file.strip_prefix(&*built).context("a file of the build")?;
            Ok((format!("{}{name}", wasm::FOLDER), root.join(&file)))
        })
        .collect()
}

fn script(path: &Path, text: &str) -> Result<()> {
    write(path, text.as_bytes())?;
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}
