//! `durable-thinking export`: a whole process from the local store into one file.

use std::io::{self, Write};

use crate::database::Database;
use crate::fresh::Fresh;
use crate::sequence_id::SequenceId;
use crate::settings::Settings;
use crate::store::{Error, Store};
use crate::view::export::{Export, Format};

/// Writes the process out, one page in memory at a time.
pub fn export<D: Database>(
    store: &Store<D>,
    settings: &Settings,
    fresh: &Fresh,
    id: SequenceId,
    format: Format,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut export = Export::new(id, format);
    while let Some(query) = export.next() {
        let page = store
            .history(query, settings, fresh.now)
            .map_err(|error| match error {
                Error::Refused(refusal) => io::Error::other(refusal.message),
                Error::Fault(fault) => io::Error::other(fault),
            })?;
        out.write_all(export.take(&page).as_bytes())?;
    }
    out.flush()
}
