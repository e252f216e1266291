//! The store: every statement on thoughts, one method for each question asked.
//!
//! It sees ids and texts only inside a call and keeps them sealed. What a thought does to its sequence is decided by `graph`
//! and `store::append`; when to run an alarm, and what to log, is left to the hosts.

mod append;
mod delete;
mod facts;
mod history;
pub mod import;
mod memory;
pub mod retention;
mod row;
#[cfg(test)]
mod tests;

use std::rc::Rc;

use crate::clock::Timestamp;
use crate::database::{Column, Database, DatabaseError, Value};
use crate::refusal::{Code, Refusal};
use crate::seal::{Field, Keys, Unopened};
use crate::settings::Settings;
use crate::store::facts::Sequence;
use crate::store::memory::Memory;
use crate::store::row::{ORDINAL_BITS, SEQUENCE_COLUMNS, STEP_COLUMNS, SequenceRow, Step, place};
use crate::thought::THOUGHTS_MAX;

/// The schema that this program writes.
const SCHEMA_VERSION: i64 = 1;
const SCHEMA: &str = include_str!("store/schema.sql");
pub const DAY_MILLISECONDS: u64 = 86_400_000;

pub struct Store<D> {
    database: D,
    memory: Memory,
}

/// Why the store did not do as asked: the caller's to mend, or ours.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Fault(#[from] DatabaseError),
}

/// What the caller may know of a fault; the log has the rest under the request id.
pub fn shown(fault: &DatabaseError, request_id: &str) -> Refusal {
    match fault {
        DatabaseError::Full => Refusal::storage_full(request_id),
        _ => Refusal::unavailable(request_id),
    }
}

impl From<Unopened> for Error {
    fn from(_: Unopened) -> Self {
        Self::Fault(DatabaseError::Corrupt("a sealed value does not open"))
    }
}

impl<D: Database> Store<D> {
    /// Makes the schema, or checks that this program knows the one that is there.
    pub fn open(database: D) -> Result<Self, DatabaseError> {
        let store = Self {
            database,
            memory: Memory::default(),
        };
        match store.schema_version()? {
            Some(SCHEMA_VERSION) => {}
            Some(found) if found > SCHEMA_VERSION => {
                return Err(DatabaseError::Newer {
                    found,
                    known: SCHEMA_VERSION,
                });
            }
            _ => store.database.transaction(|| store.create_schema())?,
        }
        Ok(store)
    }

    pub fn database(&self) -> &D {
        &self.database
    }

    /// Says that a call comes again since its answer was lost, so it may be stored already. Only such calls are looked for.
    pub fn expect_repeat(&self, call_id: [u8; 16]) {
        self.memory.note_repeat(call_id);
    }

    fn schema_version(&self) -> Result<Option<i64>, DatabaseError> {
        let has_table = self.database.query(
            "select 1 from sqlite_master where type = 'table' and name = 'schema_version'",
            &[],
        )?;
        if has_table.is_empty() {
            return Ok(None);
        }
        self.database
            .query("select version from schema_version limit 1", &[])?
            .into_iter()
            .next()
            .map(|mut row| row.integer(Column("schema_version", "version")))
            .transpose()
    }

    fn create_schema(&self) -> Result<(), DatabaseError> {
        for statement in SCHEMA.split(";\n").filter(|part| !part.trim().is_empty()) {
            self.database.execute(statement, &[])?;
        }
        self.database.execute(
            "insert into schema_version (version) select ? where not exists (select 1 from schema_version)",
            &[SCHEMA_VERSION.into()],
        )?;
        Ok(())
    }

    /// The sequence that the keys belong to, if it is there and has not expired.
    fn find(
        &self,
        keys: &Keys,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Option<Sequence<'_, D>>, DatabaseError> {
        let found = if let Some((row, newest)) = self.memory.find(keys.lookup()) {
            Some(Sequence {
                database: &self.database,
                row,
                newest,
            })
        } else {
            let read = self.read(keys.lookup())?;
            if let Some(sequence) = &read {
                self.remember(keys, &sequence.row, &sequence.newest);
            }
            read
        };
        // An imported thought may be older than the import.
        Ok(found
            .filter(|it| !is_expired(it.newest.created_at.max(it.row.written_at), settings, now)))
    }

    /// Keeps what is committed, so that the next call need not read it: the row, and the newest thought, which may lie on a
    /// branch that it begins.
    fn remember(&self, keys: &Keys, row: &Rc<SequenceRow>, newest: &Step) {
        if D::IS_SOLE {
            let mut row = Rc::clone(row);
            if newest.branch > row.branches {
                Rc::make_mut(&mut row).branches = newest.branch;
            }
            self.memory.keep(keys.lookup(), row, newest.clone());
        }
    }

    /// The sequence with this lookup, read from the database.
    fn read(&self, lookup: &[u8]) -> Result<Option<Sequence<'_, D>>, DatabaseError> {
        let sql = format!(
            "with found as (select {SEQUENCE_COLUMNS} from sequence where lookup = +?) \
             select found.*, {STEP_COLUMNS} from found left join thought \
             on place between id << {ORDINAL_BITS} and (id << {ORDINAL_BITS}) + {THOUGHTS_MAX} order by place desc limit 1"
        );
        let rows = self.database.query(&sql, &[lookup.into()])?;
        let Some(mut columns) = rows.into_iter().next() else {
            return Ok(None);
        };
        let row = Rc::new(SequenceRow::read(&mut columns)?);
        let newest = Step::read(&mut columns)?;
        Ok(Some(Sequence {
            database: &self.database,
            row,
            newest,
        }))
    }

    fn newest(&self, sequence: i64) -> Result<Option<Step>, DatabaseError> {
        let sql = format!(
            "select {STEP_COLUMNS} from thought where place between +? and +? order by place desc limit 1"
        );
        let range = [
            Value::from(place(sequence, 0)),
            place(sequence, THOUGHTS_MAX).into(),
        ];
        self.database
            .query(&sql, &range)?
            .into_iter()
            .next()
            .map(|mut row| Step::read(&mut row))
            .transpose()
    }
}

fn title(keys: &Keys, row: &SequenceRow) -> Result<String, Unopened> {
    keys.open(Field::Title, &row.title)
}

/// Expired means gone: nothing reads it from that moment on, whenever the alarm comes to delete it.
fn is_expired(written_at: Timestamp, settings: &Settings, now: Timestamp) -> bool {
    match u64::from(settings.retention_days).saturating_mul(DAY_MILLISECONDS) {
        0 => false,
        kept => written_at.plus_milliseconds(kept) <= now,
    }
}

fn not_found() -> Refusal {
    Refusal::new(
        Code::SequenceNotFound,
        "no sequence has this id. It was deleted, it expired, or it belongs to another server. Leave sequenceId out to begin a new one",
    )
}
