//! How long an import lives: its thoughts keep the times at which they were written, but it counts from when it came.

use durable_thinking::clock::Timestamp;
use durable_thinking::sequence_id::SequenceId;
use durable_thinking::store::import::{Import, Imported};
use durable_thinking::view::document::read::read;
use durable_thinking::view::export::Format;
use serde_json::json;

use crate::export::bench::{Bench, story};

const DAY_SECONDS: u64 = 86_400;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_milliseconds(seconds * 1000)
}

impl Bench {
    fn due(&self) -> Option<Timestamp> {
        self.store.next_expiry(&self.settings).unwrap()
    }

    /// What is deleted now, as sequences and thoughts.
    fn sweep(&self) -> (u32, u64) {
        let swept = self.store.sweep(&self.settings, at(self.seconds)).unwrap();
        (swept.sequences, swept.thoughts)
    }

    fn is_there(&mut self) -> bool {
        let fresh = self.fresh();
        let query = durable_thinking::view::export::Export::new(self.id.unwrap(), Format::Json);
        let query = query.next().unwrap();
        self.store.history(query, &self.settings, fresh.now).is_ok()
    }

    /// The next part of a document that comes in two, or the second when `upload` is given.
    fn import_part(&mut self, document: &str, upload: Option<SequenceId>) -> Imported {
        let fresh = self.fresh();
        let mut entries = Vec::new();
        let origin = read(document.as_bytes(), &mut entries, fresh.now).unwrap();
        let half = entries.len() / 2;
        let (entries, first) = match upload {
            None => (entries[..half].to_vec(), 1),
            Some(_) => (entries[half..].to_vec(), half as u32 + 1),
        };
        let import = Import {
            sequence_id: upload.unwrap_or_else(|| SequenceId::new(fresh.draw())),
            origin,
            entries,
            first,
            more: upload.is_none(),
        };
        self.store.import(&import, &self.settings, &fresh).unwrap()
    }
}

/// A store that keeps two days, and a document whose thoughts are ten days old.
fn old_document() -> (Bench, String) {
    let document = story().export(Format::Json);
    let mut bench = Bench::new();
    bench.seconds += 10 * DAY_SECONDS;
    bench.settings.retention_days = 2;
    (bench, document)
}

#[test]
fn old_thoughts_live_as_long_after_their_import_as_new_ones() {
    let (mut bench, document) = old_document();
    bench.id = Some(bench.import(&document).unwrap().sequence_id);
    let came = bench.seconds;
    assert!(bench.is_there());
    assert_eq!(bench.due(), Some(at(came + 2 * DAY_SECONDS)));
    bench.seconds = came + 2 * DAY_SECONDS - 2;
    assert_eq!(bench.sweep(), (0, 0));
    assert!(bench.is_there());
    bench.seconds = came + 2 * DAY_SECONDS;
    assert!(!bench.is_there());
    assert_eq!(bench.sweep(), (1, 11));
    assert_eq!(bench.due(), None);
}

#[test]
fn a_thought_after_the_import_slides_its_expiry() {
    let (mut bench, document) = old_document();
    bench.id = Some(bench.import(&document).unwrap().sequence_id);
    bench.seconds += DAY_SECONDS;
    bench.think(8, "One more.", &json!({})).unwrap();
    let written = bench.seconds;
    bench.seconds = written + 2 * DAY_SECONDS - 2;
    assert_eq!(bench.sweep(), (0, 0));
    assert!(bench.is_there());
    assert_eq!(bench.due(), Some(at(written + 2 * DAY_SECONDS)));
}

#[test]
fn an_import_that_brings_no_more_parts_is_given_up_even_where_all_is_kept() {
    for days in [0, 2] {
        let (mut bench, document) = old_document();
        bench.settings.retention_days = days;
        let kept = bench.import(&document).unwrap().sequence_id;
        let empty = bench.rows();
        let upload = bench.import_part(&document, None).sequence_id;
        let came = bench.seconds;
        assert!(bench.rows().len() > empty.len());
        assert_eq!(bench.due(), Some(at(came + DAY_SECONDS)), "{days} days");
        bench.seconds = came + DAY_SECONDS - 1;
        assert_eq!(bench.sweep(), (0, 0));
        bench.seconds = came + DAY_SECONDS;
        assert_eq!(bench.sweep(), (1, 5));
        assert_eq!(bench.rows(), empty, "{days} days");
        bench.id = Some(kept);
        assert!(bench.is_there());
        bench.id = Some(upload);
        assert!(!bench.is_there());
    }
}

#[test]
fn an_import_that_is_finished_is_a_sequence_like_any_other() {
    let (mut bench, document) = old_document();
    bench.settings.retention_days = 0;
    let upload = bench.import_part(&document, None).sequence_id;
    bench.seconds += DAY_SECONDS - 10;
    assert_eq!(bench.import_part(&document, Some(upload)).thoughts, 11);
    assert_eq!(bench.due(), None);
    bench.seconds += 100 * DAY_SECONDS;
    assert_eq!(bench.sweep(), (0, 0));
    bench.id = Some(upload);
    assert!(bench.is_there());
}
