//! The native program. It reads its arguments, supplies what a host supplies, and decides nothing else.

use std::error::Error;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use clap::{Args, Parser, Subcommand};
use durable_thinking::command::https::Network;
use durable_thinking::command::owner;
use durable_thinking::command::{doctor, export, import, private_file, show};
use durable_thinking::config::Origin;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::local::{self, Local};
use durable_thinking::mcp::thinking::Thinking;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::Settings;
use durable_thinking::store::Store;
use durable_thinking::store::import::Imported;
use durable_thinking::view::export::Format;

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
    /// Draws a process of the local store as a page that only you may read, and opens it
    ///
    /// The sequence id is taken from standard input or a prompt.
    Show {
        /// Where to write the page [default: a new file in the folder for temporary ones]
        #[arg(long, value_name = "PATH")]
        output: Option<PathBuf>,
        /// Only write the file
        #[arg(long)]
        no_open: bool,
    },
    /// Examines a deployment and says how to put right what is wrong; the exit code is 1 if anything is
    ///
    /// The token is taken from `MCP_API_TOKEN` in the environment, or from standard input. Without it, what only the
    /// owner may do is left out.
    Doctor {
        /// The address, such as `https://durable-thinking.example.workers.dev`
        #[arg(value_parser = doctor::parse_address)]
        url: Origin,
    },
    /// Writes a whole process into one file that only you may read
    ///
    /// The sequence id is taken from standard input or a prompt.
    Export {
        #[arg(long, value_enum, default_value = "markdown")]
        format: Format,
        /// The file [default: thinking-process.md, .mmd or .json in this folder]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Makes a new sequence of an exported JSON document, or of a thought history, and prints its id
    Import {
        /// The document; `-` reads standard input
        #[arg(
            required_unless_present = "from_server",
            conflicts_with = "from_server"
        )]
        file: Option<PathBuf>,
        /// Reads the sequence from a running server of these tools instead
        ///
        /// The token is taken from `MCP_API_TOKEN` in the environment or from the first line of standard input, the
        /// sequence id from the next line.
        #[arg(long, value_name = "URL", value_parser = doctor::parse_address)]
        from_server: Option<Origin>,
    },
    /// Shows and ends what a server's sign-in gave away; the token is taken as `doctor` takes it
    Owner {
        /// The address of the server
        #[arg(value_parser = doctor::parse_address)]
        url: Origin,
        #[command(subcommand)]
        task: owner::Task,
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
        Some(Command::Show { output, no_open }) => show(&arguments.place, output, no_open),
        Some(Command::Doctor { url }) => return examine(url),
        Some(Command::Export { format, output }) => write_out(&arguments.place, format, output),
        Some(Command::Import {
            from_server: Some(server),
            ..
        }) => fetch(&arguments.place, &server),
        Some(Command::Import { file, .. }) => {
            take_in(&arguments.place, &file.unwrap_or_else(|| "-".into()))
        }
        Some(Command::Owner { url, task }) => ask_as_owner(&url, &task),
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

fn show(place: &Place, output: Option<PathBuf>, no_open: bool) -> Result<(), Box<dyn Error>> {
    let id = SequenceId::parse(&read_line("Sequence id: ")?)?;
    let store = Store::open(place.open()?)?;
    let (settings, _) = Settings::parse(|name| std::env::var(name).ok());
    let path = show::write(&store, &settings, &local::fresh()?, id, output)?;
    eprintln!("written to {}", path.display());
    if !no_open && show::open(&path).is_err() {
        eprintln!("nothing here opens it: open it in a browser");
    }
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

#[allow(clippy::print_stdout)] // the answer is what this command is asked for
fn ask_as_owner(url: &Origin, task: &owner::Task) -> Result<(), Box<dyn Error>> {
    let token = read_token().ok_or("the owner's commands need MCP_API_TOKEN")?;
    println!("{}", owner::ask(url, &token, task, &Network::default())?);
    Ok(())
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

fn write_out(place: &Place, format: Format, output: Option<PathBuf>) -> Result<(), Box<dyn Error>> {
    let id = SequenceId::parse(&read_line("Sequence id: ")?)?;
    let store = Store::open(place.open()?)?;
    let path = output.unwrap_or_else(|| format.file_name().into());
    let file = private_file::create(&path)?;
    let (settings, _) = Settings::parse(|name| std::env::var(name).ok());
    let mut out = BufWriter::new(file);
    let written = export::export(&store, &settings, &local::fresh()?, id, format, &mut out);
    if let Err(error) = written {
        // Half a process is worse than none.
        std::fs::remove_file(&path)?;
        return Err(error.into());
    }
    eprintln!("written to {}", path.display());
    Ok(())
}

fn take_in(place: &Place, file: &Path) -> Result<(), Box<dyn Error>> {
    let store = Store::open(place.open()?)?;
    let fresh = local::fresh()?;
    let imported = if file == Path::new("-") {
        import::import(&store, &fresh, io::stdin().lock())?
    } else {
        let input =
            File::open(file).map_err(|error| format!("cannot open {}: {error}", file.display()))?;
        import::import(&store, &fresh, BufReader::new(input))?
    };
    tell(&imported);
    Ok(())
}

fn fetch(place: &Place, server: &Origin) -> Result<(), Box<dyn Error>> {
    let token = read_token();
    let id = read_line("Sequence id: ")?;
    let store = Store::open(place.open()?)?;
    let imported = import::import_from_server(
        &store,
        &local::fresh()?,
        server,
        token.as_deref(),
        id.trim(),
        &Network::default(),
    )?;
    tell(&imported);
    Ok(())
}

#[allow(clippy::print_stdout)] // the id is what this command is asked for
fn tell(imported: &Imported) {
    println!("{}", imported.sequence_id);
    eprintln!(
        "imported {} thoughts and {} branches; the id above is the only key to them",
        imported.thoughts, imported.branches
    );
}

fn read_line(prompt: &str) -> io::Result<String> {
    if io::stdin().is_terminal() {
        eprint!("{prompt}");
    }
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
    Ok(line)
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
