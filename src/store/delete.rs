//! Deleting: nothing of the sequence is left in any table.

use crate::clock::Timestamp;
use crate::database::{Database, DatabaseError, Value};
use crate::seal::Keys;
use crate::sequence_id::SequenceId;
use crate::settings::Settings;
use crate::store::row::place;
use crate::store::{Error, Store};
use crate::thought::THOUGHTS_MAX;

impl<D: Database> Store<D> {
    /// Deletes the sequence; the number of its thoughts, or none when there is no such sequence.
    pub fn delete(
        &self,
        id: &SequenceId,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Option<u32>, Error> {
        let keys = Keys::derive(id);
        let deleted = self.database.transaction(|| {
            let Some(found) = self.find(&keys, settings, now)? else {
                return Ok(None);
            };
            self.delete_rows(found.row.sequence)?;
            Ok(Some(found.newest.ordinal))
        });
        self.memory.forget_sequences();
        deleted
    }

    pub(super) fn delete_rows(&self, sequence: i64) -> Result<(), DatabaseError> {
        self.database.execute(
            "delete from thought where place between ? and ?",
            &[
                place(sequence, 0).into(),
                place(sequence, THOUGHTS_MAX).into(),
            ],
        )?;
        let id = [Value::from(sequence)];
        self.database
            .execute("delete from branch where sequence = ?", &id)?;
        self.database
            .execute("delete from sequence where sequence = ?", &id)?;
        Ok(())
    }
}
