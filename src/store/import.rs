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
pub struct Entry {
    /// Where it stands in the document, as a JSON pointer.
    pub place: String,
    pub written_at: Timestamp,
    pub text: String,
    pub number: u32,
    pub total: u32,
    pub next_thought_needed: bool,
    pub needs_more_thoughts: bool,
    pub branch: BranchName,
    /// The thought that the branch begins at.
    pub fork: Option<Claim>,
    pub revises: Option<Claim>,
    pub rewind: bool,
    pub summarizes_through: Option<u32>,
}

/// A reference as the document resolves it. The store resolves the number itself; what is given beside it must agree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub number: u32,
    pub branch: Option<BranchName>,
    pub ordinal: Option<u32>,
}

/// A document, or a part of one, that fits into one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Import {
    /// Minted with the first call, so that the same call arriving twice is one import.
    pub sequence_id: SequenceId,
    pub origin: String,
    pub entries: Vec<Entry>,
    /// The ordinal of the first entry: 1, unless earlier parts went before.
    pub first: u32,
    /// Further parts follow.
    pub more: bool,
}

/// What became of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Imports a document that was read before, or the next part of one.
    ///
    /// Until the last part has come, the rows lie under a lookup that no id leads to: nobody can read half a document. What is
    /// never finished is given up by `retention`.
    pub fn import(
        &self,
        import: &Import,
        settings: &Settings,
        fresh: &Fresh,
    ) -> Result<Imported, Error> {
        let mut importer = self.importer(import.sequence_id, fresh);
        let hidden = upload_lookup(&importer.keys);
        let last = u32::try_from(import.entries.len())
            .unwrap_or(u32::MAX)
            .saturating_add(import.first)
            .saturating_sub(1);
        self.database.transaction(|| {
            if let Some(done) = self.find(&importer.keys, settings, fresh.now)? {
                importer.sequence = Some(done);
                return importer.told();
            }
            importer.sequence = self.read(&hidden)?;
            let stored = importer.sequence.as_ref().map_or(0, |it| it.newest.ordinal);
            if stored > 0 && stored == last && import.more {
                // The same part again.
                return importer.told();
            }
            if import.first != stored.saturating_add(1) {
                let reason = match stored {
                    0 => "no import is under way with this id; begin again with the first part"
                        .to_owned(),
                    count => format!("{count} thoughts have come; the next part begins after them"),
                };
                return Err(refuse("/upload", reason).into());
            }
            for entry in &import.entries {
                importer.append(entry)?;
            }
            importer.finish(&import.origin, import.more.then_some(hidden.as_slice()))
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
            let mut importer = self.importer(sequence_id, fresh);
            let origin = body(&mut importer)?;
            importer.finish(&origin, None)
        })
    }

    fn importer<'s>(&'s self, sequence_id: SequenceId, fresh: &'s Fresh) -> Importer<'s, D> {
        Importer {
            store: self,
            keys: Keys::derive(&sequence_id),
            settings: replay_settings(),
            fresh,
            sequence_id,
            sequence: None,
        }
    }
}

/// Imports under way lie together at the head of the index of lookups, since no digest begins with so many zeros.
pub(super) const AFTER_UPLOADS: [u8; UPLOAD_MARK_BYTES] = [0, 0, 0, 0, 0, 0, 0, 1];
const UPLOAD_MARK_BYTES: usize = 8;

/// Where the rows of an import lie that is under way.
fn upload_lookup(keys: &Keys) -> Vec<u8> {
    let tag = keys.cursor_tag(&[b"import under way"]);
    [&[0; UPLOAD_MARK_BYTES][..], &tag].concat()
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
        self.sequence = Some(replay.first(self.store)?);
        Ok(())
    }

    /// Notes the origin. The import counts as a write: retention begins anew with it, however old the thoughts are.
    fn finish(&self, origin: &str, hidden: Option<&[u8]>) -> Result<Imported, Error> {
        let Some(sequence) = &self.sequence else {
            return Err(refuse("/thoughts", "there is no thought").into());
        };
        self.store.database.execute(
            "update sequence set lookup = ?, origin = ?, written_at = ? where sequence = ?",
            &[
                hidden.unwrap_or(self.keys.lookup()).into(),
                self.keys.seal(Field::Origin, origin, self.fresh).into(),
                milliseconds(self.fresh.now.max(sequence.newest.created_at)),
                sequence.row.sequence.into(),
            ],
        )?;
        self.told()
    }

    fn told(&self) -> Result<Imported, Error> {
        let Some(sequence) = &self.sequence else {
            return Err(refuse("/thoughts", "there is no thought").into());
        };
        Ok(Imported {
            sequence_id: self.sequence_id,
            thoughts: sequence.newest.ordinal,
            branches: sequence.row.branches,
        })
    }
}
