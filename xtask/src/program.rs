//! Runs other programs, quietly when they succeed and with all they said when they do not.

use std::io::{ErrorKind, IsTerminal};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs to the end. What the program prints is shown only if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    output(command).map(drop)
}

/// Runs to the end and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let result = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| missing(command, error))?;
    if !result.status.success() {
        eprint!("{}", String::from_utf8_lossy(&result.stdout));
        eprint!("{}", String::from_utf8_lossy(&result.stderr));
        bail!("{} failed ({})", name(command), result.status);
    }
    String::from_utf8(result.stdout).with_context(|| format!("{} printed no text", name(command)))
}

/// Runs to the end with its messages on the terminal, or quietly where there is none.
pub fn run_with_progress(command: &mut Command) -> Result<()> {
    if std::io::stderr().is_terminal() {
        run_loud(command)
    } else {
        run(command)
    }
}

/// Runs to the end with its output shown as it comes.
pub fn run_loud(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| missing(command, error))?;
    if !status.success() {
        bail!("{} failed ({status})", name(command));
    }
    Ok(())
}

/// Whether the program exists and succeeds; what it prints is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

fn missing(command: &Command, error: std::io::Error) -> anyhow::Error {
    if error.kind() == ErrorKind::NotFound {
        anyhow::anyhow!("`{}` is not installed or not in PATH", name(command))
    } else {
        anyhow::Error::new(error).context(format!("cannot start {}", name(command)))
    }
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
