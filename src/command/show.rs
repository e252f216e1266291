//! `durable-thinking show`: a process from the local store as one page to look at.
//!
//! The page itself is `view::page`, the process in it `export`'s document; asking for the id is left to `main`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{export, private_file};
use crate::database::Database;
use crate::fresh::Fresh;
use crate::sequence_id::SequenceId;
use crate::settings::Settings;
use crate::store::Store;
use crate::view::export::Format;
use crate::view::page;

/// Writes the page for its owner only. Without a path it is a new file in the folder for temporary ones, under a name
/// that tells nothing.
pub fn write<D: Database>(
    store: &Store<D>,
    settings: &Settings,
    fresh: &Fresh,
    id: SequenceId,
    path: Option<PathBuf>,
) -> io::Result<PathBuf> {
    let mut document = Vec::new();
    export::export(store, settings, fresh, id, Format::Json, &mut document)?;
    let document = String::from_utf8(document).map_err(io::Error::other)?;
    let path = path.unwrap_or_else(|| {
        let name = format!("thinking-process-{}.html", fresh.request_id());
        std::env::temp_dir().join(name)
    });
    private_file::create(&path)?.write_all(page::file(&document).as_bytes())?;
    Ok(path)
}

/// Asks the system to show the file. Whether something did is not known.
pub fn open(path: &Path) -> io::Result<()> {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    };
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.arg(path).spawn().map(drop)
}
