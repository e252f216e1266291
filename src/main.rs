//! The native program. It reads its arguments, supplies what a host supplies, and decides nothing else.

use std::error::Error;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::{Args, Parser, Subcommand};
use durable_thinking::command::doctor;
use durable_thinking::command::https::Network;
use durable_thinking::config::Origin;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::local::{self, Local};
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::settings::Settings;
use durable_thinking::store::Store;

/// Sequential thinking for MCP clients that survives the process.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Speaks MCP over standard input and output (this is the default)
    Stdio,
    /// Prints a fresh secret, fit for `MCP_API_TOKEN`
    Token,
    /// Examines a deployment and says how to put right what is wrong; the exit code is 1 if anything is
    ///
    /// The token is taken from `MCP_API_TOKEN` in the environment, or from standard input. Without it, what only the
    /// owner may do is left out.
    Doctor {
        /// The address, such as `https://durable-thinking.example.workers.dev`
        #[arg(value_parser = doctor::parse_address)]
        url: Origin,
    },
}

/// Where thoughts are stored.
#[derive(Debug, Args)]
struct Place {
    /// The database file [default: durable-thinking/thoughts.db in the user's data folder]
    #[arg(long, value_name = "PATH", global = true, conflicts_with = "in_memory")]
    database: Option<PathBuf>,
    /// Store nothing on disk: what is thought ends with the process
    #[arg(long, global = true)]
    in_memory: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = match arguments.command {
        None | Some(Command::Stdio) => stdio(&arguments.place),
        Some(Command::Token) => token(),
        Some(Command::Doctor { url }) => return examine(url),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("durable-thinking: {error}");
            ExitCode::FAILURE
        }
    }
}

fn stdio(place: &Place) -> Result<(), Box<dyn Error>> {
    let (settings, problems) = Settings::parse(|name| std::env::var(name).ok());
    for problem in problems {
        eprintln!("durable-thinking: {} {}", problem.name, problem.reason);
    }
    let host = Local {
        store: Store::open(place.open()?)?,
        settings: settings.clone(),
    };
    if io::stdin().is_terminal() {
        eprintln!("durable-thinking: waiting for an MCP client on standard input; see --help");
    }
    match local::serve(Thinking { settings, host }, io::stdout().lock()) {
        // The client is gone, and with it the reason to go on.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

#[allow(clippy::print_stdout)] // the secret is what this command is asked for
#[allow(clippy::disallowed_methods)] // this is the host whose chance it is
fn token() -> Result<(), Box<dyn Error>> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)?;
    println!("{}", URL_SAFE_NO_PAD.encode(secret));
    Ok(())
}

#[allow(clippy::print_stdout)] // the report is what this command is asked for
fn examine(url: Origin) -> ExitCode {
    let token = read_token();
    let report = doctor::examine(url, token.as_deref(), &Network::default());
    println!("{report}");
    if report.is_well() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// The token from the environment, from a prompt or from a pipe. Never from an argument, which others could read.
fn read_token() -> Option<String> {
    let given = std::env::var("MCP_API_TOKEN").ok().or_else(|| {
        if io::stdin().is_terminal() {
            eprint!("MCP_API_TOKEN (empty leaves out what needs it): ");
        }
        let mut line = String::new();
        io::stdin().read_line(&mut line).ok()?;
        Some(line)
    })?;
    let token = given.trim();
    (!token.is_empty()).then(|| token.to_owned())
}

impl Place {
    fn open(&self) -> Result<Sqlite, Box<dyn Error>> {
        if self.in_memory {
            return Ok(Sqlite::open_in_memory()?);
        }
        let path = match &self.database {
            Some(path) => path.clone(),
            None => dirs::data_dir()
                .ok_or("the user's data folder is not known; say where with --database PATH")?
                .join("durable-thinking")
                .join("thoughts.db"),
        };
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            private_folder(folder)
                .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        }
        Sqlite::open(&path)
            .map_err(|error| format!("cannot open {}: {error}", path.display()).into())
    }
}

/// Makes a folder that only its owner can look into. One that exists stays as it is.
fn private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(folder)
}
