//! The npm packages that the lockfile pins: workerd, wrangler and, for machines with an older one, Node itself.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};

use crate::program;
use crate::stamp::Stamp;
use crate::step::step;

/// What wrangler asks for.
const NODE_MIN: (u32, u32) = (22, 12);

/// The installed packages.
pub struct Npm {
    modules: PathBuf,
}

/// Tests that run side by side may ask for one folder at the same moment, and npm does not share one.
static INSTALLING: Mutex<()> = Mutex::new(());

/// Installs the packages of the lockfile unless they already stand there. Their install scripts are not run:
/// every program that is used here comes complete in its package.
pub fn set_up(root: &Path) -> Result<Npm> {
    let _alone = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let modules = root.join("node_modules");
    let lock = root.join("package-lock.json");
    let lock = fs::read(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let stamp = Stamp::new(modules.join(".xtask"), &[&lock]);
    if !stamp.is_current() {
        step("installing npm packages", || {
            program::run(Command::new(program()).current_dir(root).args([
                "ci",
                "--ignore-scripts",
                "--no-fund",
                "--no-audit",
            ]))
            .context("Node 20 or newer with npm is needed")
        })?;
        stamp.set()?;
    }
    Ok(Npm { modules })
}

/// npm itself, which is a script on Windows.
pub fn program() -> &'static str {
    if cfg!(windows) { "npm.cmd" } else { "npm" }
}

impl Npm {
    /// The workerd binary of this platform.
    pub fn workerd(&self) -> Result<PathBuf> {
        let (package, binary) = match (env::consts::OS, env::consts::ARCH) {
            ("linux", "x86_64") => ("workerd-linux-64", "workerd"),
            ("linux", "aarch64") => ("workerd-linux-arm64", "workerd"),
            ("macos", "x86_64") => ("workerd-darwin-64", "workerd"),
            ("macos", "aarch64") => ("workerd-darwin-arm64", "workerd"),
            ("windows", "x86_64") => ("workerd-windows-64", "workerd.exe"),
            (system, machine) => bail!("workerd does not exist for {system} on {machine}"),
        };
        let path = self
            .modules
            .join("@cloudflare")
            .join(package)
            .join("bin")
            .join(binary);
        if !path.is_file() {
            bail!("npm did not install {package}: delete node_modules and try again");
        }
        Ok(path)
    }

    /// A command that runs a JavaScript program of an installed package, by its path below `node_modules`.
    pub fn script(&self, path: &str) -> Result<Command> {
        let mut command = self.node()?;
        command.arg(self.modules.join(path));
        Ok(command)
    }

    /// Node, recent enough for every package here, with itself first in the search path of what it starts.
    pub fn node(&self) -> Result<Command> {
        let binaries = self.modules.join(".bin");
        let packaged = binaries.join("node");
        let mut command = if packaged.exists() {
            Command::new(packaged)
        } else {
            Command::new("node")
        };
        let found = program::output(Command::new(command.get_program()).arg("--version"))?;
        if parse_version(&found).is_none_or(|version| version < NODE_MIN) {
            let (major, minor) = NODE_MIN;
            bail!(
                "Node {major}.{minor} or newer is needed for this; here is {}",
                found.trim()
            );
        }
        command.env("PATH", path_with(&binaries)?);
        Ok(command)
    }
}

fn path_with(first: &Path) -> Result<OsString> {
    let rest = env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(first.to_owned()).chain(env::split_paths(&rest));
    env::join_paths(all).context("the folder's path cannot stand in PATH")
}

fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{NODE_MIN, parse_version};

    #[test]
    fn versions_are_compared_as_numbers() {
        for (text, new_enough) in [
            ("v22.12.0\n", true),
            ("v24.1.9", true),
            ("v22.9.0", false),
            ("v9.99.0", false),
        ] {
            let version = parse_version(text).unwrap();
            assert_eq!(version >= NODE_MIN, new_enough, "{text}");
        }
        assert_eq!(parse_version("none"), None);
    }
}
