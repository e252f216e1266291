//! SQLite of a Durable Object. It translates and decides nothing, like its sibling for rusqlite.
//!
//! Only `exec` and `raw` of the platform's cursor are used: what its other methods throw would end the Wasm instance.

use std::cell::Cell;

use wasm_bindgen::prelude::*;
use worker::{SqlStorage, SqlStorageValue, Storage};

use crate::database::{Cost, Database, DatabaseError, Row, Value};

/// How the platform tells, in several sentences, that an instance of an object was replaced.
pub(crate) const RESET: &str = "reset because its code";

// The one call that `worker` does not offer. The closure runs before it returns, and an exception rolls back.
#[wasm_bindgen]
extern "C" {
    type SyncStorage;
    #[wasm_bindgen(method, catch, js_name = transactionSync)]
    fn transaction_sync(
        this: &SyncStorage,
        body: &mut dyn FnMut() -> Result<JsValue, JsValue>,
    ) -> Result<JsValue, JsValue>;
}

/// The database of one object. Requests to an object run one after the other between two awaits, and nothing here awaits.
pub struct Durable {
    storage: Storage,
    sql: SqlStorage,
    cost: Cell<Cost>,
}

impl Durable {
    pub fn new(storage: Storage) -> Self {
        Self {
            sql: storage.sql(),
            storage,
            cost: Cell::default(),
        }
    }

    fn charge(&self, rows_read: usize, rows_written: usize) {
        let Cost {
            rows_read: read,
            rows_written: written,
        } = self.cost.get();
        self.cost.set(Cost {
            rows_read: read.saturating_add(count(rows_read)),
            rows_written: written.saturating_add(count(rows_written)),
        });
    }
}

impl Database for Durable {
    fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let params = params
            .iter()
            .map(to_platform)
            .collect::<Result<Vec<_>, _>>()?;
        let cursor = self.sql.exec(sql, params).map_err(statement)?;
        let mut rows = Vec::new();
        for row in cursor.raw() {
            let values = row.map_err(statement)?.into_iter().map(from_platform);
            rows.push(Row::new(values.collect()));
        }
        self.charge(cursor.rows_read(), cursor.rows_written());
        Ok(rows)
    }

    fn transaction<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut body = Some(body);
        let mut decided = None;
        let storage: &SyncStorage = self.storage.as_raw().unchecked_ref();
        let ended = storage.transaction_sync(&mut || {
            let result = body.take().map(|body| body());
            // The decision stays on this side; the exception only tells the platform to roll back.
            let keep = matches!(result, Some(Ok(_)));
            decided = result;
            if keep {
                Ok(JsValue::UNDEFINED)
            } else {
                Err(JsValue::NULL)
            }
        });
        match (ended, decided) {
            (Ok(_), Some(Ok(value))) => Ok(value),
            (Err(_), Some(Err(error))) => Err(error),
            (Err(thrown), _) => Err(statement(thrown.into()).into()),
            (Ok(_), _) => Err(DatabaseError::Corrupt("a transaction did not run").into()),
        }
    }

    fn cost(&self) -> Cost {
        self.cost.get()
    }
}

fn to_platform(value: &Value) -> Result<SqlStorageValue, DatabaseError> {
    Ok(match value {
        Value::Null => SqlStorageValue::Null,
        Value::Integer(value) => SqlStorageValue::try_from_i64(*value).map_err(statement)?,
        Value::Real(value) => SqlStorageValue::Float(*value),
        Value::Text(value) => SqlStorageValue::String(value.clone()),
        Value::Blob(value) => SqlStorageValue::Blob(value.clone()),
    })
}

fn from_platform(value: SqlStorageValue) -> Value {
    match value {
        SqlStorageValue::Null => Value::Null,
        SqlStorageValue::Boolean(value) => Value::from(value),
        SqlStorageValue::Integer(value) => Value::Integer(value),
        SqlStorageValue::Float(value) => Value::Real(value),
        SqlStorageValue::String(value) => Value::Text(value),
        SqlStorageValue::Blob(value) => Value::Blob(value),
    }
}

fn count(rows: usize) -> u64 {
    u64::try_from(rows).unwrap_or(u64::MAX)
}

#[allow(clippy::needless_pass_by_value)] // the shape that `map_err` wants
fn statement(error: worker::Error) -> DatabaseError {
    // The text is the only code that the platform gives.
    let text = error.to_string();
    if text.contains("SQLITE_FULL") {
        DatabaseError::Full
    } else if text.contains(RESET) {
        DatabaseError::Reset
    } else {
        DatabaseError::Statement(text)
    }
}
