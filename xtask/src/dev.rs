//! `cargo xtask dev`: builds the Worker, serves it on this machine and says how to connect.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::clients;
use crate::program;
use crate::setup::npm::Npm;
use crate::workerd::{self, Options, Server};

const PORT: u16 = 8787;
const STATE: &str = ".wrangler/state";
const SECRETS: &str = ".dev.vars";
const TOKEN: &str = "MCP_API_TOKEN";

/// What the environment and `.dev.vars` say about a local server.
pub struct Settings {
    port: u16,
    state: PathBuf,
    variables: BTreeMap<String, String>,
}

impl Settings {
    /// Reads the settings, makes a token if there is none, and finds out now whether the server could start.
    pub fn read(root: &Path) -> Result<Self> {
        let port = match env::var("PORT") {
            Ok(text) => text
                .parse()
                .with_context(|| format!("PORT is {text:?}, not a port number"))?,
            Err(_) => PORT,
        };
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_err() {
            bail!(
                "port {port} is taken: stop what listens there, or choose another with PORT={}",
                port.wrapping_add(1)
            );
        }
        let state = root.join(env::var_os("STATE_DIR").unwrap_or_else(|| STATE.into()));
        workerd::prepare_state(&state)?;
        Ok(Self {
            port,
            state,
            variables: variables(root)?,
        })
    }

    fn print_clients(&self, port: u16) {
        let kept_in = if env::var_os(TOKEN).is_some() {
            "from the environment"
        } else {
            "kept in .dev.vars"
        };
        let token = self.variables.get(TOKEN).map_or("", String::as_str);
        clients::print(port, token, kept_in);
    }
}

/// Serves in workerd until Ctrl-C.
pub fn serve(root: &Path, settings: &Settings) -> Result<()> {
    let stop = stop_signal()?;
    let mut server = Server::start(
        root,
        Options {
            port: settings.port,
            state: settings.state.clone(),
            variables: settings.variables.clone(),
            reaches_loopback: false,
            limits: true,
            modules: Vec::new(),
            log: Box::new(|line| eprintln!("{line}")),
        },
    )?;
    println!("Ready at http://127.0.0.1:{}", server.port());
    settings.print_clients(server.port());
    println!("\nCtrl-C stops it; what was stored stays.");
    while stop.recv_timeout(Duration::from_millis(200)).is_err() {
        if !server.is_running() {
            bail!("workerd ended by itself; what it said stands above");
        }
    }
    server.stop();
    eprintln!("stopped");
    Ok(())
}

/// Serves through `wrangler dev`, which reads `wrangler.toml` and `.dev.vars` itself.
pub fn serve_with_wrangler(root: &Path, npm: &Npm, settings: &Settings) -> Result<()> {
    let mut command = npm.script("wrangler/bin/wrangler.js")?;
    command
        .current_dir(root)
        .args(["dev", "--ip", "127.0.0.1", "--inspector-port", "0"])
        .args(["--port", &settings.port.to_string(), "--persist-to"])
        .arg(&settings.state)
        .env("WRANGLER_SEND_METRICS", "false")
        .env("CLOUDFLARE_CF_FETCH_ENABLED", "false");
    println!("wrangler starts; when it is ready:");
    settings.print_clients(settings.port);
    program::run_loud(&mut command)
}

/// A message arrives when the user or the system asks this program to end.
fn stop_signal() -> Result<mpsc::Receiver<()>> {
    let (send, stop) = mpsc::channel();
    ctrlc::set_handler(move || {
        let _ = send.send(());
    })
    .context("cannot wait for Ctrl-C")?;
    Ok(stop)
}

/// `.dev.vars`, with a fresh token where it has none, and the token of the environment above both.
fn variables(root: &Path) -> Result<BTreeMap<String, String>> {
    let path = root.join(SECRETS);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {SECRETS}")),
    };
    let mut variables = parse_variables(&text);
    if let Ok(token) = env::var(TOKEN) {
        variables.insert(TOKEN.to_owned(), token);
    } else if !variables.contains_key(TOKEN) {
        let token = fresh_token()?;
        append_secret(&path, &format!("{TOKEN}={token}\n"))?;
        variables.insert(TOKEN.to_owned(), token);
    }
    Ok(variables)
}

/// Lines of `NAME=value`, the value perhaps in quotes; empty lines and comments are passed over.
fn parse_variables(text: &str) -> BTreeMap<String, String> {
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| {
            let value = value.trim();
            let bare = ['"', '\'']
                .iter()
                .find_map(|&quote| value.strip_prefix(quote)?.strip_suffix(quote))
                .unwrap_or(value);
            (name.trim().to_owned(), bare.to_owned())
        })
        .collect()
}

/// Prints a line for `.dev.vars`, or for the dashboard.
pub fn print_secret() -> Result<()> {
    println!("{TOKEN}={}", fresh_token()?);
    Ok(())
}

fn fresh_token() -> Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).context("the system gives no random bytes")?;
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// Adds to a file that only its owner can read.
fn append_secret(path: &Path, line: &str) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options
        .open(path)
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.write_all(line.as_bytes())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{fresh_token, parse_variables};

    #[test]
    fn variables_are_read_as_wrangler_reads_them() {
        let found = parse_variables("# comment\n\nA=1\nB = \"two words\"\nC='x=y'\nnonsense\n");
        let found: Vec<_> = found
            .iter()
            .map(|(n, v)| (n.as_str(), v.as_str()))
            .collect();
        assert_eq!(found, [("A", "1"), ("B", "two words"), ("C", "x=y")]);
    }

    #[test]
    fn tokens_are_long_and_differ() {
        let (one, other) = (fresh_token().unwrap(), fresh_token().unwrap());
        assert_eq!(one.len(), 64);
        assert_ne!(one, other);
    }
}
