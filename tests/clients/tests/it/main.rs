//! Real clients tell a whole story through the Worker in workerd, over both endpoints, and through the native program.

// Tests may fail at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::disallowed_methods)]

mod inspector;
mod rust;
mod sign_in;

use std::path::PathBuf;
use std::process::Command;

use e2e::{TOKEN, Worker, root};
use tempfile::TempDir;
use xtask::setup::npm;

/// What a client needs: a server to reach over HTTP, and a program to start.
struct Stage {
    worker: Worker,
    program: PathBuf,
    folder: TempDir,
}

impl Stage {
    fn set() -> Self {
        Self {
            worker: Worker::start(),
            program: e2e::native_program(),
            folder: TempDir::new().unwrap(),
        }
    }

    fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.worker.port())
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("thoughts.db")
    }
}

/// A command that runs a JavaScript program below `tests/clients`, whose packages the first one installs.
fn script(path: &str) -> Command {
    let folder = root().join("tests/clients");
    npm::set_up(&folder).unwrap();
    let mut command = npm::set_up(&root()).unwrap().node().unwrap();
    command.current_dir(&folder).arg(folder.join(path));
    command
}

#[track_caller]
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}\n{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

fn sdk(path: &str, cases: usize) {
    let stage = Stage::set();
    let text = run(script(path)
        .args([&stage.origin(), TOKEN])
        .args([&stage.program, &stage.database()]));
    assert_eq!(
        text.lines().filter(|line| line.starts_with("ok ")).count(),
        cases,
        "{text}"
    );
}

#[test]
fn typescript_sdk_1() {
    sdk("sdk1.mjs", 5);
}

#[test]
fn typescript_sdk_2() {
    sdk("sdk2.mjs", 9);
}
