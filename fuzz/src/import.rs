//! Files that people bring: documents of this program, and history pages of others.

use std::cell::Cell;

use durable_thinking::clock::Timestamp;
use durable_thinking::database::sqlite::Sqlite;
use durable_thinking::fresh::Fresh;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::settings::Settings;
use durable_thinking::store::{Error, Store};
use durable_thinking::view::document::read::read;
use durable_thinking::view::export::{Export, Format};

thread_local! {
    static STORE: Store<Sqlite> = Store::open(Sqlite::open_in_memory().expect("memory")).expect("a schema");
    static RUNS: Cell<u64> = const { Cell::new(0) };
}

/// A call of its own: no two runs share an id.
fn fresh() -> Fresh {
    let run = RUNS.get() + 1;
    RUNS.set(run);
    let mut seed = [1; 32];
    seed[..8].copy_from_slice(&run.to_be_bytes());
    Fresh::new(Timestamp::from_milliseconds(1_796_046_300_000), seed)
}

/// Bytes as a file to import. It is refused whole, as the caller's fault, or the process that it made is written out and read
/// in again as the same.
pub fn import(data: &[u8]) {
    STORE.with(|store| {
        let Some(id) = take(store, data) else {
            return;
        };
        let first = export(store, id);
        let copy = take(store, first.as_bytes()).expect("what was written out is read in");
        assert_eq!(thoughts(&export(store, copy)), thoughts(&first));
        for id in [id, copy] {
            let deleted = store.delete(&id, &Settings::default(), fresh().now);
            assert!(deleted.expect("no fault").is_some());
        }
    });
}

fn take(store: &Store<Sqlite>, data: &[u8]) -> Option<SequenceId> {
    let fresh = fresh();
    let id = SequenceId::new(fresh.draw());
    match store.import_with(id, &fresh, |importer| read(data, importer, fresh.now)) {
        Ok(imported) => Some(imported.sequence_id),
        Err(Error::Refused(_)) => None,
        Err(Error::Fault(fault)) => panic!("{fault}"),
    }
}

fn export(store: &Store<Sqlite>, id: SequenceId) -> String {
    let mut export = Export::new(id, Format::Json);
    let mut text = String::new();
    while let Some(query) = export.next() {
        let page = store.history(query, &Settings::default(), fresh().now);
        text.push_str(&export.take(&page.unwrap_or_else(|error| panic!("{error}"))));
    }
    text
}

fn thoughts(document: &str) -> serde_json::Value {
    let mut document: serde_json::Value = serde_json::from_str(document).expect("a document");
    document["thoughts"].take()
}
