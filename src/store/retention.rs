//! Retention: which sequences nobody can read any more, and when to look again.
//!
//! An append does not touch a sequence's row, so `written_at` there may be older than the truth. It is brought up to date here,
//! when the alarm looks at a sequence that is not due after all: at most once in each period of retention.
//!
//! An import under way is no sequence yet. One that brings no further part is given up, whether sequences expire or not.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::database::{Column, Database, DatabaseError};
use crate::settings::Settings;
use crate::store::import::AFTER_UPLOADS;
use crate::store::row::{Step, milliseconds, place};
use crate::store::{DAY_MILLISECONDS, Store};
use crate::thought::THOUGHTS_MAX;

/// Sequences looked at in one run, so that an alarm stays short.
const SWEEP_MAX: u32 = 200;
/// An import that has waited so long for its next part is given up.
const UPLOAD_MILLISECONDS: u64 = DAY_MILLISECONDS;

/// What a sweep did: counts alone, since they are shown to whoever owns the store and none of its ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    pub sequences: u32,
    pub thoughts: u64,
    /// Of sealed text.
    pub bytes: u64,
    /// There may be more to delete: sweep again.
    pub more: bool,
}

impl Swept {
    fn add(&mut self, newest: Option<Step>, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.sequences = self.sequences.saturating_add(1);
        let thoughts = newest.map_or(0, |newest| newest.ordinal);
        self.thoughts = self.thoughts.saturating_add(u64::from(thoughts));
    }
}

impl<D: Database> Store<D> {
    /// When there may be something to delete; none when everything is kept. Moves only when sequences and imports come and go.
    pub fn next_expiry(&self, settings: &Settings) -> Result<Option<Timestamp>, DatabaseError> {
        let uploads = self
            .uploads()?
            .into_iter()
            .map(|(written_at, _)| written_at);
        let given_up = uploads
            .min()
            .map(|it| it.plus_milliseconds(UPLOAD_MILLISECONDS));
        let expires = self.next_expired(kept_milliseconds(settings.retention_days))?;
        Ok(given_up.into_iter().chain(expires).min())
    }

    fn next_expired(&self, kept: u64) -> Result<Option<Timestamp>, DatabaseError> {
        if kept == 0 {
            return Ok(None);
        }
        let oldest = self.database.query(
            "select written_at from sequence order by written_at limit 1",
            &[],
        )?;
        oldest
            .into_iter()
            .next()
            .map(|mut row| Ok(read_time(&mut row)?.plus_milliseconds(kept)))
            .transpose()
    }

    /// Deletes what has expired under `settings`, and imports that were given up.
    pub fn sweep(&self, settings: &Settings, now: Timestamp) -> Result<Swept, DatabaseError> {
        let mut swept = match kept_milliseconds(settings.retention_days) {
            0 => Swept::default(),
            kept => self.purge(now.minus_milliseconds(kept))?,
        };
        let cutoff = now.minus_milliseconds(UPLOAD_MILLISECONDS);
        self.database.transaction(|| {
            for (written_at, sequence) in self.uploads()? {
                if written_at <= cutoff {
                    swept.add(self.newest(sequence)?, self.text_bytes(sequence)?);
                    self.delete_rows(sequence)?;
                }
            }
            Ok(swept)
        })
    }

    /// Imports under way, each with the time of its newest part.
    fn uploads(&self) -> Result<Vec<(Timestamp, i64)>, DatabaseError> {
        let rows = self.database.query(
            "select written_at, sequence from sequence where lookup < +? order by lookup limit ?",
            &[AFTER_UPLOADS.as_slice().into(), SWEEP_MAX.into()],
        )?;
        rows.into_iter()
            .map(|mut row| {
                let written_at = read_time(&mut row)?;
                Ok((written_at, row.integer(Column("sequence", "sequence"))?))
            })
            .collect()
    }

    /// Deletes sequences whose last thought is no newer than `cutoff`: the only way to free what nobody has the id of.
    pub fn purge(&self, cutoff: Timestamp) -> Result<Swept, DatabaseError> {
        let swept = self.database.transaction(|| {
            let rows = self.database.query(
                "select written_at, sequence from sequence where written_at <= +? order by written_at limit ?",
                &[milliseconds(cutoff), SWEEP_MAX.into()],
            )?;
            let mut swept = Swept {
                more: rows.len() >= usize::try_from(SWEEP_MAX).unwrap_or(usize::MAX),
                ..Swept::default()
            };
            for mut row in rows {
                let known = read_time(&mut row)?;
                let sequence = row.integer(Column("sequence", "sequence"))?;
                match self.newest(sequence)? {
                    Some(newest) if newest.created_at > cutoff => {
                        debug_assert!(newest.created_at >= known);
                        self.database.execute(
                            "update sequence set written_at = ? where sequence = ?",
                            &[milliseconds(newest.created_at), sequence.into()],
                        )?;
                    }
                    newest => {
                        let bytes = self.text_bytes(sequence)?;
                        self.delete_rows(sequence)?;
                        swept.add(newest, bytes);
                    }
                }
            }
            Ok(swept)
        });
        self.memory.forget_sequences();
        swept
    }

    fn text_bytes(&self, sequence: i64) -> Result<u64, DatabaseError> {
        let rows = self.database.query(
            "select coalesce(sum(length(text)), 0) from thought where place between ? and ?",
            &[
                place(sequence, 0).into(),
                place(sequence, THOUGHTS_MAX).into(),
            ],
        )?;
        let sum = rows.into_iter().next();
        let sum = sum.map(|mut row| row.integer(Column("thought", "text")));
        Ok(sum.transpose()?.unwrap_or_default().unsigned_abs())
    }
}

fn kept_milliseconds(days: u32) -> u64 {
    u64::from(days).saturating_mul(DAY_MILLISECONDS)
}

fn read_time(row: &mut crate::database::Row) -> Result<Timestamp, DatabaseError> {
    let time = row.integer(Column("sequence", "written_at"))?;
    Ok(Timestamp::from_milliseconds(time.unsigned_abs()))
}
