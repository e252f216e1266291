//! Serves the built Worker in workerd, with a configuration made from `wrangler.toml`.
//!
//! Both `cargo xtask dev` and the tests against the real runtime start it here. Building is left to `wasm`.

mod config;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::manifest::Manifest;
use crate::setup::npm;
use crate::stamp::write;

/// How long the runtime may take until it answers its first request.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to end when asked to.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// What one server runs.
pub struct Options {
    /// 0 takes a free one.
    pub port: u16,
    /// The folder of everything stored.
    pub state: PathBuf,
    /// The Worker's environment, in place of the values in `wrangler.toml` where both have one.
    pub variables: BTreeMap<String, String>,
    /// Whether the Worker may reach servers on this machine, as tests with a stand-in of GitHub need.
    pub reaches_loopback: bool,
    /// Whether the rate limits of `wrangler.toml` hold. Tests that come often from one address do without.
    pub limits: bool,
    /// Files that take the place of modules of the Worker, or stand beside them, by the module's name.
    pub modules: Vec<(String, PathBuf)>,
    /// Where each line that the Worker or the runtime prints goes.
    pub log: Box<dyn FnMut(&str) + Send>,
}

/// A running workerd. Dropping it ends it.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts the Worker and returns when it answers requests. `root` is the repository's root.
    pub fn start(root: &Path, options: Options) -> Result<Self> {
        let manifest = Manifest::read(root)?;
        let binary = npm::set_up(root)?.workerd()?;
        let text = config::render(root, &manifest, &options)?;
        let file = options.state.join("workerd.capnp");
        write(&file, text.as_bytes())?;
        let mut command = Command::new(binary);
        command
            .arg("serve")
            .arg(&file)
            .arg(format!("--import-path={}", root.display()))
            .arg(format!(
                "--directory-path=state={}",
                options.state.display()
            ))
            .arg(format!("--socket-addr=http=127.0.0.1:{}", options.port))
            .arg("--control-fd=1")
            .current_dir(root)
            .envs(&options.variables)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // In a group of its own it does not get the terminal's Ctrl-C: whoever started it ends it.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command.spawn().context("cannot start workerd")?;
        let mut server = Self { child, port: 0 };
        server.port = server.wait_for_port(options.log)?;
        server.wait_for_answer()?;
        Ok(server)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks it to end, and ends it if it does not within a few seconds.
    pub fn stop(mut self) {
        #[cfg(unix)]
        {
            let id = i32::try_from(self.child.id()).ok();
            if let Some(id) = id.and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
                let start = Instant::now();
                while self.is_running() && start.elapsed() < STOP_TIMEOUT {
                    thread::sleep(Duration::from_millis(10));
                }
            }
        }
        // What is left is for `drop`.
    }

    /// Ends it as a crash would, with nothing written after this moment.
    pub fn kill(self) {
        drop(self);
    }

    /// Reads what it prints: the port from its first message, every other line into the log.
    fn wait_for_port(&mut self, mut log: Box<dyn FnMut(&str) + Send>) -> Result<u16> {
        let (send_line, lines) = mpsc::channel::<String>();
        let (send_port, port) = mpsc::channel::<u16>();
        let outputs: [Option<Box<dyn Read + Send>>; 2] = [
            self.child.stdout.take().map(|pipe| Box::new(pipe) as _),
            self.child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        for output in outputs.into_iter().flatten() {
            let send_line = send_line.clone();
            thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(Result::ok) {
                    if send_line.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send_line);
        thread::spawn(move || {
            let mut unsent = Some(send_port);
            for line in lines {
                let listening = unsent.is_some().then(|| parse_listen(&line)).flatten();
                match (listening, &unsent) {
                    (Some(number), Some(send)) => {
                        let _ = send.send(number);
                        unsent = None;
                    }
                    _ => log(&line),
                }
            }
        });
        port.recv_timeout(START_TIMEOUT)
            .ok()
            .context("workerd ended before it listened; what it said stands above")
    }

    fn wait_for_answer(&mut self) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < START_TIMEOUT {
            if !self.is_running() {
                bail!("workerd ended before it answered; what it said stands above");
            }
            if answers(self.address()) {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(20));
        }
        bail!(
            "the Worker did not answer within {} s",
            START_TIMEOUT.as_secs()
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes the folder and finds out whether files can be written there.
pub fn prepare_state(folder: &Path) -> Result<()> {
    let probe = folder.join(".probe");
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&probe, []))
        .and_then(|()| fs::remove_file(&probe))
        .with_context(|| format!("the state folder {} is not writable", folder.display()))
}

/// The port in `{"event":"listen","socket":"http","port":N}`.
fn parse_listen(line: &str) -> Option<u16> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    if message.get("event")?.as_str()? != "listen" {
        return None;
    }
    message.get("port")?.as_u64()?.try_into().ok()
}

/// Any answer counts: a Worker that lacks a setting answers 503 and is served all the same.
fn answers(address: SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else {
        return false;
    };
    let _ = stream.set_read_timeout(Some(START_TIMEOUT));
    let request = format!("GET /healthz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let mut start = [0; 5];
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_exact(&mut start).is_ok()
        && &start == b"HTTP/"
}
