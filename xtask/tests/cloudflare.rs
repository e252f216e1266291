//! `xtask/build.mjs` on a machine like Cloudflare's build image: Node and a shell, but no Rust. What rustup's installer
//! would do is played by a `curl` of the test's own; all else is real.

// Tests may fail at once.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// Installs a `cargo` that notes how it was called, as `sh.rustup.rs` would install the real one.
const CURL: &str = r#"#!/bin/sh
cat <<'END'
echo "$@" > "$HOME/rustup-arguments"
mkdir -p "$HOME/.cargo/bin"
printf '#!/bin/sh\n[ "$1" = --version ] || echo "$@" >> "$HOME/cargo-calls"\n' > "$HOME/.cargo/bin/cargo"
chmod +x "$HOME/.cargo/bin/cargo"
END
"#;

struct Machine {
    folder: TempDir,
}

impl Machine {
    /// With a copy of what the build reads.
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for path in [
            "src",
            "ui",
            ".cargo",
            "build.rs",
            "Cargo.toml",
            "Cargo.lock",
            "xtask",
        ] {
            copy(&root.join(path), &machine.at("repository").join(path));
        }
        let programs = machine.at("bin");
        fs::create_dir_all(&programs).unwrap();
        for name in ["node", "bash", "sh", "env", "cat", "mkdir", "chmod"] {
            symlink(find(name), programs.join(name)).unwrap();
        }
        let curl = programs.join("curl");
        fs::write(&curl, CURL).unwrap();
        fs::set_permissions(&curl, fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn build(&self, arguments: &[&str], on_cloudflare: bool) -> Output {
        let mut command = Command::new(self.at("bin/node"));
        command
            .arg(self.at("repository/xtask/build.mjs"))
            .args(arguments)
            .env_clear()
            .env("PATH", self.at("bin"))
            .env("HOME", self.folder.path());
        if on_cloudflare {
            command.env("WORKERS_CI", "1");
        }
        command.output().unwrap()
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.at(path)).ok()
    }
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

fn find(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = places.find(|place| place.is_file()).expect(name);
    found.canonicalize().unwrap()
}

#[test]
fn rust_is_brought_on_cloudflare_only_and_once() {
    let machine = Machine::new();
    let elsewhere = machine.build(&[], false);
    assert!(!elsewhere.status.success());
    assert_eq!(
        String::from_utf8(elsewhere.stderr).unwrap(),
        "error: cargo is not installed or not in PATH: see https://rustup.rs\n"
    );
    assert_eq!(machine.read("rustup-arguments"), None);

    for _ in 0..2 {
        let output = machine.build(&[], true);
        assert!(output.status.success(), "{output:?}");
    }
    let arguments = machine.read("rustup-arguments").unwrap();
    let version = env!("CARGO_PKG_RUST_VERSION");
    assert_eq!(
        arguments.trim(),
        format!(
            "-y --no-modify-path --profile minimal --default-toolchain {version} --target wasm32-unknown-unknown"
        )
    );
    assert_eq!(
        machine.read("cargo-calls").unwrap(),
        "xtask build\nxtask build\n"
    );
    fs::remove_file(machine.at("rustup-arguments")).unwrap();
    assert!(machine.build(&[], true).status.success());
    assert_eq!(machine.read("rustup-arguments"), None, "installed twice");
}

#[test]
fn a_sealed_build_is_used_until_a_source_changes() {
    let machine = Machine::new();
    fs::create_dir(machine.at("repository/build")).unwrap();
    assert!(machine.build(&["--seal"], false).status.success());
    let output = machine.build(&[], true);
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "build/ holds the Worker of these sources\n"
    );
    assert_eq!(machine.read("cargo-calls"), None);

    let source = machine.at("repository/src/main.rs");
    let text = fs::read_to_string(&source).unwrap();
    fs::write(&source, text.replace('\n', "\r\n")).unwrap();
    assert!(machine.build(&[], true).status.success());
    assert_eq!(machine.read("cargo-calls"), None, "line ends are no change");

    fs::write(&source, format!("{text}\n// changed\n")).unwrap();
    assert!(machine.build(&[], true).status.success());
    assert_eq!(machine.read("cargo-calls").unwrap(), "xtask build\n");
}
