//! `durable-thinking import`: a document of any length, or the history of another server, into the local store.
//!
//! It is one transaction, in which each thought is written while the next is read: memory holds one of them.

mod remote;

use std::io::{self, Read};

use crate::command::https::Https;
use crate::config::Origin;
use crate::database::Database;
use crate::fresh::Fresh;
use crate::sequence_id::SequenceId;
use crate::store::import::Imported;
use crate::store::{Error, Store};
use crate::view::document::read::read;

use remote::Pages;

/// Imports what `input` holds.
pub fn import<D: Database>(
    store: &Store<D>,
    fresh: &Fresh,
    input: impl Read,
) -> io::Result<Imported> {
    store
        .import_with(SequenceId::new(fresh.draw()), fresh, |importer| {
            read(input, importer, fresh.now)
        })
        .map_err(told)
}

/// Imports the sequence `id` of a running server of these tools, which keeps its own copy. The id goes to that server alone.
pub fn import_from_server<D: Database>(
    store: &Store<D>,
    fresh: &Fresh,
    server: &Origin,
    token: Option<&str>,
    id: &str,
    network: &dyn Https,
) -> io::Result<Imported> {
    let mut pages = Pages::open(server, token, id, network)?;
    let imported = store.import_with(SequenceId::new(fresh.draw()), fresh, |importer| {
        let note = read(&mut pages, importer, fresh.now)?;
        Ok(format!("{note}. It came from {server}"))
    });
    // What ended the pages says more than what that did to the reading.
    match pages.fault.take() {
        Some(fault) => Err(fault),
        None => imported.map_err(told),
    }
}

fn told(error: Error) -> io::Error {
    match error {
        Error::Refused(refusal) => io::Error::other(refusal.message),
        Error::Fault(fault) => io::Error::other(fault),
    }
}
