//! Importing: a whole process becomes a new sequence, or nothing is written at all.
//!
//! Each entry is replayed through the decisions of an append, at the time at which it was first written. What the document
//! looked like is left to `view::document`; it names in each entry the place that a refusal points to.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::database::Database;
use crate::fresh::Fresh;
use crate::refusal::{Code, Refusal};
use crate::seal::{Field, Keys};
use crate::sequence_id::SequenceId;
use crate::settings::{LoopGuard, Settings};
use crate::store::append::replay;
use crate::store::facts::Sequence;
use crate::store::row::milliseconds;
use crate::store::{Error, Store};
use crate::thought::BranchName;

/// A thought of a document, judged as far as that can be done without the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Entry {
    /// Where it stands in the document, as a JSON pointer.
    pub place: String,
    pub written_at: Timestamp,
    pub text: String,
    pub number: u32,
    pub total: u32,
    pub next_thought_needed: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_more_thoughts: bool,
    pub branch: BranchName,
    /// The thought that the branch begins at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<Claim>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<Claim>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rewind: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarizes_through: Option<u32>,
}

/// A reference as the document resolves it. The store resolves the number itself; what is given beside it must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<BranchName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
}

/// A document that fits into one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Import {
    /// Minted with the call, so that the same call arriving twice is one import.
    pub sequence_id: SequenceId,
    pub origin: String,
    pub entries: Vec<Entry>,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Imported {
    pub sequence_id: SequenceId,
    pub thoughts: u32,
    /// Branches beside `main`.
    pub branches: u32,
}

/// A refusal that points into the document.
pub fn refuse(place: &str, reason: impl std::fmt::Display) -> Refusal {
    Refusal::new(
        Code::ImportInvalid,
        format!("{place}: {reason}. Nothing was stored"),
    )
}

impl<D: Database> Store<D> {
    /// Imports a document that was read before.
    pub fn import(
        &self,
        import: &Import,
        settings: &Settings,
        fresh: &Fresh,
    ) -> Result<Imported, Error> {
        let keys = Keys::derive(&import.sequence_id);
        if let Some(done) = self.find(&keys, settings, fresh.now)? {
            return Ok(Imported {
                sequence_id: import.sequence_id,
                thoughts: done.newest.ordinal,
                branches: done.branch_count()?,
            });
        }
        self.import_with(import.sequence_id, fresh, |importer| {
            for entry in &import.entries {
                importer.append(entry)?;
            }
            Ok(import.origin.clone())
        })
    }

    /// Imports what `body` appends, in one transaction: all of it when `body` returns the note of its origin, else nothing.
    /// A document need not fit into memory.
    pub fn import_with(
        &self,
        sequence_id: SequenceId,
        fresh: &Fresh,
        body: impl FnOnce(&mut Importer<'_, D>) -> Result<String, Error>,
    ) -> Result<Imported, Error> {
        self.database.transaction(|| {
            let mut importer = Importer {
                store: self,
                keys: Keys::derive(&sequence_id),
                settings: replay_settings(),
                fresh,
                sequence_id,
                sequence: None,
            };
            let origin = body(&mut importer)?;
            importer.finish(&origin)
        })
    }
}

/// Limits and advice of today do not judge what was thought before.
fn replay_settings() -> Settings {
    Settings {
        retention_days: 0,
        loop_guard: LoopGuard::Off,
        max_revisions: 0,
        ..Settings::default()
    }
}

/// An import under way.
pub struct Importer<'s, D> {
    store: &'s Store<D>,
    keys: Keys,
    settings: Settings,
    fresh: &'s Fresh,
    sequence_id: SequenceId,
    sequence: Option<Sequence<'s, D>>,
}

impl<D: Database> Importer<'_, D> {
    /// Appends the next thought.
    pub fn append(&mut self, entry: &Entry) -> Result<(), Error> {
        let moment = Fresh::new(entry.written_at, self.fresh.draw());
        let draft = replay::draft(entry, self.sequence_id, &moment, self.sequence.is_none());
        let replay = replay::Replay {
            entry,
            draft: &draft,
            keys: &self.keys,
            settings: &self.settings,
            moment: &moment,
        };
        if let Some(sequence) = &mut self.sequence {
            return replay.to(sequence);
        }
        replay.first(self.store)?;
        self.sequence = self.store.find(&self.keys, &self.settings, moment.now)?;
        Ok(())
    }

    /// Notes the origin. The import counts as a write: retention begins anew with it, however old the thoughts are.
    fn finish(self, origin: &str) -> Result<Imported, Error> {
        let Some(sequence) = self.sequence else {
            return Err(refuse("/thoughts", "there is no thought").into());
        };
        self.store.database.query(
            "update sequence set origin = ?, written_at = ? where sequence = ?",
            &[
                self.keys.seal(Field::Origin, origin, self.fresh).into(),
                milliseconds(self.fresh.now.max(sequence.newest.created_at)),
                sequence.row.sequence.into(),
            ],
        )?;
        Ok(Imported {
            sequence_id: self.sequence_id,
            thoughts: sequence.newest.ordinal,
            branches: sequence.branch_count()?,
        })
    }
}
