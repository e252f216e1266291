//! SQLite of a Durable Object. It translates and decides nothing, like its sibling for rusqlite.
//!
//! Bound by hand in `platform.mjs`: each statement is one step out of Wasm and back.

use std::cell::Cell;

use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;

use crate::database::{Cost, Database, DatabaseError, Row, Value};

/// How the platform tells, in several sentences, that an instance of an object was replaced.
pub(crate) const RESET: &str = "reset because its code";
/// What stands before the values in the answer to a statement.
const HEAD: u32 = 3;
/// Integers cross as doubles.
const INTEGER_MAX: u64 = 1 << 53;

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    #[wasm_bindgen(catch, js_name = query)]
    fn run(storage: &JsValue, statement: &str, params: &Array) -> Result<Array, JsValue>;
}

// The closure runs before it returns, and an exception rolls back.
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
    storage: JsValue,
    cost: Cell<Cost>,
}

impl Durable {
    pub fn new(storage: JsValue) -> Self {
        Self {
            storage,
            cost: Cell::default(),
        }
    }

    fn charge(&self, rows_read: u64, rows_written: u64) {
        let Cost {
            rows_read: read,
            rows_written: written,
        } = self.cost.get();
        self.cost.set(Cost {
            rows_read: read.saturating_add(rows_read),
            rows_written: written.saturating_add(rows_written),
        });
    }
}

impl Database for Durable {
    /// An object is the only one of its name, and what could not be committed ends with the instance.
    const IS_SOLE: bool = true;

    fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let values = Array::new();
        for param in params {
            values.push(&to_platform(param)?);
        }
        let answer = run(&self.storage, sql, &values).map_err(|thrown| statement(&thrown))?;
        let columns = count(&answer, 0);
        self.charge(count(&answer, 1), count(&answer, 2));
        let mut rows = Vec::new();
        let mut row = Vec::new();
        for index in HEAD..answer.length() {
            row.push(from_platform(&answer.get(index)));
            if u64::try_from(row.len()).is_ok_and(|length| length == columns) {
                rows.push(Row::new(std::mem::take(&mut row)));
            }
        }
        Ok(rows)
    }

    fn transaction<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let mut body = Some(body);
        let mut decided = None;
        let storage: &SyncStorage = self.storage.unchecked_ref();
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
            (Err(thrown), _) => Err(statement(&thrown).into()),
            (Ok(_), _) => Err(DatabaseError::Corrupt("a transaction did not run").into()),
        }
    }

    fn cost(&self) -> Cost {
        self.cost.get()
    }
}

fn to_platform(value: &Value) -> Result<JsValue, DatabaseError> {
    Ok(match value {
        Value::Null => JsValue::NULL,
        Value::Integer(value) if value.unsigned_abs() > INTEGER_MAX => {
            return Err(DatabaseError::Corrupt("an integer is out of range"));
        }
        #[allow(clippy::cast_precision_loss)] // within what a double holds
        Value::Integer(value) => (*value as f64).into(),
        Value::Real(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
        Value::Blob(value) => Uint8Array::from(value.as_slice()).into(),
    })
}

fn from_platform(value: &JsValue) -> Value {
    if let Some(number) = value.as_f64() {
        #[allow(clippy::cast_possible_truncation)] // it is compared
        let integer = number as i64;
        #[allow(clippy::cast_precision_loss, clippy::float_cmp)] // to the bit
        return match integer as f64 == number {
            true => Value::Integer(integer),
            false => Value::Real(number),
        };
    }
    match value.dyn_ref::<Uint8Array>() {
        Some(bytes) => Value::Blob(bytes.to_vec()),
        None => value.as_string().map_or(Value::Null, Value::Text),
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it saturates
fn count(answer: &Array, index: u32) -> u64 {
    answer.get(index).as_f64().unwrap_or_default() as u64
}

fn statement(thrown: &JsValue) -> DatabaseError {
    // The text is the only code that the platform gives.
    let text = Reflect::get(thrown, &"message".into())
        .ok()
        .and_then(|message| message.as_string())
        .unwrap_or_default();
    if text.contains("SQLITE_FULL") {
        DatabaseError::Full
    } else if text.contains(RESET) {
        DatabaseError::Reset
    } else {
        DatabaseError::Statement(text)
    }
}
