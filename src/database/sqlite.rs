//! SQLite in this process, through rusqlite. Made as strict as a Durable Object, so that native tests are worth having.

use std::cell::Cell;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::{Value as SqliteValue, ValueRef};
use rusqlite::{
    Connection, ErrorCode, Statement, StatementStatus, TransactionBehavior, params_from_iter,
};

use crate::database::{Cost, Database, DatabaseError, Row, Value};

/// The platform refuses a statement with more parameters.
const PARAMS_MAX: usize = 100;
/// How long a second process that shares the file waits for the first one's write.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Together as long as that.
const BUSY_TRIES: u32 = 1_000;
const BUSY_PAUSE: Duration = Duration::from_millis(10);
const STATEMENTS_CACHED: usize = 64;

pub struct Sqlite {
    connection: Connection,
    rows_read: Cell<u64>,
    effort: Cell<Effort>,
}

/// What statements took since the connection was opened. Unlike rows returned, it grows with every row passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effort {
    pub statements: u64,
    /// Instructions of SQLite's virtual machine.
    pub steps: u64,
    /// Rows met while scanning a table or an index from one end, rather than by a search for them.
    pub scanned: u64,
    pub sorts: u64,
}

impl Sqlite {
    /// A file that is new may be read by its owner alone; SQLite gives the files beside it the same mode.
    pub fn open(path: &Path) -> Result<Self, DatabaseError> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            let mut options = std::fs::OpenOptions::new();
            // What fails here fails again below, in SQLite's words.
            let _ = options
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(path);
        }
        Self::new(Connection::open(path).map_err(statement)?)
    }

    pub fn open_in_memory() -> Result<Self, DatabaseError> {
        Self::new(Connection::open_in_memory().map_err(statement)?)
    }

    fn new(connection: Connection) -> Result<Self, DatabaseError> {
        connection.busy_timeout(BUSY_TIMEOUT).map_err(statement)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_CACHED);
        begin_log(&connection).map_err(statement)?;
        connection
            .execute_batch(
                "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA trusted_schema = OFF;",
            )
            .map_err(statement)?;
        Ok(Self {
            connection,
            rows_read: Cell::new(0),
            effort: Cell::default(),
        })
    }
}

impl Sqlite {
    pub fn effort(&self) -> Effort {
        self.effort.get()
    }

    fn count(&self, statement: &Statement<'_>) {
        let status = |of| u64::try_from(statement.reset_status(of)).unwrap_or_default();
        let effort = self.effort.get();
        self.effort.set(Effort {
            statements: effort.statements.saturating_add(1),
            steps: effort.steps.saturating_add(status(StatementStatus::VmStep)),
            scanned: effort
                .scanned
                .saturating_add(status(StatementStatus::FullscanStep)),
            sorts: effort.sorts.saturating_add(status(StatementStatus::Sort)),
        });
    }

    fn within<T, E: From<DatabaseError>>(
        &self,
        behavior: TransactionBehavior,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // Rolls back when it is dropped without a commit.
        let transaction =
            rusqlite::Transaction::new_unchecked(&self.connection, behavior).map_err(statement)?;
        let value = body()?;
        transaction.commit().map_err(statement)?;
        Ok(value)
    }
}

impl Database for Sqlite {
    fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        if params.len() > PARAMS_MAX {
            return Err(DatabaseError::Statement(format!(
                "{} parameters; at most {PARAMS_MAX}",
                params.len()
            )));
        }
        let mut prepared = self.connection.prepare_cached(sql).map_err(statement)?;
        let columns = prepared.column_count();
        let mut found = prepared
            .query(params_from_iter(params.iter().map(to_sqlite)))
            .map_err(statement)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(statement)? {
            let values = (0..columns)
                .map(|index| row.get_ref(index).map_err(statement).and_then(from_sqlite))
                .collect::<Result<Vec<_>, _>>()?;
            rows.push(Row::new(values));
        }
        drop(found);
        self.count(&prepared);
        self.rows_read.set(
            self.rows_read
                .get()
                .saturating_add(u64::try_from(rows.len()).unwrap_or(u64::MAX)),
        );
        Ok(rows)
    }

    fn exclusive<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.transaction(body)
    }

    fn transaction<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // Inside of [`Self::exclusive`], which rolls back what fails in here.
        if !self.connection.is_autocommit() {
            return body();
        }
        // Immediate: a transaction that reads first and writes later could not take the lock from another process.
        self.within(TransactionBehavior::Immediate, body)
    }

    fn snapshot<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.within(TransactionBehavior::Deferred, body)
    }

    /// Rows returned and rows changed: less than the platform bills, which also counts index entries and rows passed over.
    fn cost(&self) -> Cost {
        Cost {
            rows_read: self.rows_read.get(),
            rows_written: self.connection.total_changes(),
        }
    }
}

/// Has the file written through a log. For this change alone SQLite does not wait until others let go of a new file.
fn begin_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut tries = BUSY_TRIES;
    loop {
        match connection.execute_batch("PRAGMA journal_mode = WAL") {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && tries > 0 =>
            {
                tries = tries.saturating_sub(1);
                std::thread::sleep(BUSY_PAUSE);
            }
            done => return done,
        }
    }
}

fn to_sqlite(value: &Value) -> SqliteValue {
    match value {
        Value::Null => SqliteValue::Null,
        Value::Integer(value) => SqliteValue::Integer(*value),
        Value::Real(value) => SqliteValue::Real(*value),
        Value::Text(value) => SqliteValue::Text(value.clone()),
        Value::Blob(value) => SqliteValue::Blob(value.clone()),
    }
}

fn from_sqlite(value: ValueRef<'_>) -> Result<Value, DatabaseError> {
    Ok(match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(value) => Value::Text(
            String::from_utf8(value.to_vec())
                .map_err(|_| DatabaseError::Corrupt("a text column is not UTF-8"))?,
        ),
        ValueRef::Blob(value) => Value::Blob(value.to_vec()),
    })
}

#[allow(clippy::needless_pass_by_value)] // the shape that `map_err` wants
fn statement(error: rusqlite::Error) -> DatabaseError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => DatabaseError::Full,
        _ => DatabaseError::Statement(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::Sqlite;
    use crate::store::Store;

    #[test]
    fn many_may_begin_with_one_new_file() {
        const AT_ONCE: usize = 8;
        for _ in 0..10 {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("thoughts.db");
            let ready = Barrier::new(AT_ONCE);
            thread::scope(|scope| {
                for _ in 0..AT_ONCE {
                    scope.spawn(|| {
                        ready.wait();
                        Store::open(Sqlite::open(&file).unwrap()).map(drop).unwrap();
                    });
                }
            });
        }
    }
}
