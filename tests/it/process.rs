//! The native binary over its pipes.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::lines::{Expected, lines};
use crate::runner::Host;
use crate::vectors::modern;

/// One process on one database.
pub struct Process {
    database: PathBuf,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    pub fn start(database: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_durable-thinking"))
            .arg("--database")
            .arg(database)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            database: database.to_owned(),
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    pub fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// The next line, which must be a message; `None` at the end of the output.
    #[track_caller]
    pub fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        if self.output.read_line(&mut line).unwrap() == 0 {
            return None;
        }
        assert!(line.ends_with('\n'));
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Closes the pipe, reads what is left and checks that the process ends well.
    #[track_caller]
    pub fn stop(&mut self) -> Vec<Value> {
        self.input = None;
        let rest: Vec<_> = std::iter::from_fn(|| self.read()).collect();
        assert!(self.child.wait().unwrap().success());
        rest
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Only after a failed test is it still there.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Host for Process {
    fn exchange(&mut self, _: &str, message: &Value) -> Option<Value> {
        self.write(&format!("{message}\n"));
        message.get("id")?;
        self.read()
    }

    fn restart(&mut self) -> bool {
        assert_eq!(self.stop(), Vec::<Value>::new());
        *self = Self::start(&self.database.clone());
        true
    }
}

fn scratch() -> (tempfile::TempDir, Process) {
    let folder = tempfile::tempdir().unwrap();
    let process = Process::start(&folder.path().join("thoughts.db"));
    (folder, process)
}

/// Vector 41.
#[test]
fn golden_lines() {
    let (_folder, mut process) = scratch();
    for (line, expected) in lines() {
        process.write(&format!("{line}\n"));
        if matches!(expected, Expected::Nothing) {
            continue;
        }
        expected.check(&process.read().unwrap());
    }
    assert_eq!(process.stop(), Vec::<Value>::new());
}

#[test]
fn a_handshake_may_come_in_one_write() {
    let (_folder, mut process) = scratch();
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } });
    let ping = json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    process.write(&format!(
        "{ping}\n{initialize}\n{ping}\r\n\n{initialized}\n{list}"
    ));
    let answers = process.stop();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [json!("p"), json!(0), json!("p"), json!(1)]);
    assert_eq!(answers[1]["result"]["protocolVersion"], "2025-06-18");
    assert!(answers[3]["result"]["tools"].is_array());
}

#[test]
fn dirty_frames_are_answered_and_survived() {
    let (_folder, mut process) = scratch();
    let long = "x".repeat(1024 * 1024 + 1);
    let discover = modern(1, "server/discover", json!({}));
    for dirt in [
        "{bad",
        "\u{feff}{}",
        "\0\0\0",
        &long,
        "Content-Length: 20\r",
        "[[[[",
        "\"text\"",
        "12",
    ] {
        process.write(&format!("{dirt}\n{discover}\n"));
        let refusal = process.read().unwrap();
        assert!(
            refusal["error"]["code"].is_i64() && refusal.get("id").is_none(),
            "{refusal}"
        );
        assert_eq!(process.read().unwrap()["id"], 1);
    }
    process
        .input
        .as_mut()
        .unwrap()
        .write_all(b"{\"\xff\xfe\":1}\n")
        .unwrap();
    assert_eq!(process.read().unwrap()["error"]["code"], -32700);
    assert_eq!(process.stop(), Vec::<Value>::new());
}

#[test]
fn a_cancellation_takes_back_what_still_waits() {
    let (_folder, mut process) = scratch();
    let list = |id: &str| modern(id, "tools/list", json!({}));
    let cancel = |id: Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    // While the first is being answered the rest arrives, so the cancellation can overtake its request.
    let mut text = String::new();
    for _ in 0..8 {
        text += &format!("{}\n", list("kept"));
    }
    text += &format!("{}\n{}\n", list("taken back"), cancel(json!("taken back")));
    for odd in [
        json!("kept, but answered"),
        json!(null),
        json!({}),
        json!(1.5),
    ] {
        text += &format!("{}\n", cancel(odd));
    }
    process.write(&text);
    let answers = process.stop();
    assert!(answers.len() == 8 || answers.len() == 9);
    assert!(
        answers
            .iter()
            .filter(|answer| answer["id"] == "kept")
            .count()
            == 8
    );
}

#[test]
fn a_subscription_stays_open_until_the_pipe_closes() {
    let (_folder, mut process) = scratch();
    let listen = modern(5, "subscriptions/listen", json!({ "notifications": {} }));
    process.write(&format!(
        "{listen}\n{}\n",
        modern(6, "tools/list", json!({}))
    ));
    let acknowledged = process.read().unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(process.read().unwrap()["id"], 6);
    assert_eq!(process.stop(), Vec::<Value>::new());
}

#[cfg(unix)]
#[test]
fn the_end_of_the_process_is_not_the_end_of_a_thought() {
    let (folder, mut process) = scratch();
    let mut strand = crate::strand::Strand::new(1);
    strand.write(&mut process);
    let id = process.child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &id])
            .status()
            .unwrap()
            .success()
    );
    assert!(!process.child.wait().unwrap().success());
    let mut next = Process::start(&folder.path().join("thoughts.db"));
    strand.check(&mut next);
    strand.write(&mut next);
    next.stop();
}

#[cfg(unix)]
#[test]
fn only_their_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, mut process) = scratch();
    crate::strand::Strand::new(1).write(&mut process);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", entry.path().display());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["thoughts.db", "thoughts.db-shm", "thoughts.db-wal"]);
    process.stop();
}

#[test]
fn thoughts_are_kept_where_the_command_line_says() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_durable-thinking"))
            .args(arguments)
            .env("XDG_DATA_HOME", folder.path().join("data"))
            .env("HOME", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    assert_eq!(run(&["--in-memory"]), (true, String::new()));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(run(&["stdio", "--database", "here.db"]).0);
    assert!(folder.path().join("here.db").is_file());
    assert!(!run(&["--database", "here.db/not-a-folder.db"]).0);
    assert!(!run(&["--database", "here.db", "--in-memory"]).0);
    if cfg!(target_os = "linux") {
        assert!(run(&[]).0);
        assert!(
            folder
                .path()
                .join("data/durable-thinking/thoughts.db")
                .is_file()
        );
    }
    let (one, two) = (run(&["token"]).1, run(&["token"]).1);
    assert_eq!((one.trim().len(), one == two), (43, false));
}
