//! SQLite of a Durable Object. It translates and decides nothing, like its sibling for rusqlite.
//!
//! Bound by hand in `platform.mjs`: each statement is one step out of Wasm and back.

use std::cell::RefCell;

use js_sys::Reflect;
use wasm_bindgen::prelude::*;

use crate::database::packed::{self, Params};
use crate::database::{Cost, Database, DatabaseError, Row, Value};

/// How the platform tells, in several sentences, that an instance of an object was replaced.
pub(crate) const RESET: &str = "reset because its code";
const STATEMENTS_MAX: usize = 128;

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    #[wasm_bindgen(catch, js_name = query)]
    fn query_platform(
        storage: &JsValue,
        statement: &JsValue,
        params: &[f64],
        bytes: &[u8],
    ) -> Result<Vec<u8>, JsValue>;

    #[wasm_bindgen(catch, js_name = execute)]
    fn execute_platform(
        storage: &JsValue,
        statement: &JsValue,
        params: &[f64],
        bytes: &[u8],
    ) -> Result<(), JsValue>;

    fn cost() -> Vec<f64>;
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
    /// Statements as strings of the platform, which knows one again by its string without reading it.
    statements: RefCell<Vec<(String, JsValue)>>,
}

impl Durable {
    pub fn new(storage: JsValue) -> Self {
        Self {
            storage,
            statements: RefCell::default(),
        }
    }

    fn statement(&self, sql: &str) -> JsValue {
        let mut statements = self.statements.borrow_mut();
        // Few have the same length, so this looks at hardly more than the one text. Hashing it would take longer.
        if let Some((_, statement)) = statements.iter().find(|(known, _)| known == sql) {
            return statement.clone();
        }
        // There are a few dozen. Those that are made of parts have more forms, of which few come.
        if statements.len() >= STATEMENTS_MAX {
            statements.clear();
        }
        let statement = JsValue::from_str(sql);
        statements.push((sql.to_owned(), statement.clone()));
        statement
    }
}

impl Database for Durable {
    /// An object is the only one of its name, and what could not be committed ends with the instance.
    const IS_SOLE: bool = true;

    fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DatabaseError> {
        let Params { numbers, bytes } = Params::pack(params)?;
        let answer = query_platform(&self.storage, &self.statement(sql), &numbers, &bytes)
            .map_err(|thrown| fault(&thrown))?;
        packed::rows(&answer).ok_or(DatabaseError::Corrupt("rows came in another form"))
    }

    fn execute(&self, sql: &str, params: &[Value]) -> Result<(), DatabaseError> {
        let Params { numbers, bytes } = Params::pack(params)?;
        execute_platform(&self.storage, &self.statement(sql), &numbers, &bytes)
            .map_err(|thrown| fault(&thrown))
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
            (Err(thrown), _) => Err(fault(&thrown).into()),
            (Ok(_), _) => Err(DatabaseError::Corrupt("a transaction did not run").into()),
        }
    }

    /// Of all objects of the isolate. Since a call of one is over before another begins, what it adds is its own.
    fn cost(&self) -> Cost {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // it saturates
        let mut counts = cost().into_iter().map(|count| count as u64);
        Cost {
            rows_read: counts.next().unwrap_or_default(),
            rows_written: counts.next().unwrap_or_default(),
        }
    }
}

fn fault(thrown: &JsValue) -> DatabaseError {
    let text = message(thrown);
    if text.contains("SQLITE_FULL") {
        DatabaseError::Full
    } else if text.contains(RESET) {
        DatabaseError::Reset
    } else {
        DatabaseError::Statement(text)
    }
}

/// What the platform says of what it threw: the only code that it gives.
pub(crate) fn message(thrown: &JsValue) -> String {
    Reflect::get(thrown, &"message".into())
        .ok()
        .and_then(|message| message.as_string())
        .unwrap_or_default()
}
