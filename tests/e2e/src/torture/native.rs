//! The native program as the victim: one process for each client, all of them on one file.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Line, Victim};

pub struct Native {
    program: PathBuf,
    folder: TempDir,
    running: Mutex<Vec<Child>>,
}

struct Pipe {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Native {
    /// Builds the program and begins with an empty file.
    pub fn start() -> Self {
        Self {
            program: crate::native_program(),
            folder: TempDir::new().unwrap(),
            running: Mutex::default(),
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--database")
            .arg(self.folder.path().join("thoughts.db"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        command
    }
}

impl Victim for Native {
    fn connect(&self) -> Box<dyn Line + '_> {
        let mut child = self.command().spawn().unwrap();
        let mut pipe = Pipe {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
        };
        self.running.lock().unwrap().push(child);
        let client = json!({ "name": "torture", "version": "1" });
        let hello =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        pipe.ask("initialize", &hello).expect("the program answers");
        Box::new(pipe)
    }

    fn kill(&self) {
        let mut running = self.running.lock().unwrap();
        for child in running.iter_mut() {
            child.kill().unwrap();
        }
        for mut child in running.drain(..) {
            child.wait().unwrap();
        }
    }

    /// Every connection starts its own.
    fn start(&mut self) {}

    fn export(&self, sequence: &str) -> Value {
        let file = self.folder.path().join("export.json");
        let mut child = self
            .command()
            .args(["export", "--format", "json", "--output"])
            .arg(&file)
            .spawn()
            .unwrap();
        writeln!(child.stdin.take().unwrap(), "{sequence}").unwrap();
        assert!(child.wait().unwrap().success());
        let text = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Pipe {
    fn ask(&mut self, method: &str, params: &Value) -> Option<Value> {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(self.input, "{message}").ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        // A line without an end is an answer that was cut off.
        if !line.ends_with('\n') {
            return None;
        }
        let mut answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["error"], Value::Null, "{answer}");
        Some(answer["result"].take())
    }
}

impl Line for Pipe {
    fn call(&mut self, tool: &str, arguments: &Value) -> Option<Value> {
        self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }
}
