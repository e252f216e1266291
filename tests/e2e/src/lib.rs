//! The built Worker in real workerd, on a free port, with a state of its own: what tests against it need.
//!
//! Building it is left to `cargo xtask build`, which `cargo xtask test` runs first.

// A harness may fail at once, like the tests that use it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(
    clippy::disallowed_methods,
    clippy::missing_panics_doc,
    clippy::format_push_string
)]

pub mod client;
pub mod mcp;
pub mod sign_in;
pub mod torture;

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use tempfile::TempDir;
use xtask::workerd::{Options, Server};

use client::{Client, Reply};

/// The static token of every server here, the same as in the shared tests.
pub const TOKEN: &str = "test-token-0123456789abcdef0123456789";

/// A Worker that is running or can be started again on what it stored.
pub struct Worker {
    server: Option<Server>,
    state: TempDir,
    variables: Vec<(String, String)>,
    modules: Vec<(String, PathBuf)>,
    reaches_loopback: bool,
    limits: bool,
    lines: Arc<Mutex<Vec<String>>>,
    probes: AtomicUsize,
}

impl Worker {
    /// With the static token and nothing else in its environment.
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With more variables, or with others in place of those of [`Worker::start`].
    pub fn start_with(variables: &[(&str, &str)]) -> Self {
        let mut worker = Self::prepare(variables);
        worker.restart();
        worker
    }

    /// With the faults of `faults.mjs` for the asking.
    pub fn start_breakable(variables: &[(&str, &str)]) -> Self {
        let mut worker = Self::prepare(variables);
        worker.wrap_glue("faults.mjs");
        worker.set_module("build/shifted.mjs", "shifted.mjs");
        worker.set_module("build/memory.js", "memory.mjs");
        worker.restart();
        worker
    }

    /// As [`Worker::start_with`], but not started: [`Worker::restart`] does that.
    pub fn prepare(variables: &[(&str, &str)]) -> Self {
        let mut all = vec![("MCP_API_TOKEN".to_owned(), TOKEN.to_owned())];
        for (name, value) in variables {
            all.retain(|(known, _)| known != name);
            all.push(((*name).to_owned(), (*value).to_owned()));
        }
        Self {
            server: None,
            state: TempDir::new().expect("a folder for the state"),
            variables: all,
            modules: Vec::new(),
            reaches_loopback: false,
            limits: false,
            lines: Arc::default(),
            probes: AtomicUsize::new(0),
        }
    }

    /// Lets it call a stand-in of another server on this machine.
    pub fn reach_loopback(&mut self) {
        self.reaches_loopback = true;
    }

    /// Makes the rate limits of `wrangler.toml` hold.
    pub fn limit(&mut self) {
        self.limits = true;
    }

    /// Changes what it is told from its next start on.
    pub fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
    }

    /// Puts a module of the tests in place of one of the Worker's, or beside them. The path is below `tests/e2e/src`,
    /// or below the repository's root if it begins with `/`.
    pub fn set_module(&mut self, name: &str, path: &str) {
        let path = match path.strip_prefix('/') {
            Some(path) => root().join(path),
            None => root().join("tests/e2e/src").join(path),
        };
        self.modules.push((name.to_owned(), path));
    }

    /// Puts a module of the tests in front of the glue, which it finds as `./glue.js`.
    pub fn wrap_glue(&mut self, path: &str) {
        self.set_module("build/index.js", path);
        self.set_module("build/glue.js", "/build/index.js");
    }

    /// Kills it as a crash would, and starts it again on the same state.
    pub fn restart(&mut self) {
        self.kill();
        let lines = Arc::clone(&self.lines);
        let options = Options {
            port: 0,
            state: self.state.path().to_owned(),
            variables: self.variables.iter().cloned().collect(),
            reaches_loopback: self.reaches_loopback,
            limits: self.limits,
            modules: self.modules.clone(),
            log: Box::new(move |line| {
                lines
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(line.to_owned());
            }),
        };
        match Server::start(&root(), options) {
            Ok(server) => self.server = Some(server),
            Err(error) => panic!("{error:#}\n{}", self.log().join("\n")),
        }
    }

    /// Ends it at once, without a word.
    pub fn kill(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
    }

    /// Everything that was printed since the first start, line by line.
    pub fn log(&self) -> Vec<String> {
        self.lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The same when all of it has come, from a Worker that was started with [`Worker::start_breakable`].
    pub fn whole_log(&self) -> Vec<String> {
        self.probe();
        let start = Instant::now();
        loop {
            let lines = self.log();
            // A mark at the end of each of the two pipes.
            let marks = |end| lines.iter().filter(|line| line.starts_with(end)).count();
            let probes = self.probes.load(Ordering::Relaxed);
            if marks("mark out") >= probes && marks("mark err") >= probes {
                return lines
                    .into_iter()
                    .filter(|line| !line.starts_with("mark "))
                    .collect();
            }
            assert!(start.elapsed() < client::TIMEOUT, "{lines:?}");
            thread::yield_now();
        }
    }

    /// What `faults.mjs` tells of itself.
    pub fn probe(&self) -> serde_json::Value {
        self.probes.fetch_add(1, Ordering::Relaxed);
        let reply = self.client().send("GET", "/", &[("x-probe", "1")], b"");
        reply.json()
    }

    /// The folder with everything stored.
    pub fn state(&self) -> &Path {
        self.state.path()
    }

    pub fn port(&self) -> u16 {
        self.server().port()
    }

    /// The process id, for measurements.
    pub fn id(&self) -> u32 {
        self.server().id()
    }

    pub fn client(&self) -> Client {
        Client::new(self.server().address())
    }

    pub fn get(&self, path: &str) -> Reply {
        self.client().send("GET", path, &[], b"")
    }

    fn server(&self) -> &Server {
        self.server.as_ref().expect("the Worker runs")
    }
}

/// The native program, built now if it is not.
pub fn native_program() -> PathBuf {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--bin", "durable-thinking"])
        .current_dir(root())
        .status();
    assert!(built.expect("cargo").success());
    let here = std::env::current_exe().expect("this program stands somewhere");
    let name = format!("durable-thinking{EXE_SUFFIX}");
    let program = here
        .ancestors()
        .map(|folder| folder.join(&name))
        .find(|program| program.is_file());
    program.expect("the program that was built")
}

pub fn root() -> PathBuf {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    crate_folder
        .ancestors()
        .nth(2)
        .expect("the repository's root")
        .to_owned()
}
