//! The seam between the store and SQLite: one dialect, two adapters that translate and decide nothing.
//!
//! Statements, schemas and decisions are left to the stores above; opening a file or an object is left to the hosts.

#[cfg(target_family = "wasm")]
pub mod durable;
#[cfg(any(target_family = "wasm", test))]
mod packed;
#[cfg(not(target_family = "wasm"))]
pub mod sqlite;

/// What both adapters can bind and return. Truth values are the integers 0 and 1; integers stay within 2^53,
/// since Durable Objects carry them as doubles.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

/// Rows read and written since the adapter was opened, as the platform bills them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    pub rows_read: u64,
    pub rows_written: u64,
}

/// SQLite as both hosts offer it: synchronous, so nothing can interleave inside a transaction.
pub trait Database {
    /// Whether nobody else writes as long as this adapter lives, so that what it read stays true.
    const IS_SOLE: bool = false;

    /// Runs one statement and drains its rows. At most 100 parameters (the platform's limit).
    ///
    /// Where a statement has an order, it takes its parameters as `+?`: SQLite may plan by the value of a bare one, and so
    /// prepares the statement again for each other value (sqlite.org/queryplanner-ng.html, on QPSG), for three times the cost.
    fn query(&self, sql: &str, params: &[Value]) -> Result<Vec<Row>, DatabaseError>;

    /// Runs one statement that returns no rows.
    fn execute(&self, sql: &str, params: &[Value]) -> Result<(), DatabaseError> {
        self.query(sql, params).map(drop)
    }

    /// Runs `body`, which reads and then writes once, by one statement or in one [`Self::transaction`]: nobody else writes in
    /// between. In an object nobody can anyway.
    fn exclusive<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        body()
    }

    /// Runs `body` with everything it writes kept on `Ok` and nothing kept on `Err`.
    fn transaction<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E>;

    /// Runs `body`, which only reads, against one state of the database. In an object nothing can interleave anyway.
    fn snapshot<T, E: From<DatabaseError>>(
        &self,
        body: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        body()
    }

    fn cost(&self) -> Cost;
}

/// A fault of the database or of what it holds. Never the caller's to mend.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("statement failed: {0}")]
    Statement(String),
    /// Nothing more can be written. What is there can be read and deleted.
    #[error("the database is full")]
    Full,
    /// This instance of the object is over, as after a deploy: the same call succeeds in the next one.
    #[error("the object was reset")]
    Reset,
    #[error("column {column} of {table} holds {found}, not {expected}")]
    Column {
        table: &'static str,
        column: &'static str,
        expected: &'static str,
        found: &'static str,
    },
    #[error("{0}")]
    Corrupt(&'static str),
    #[error("the database has schema {found}; this program knows up to {known}")]
    Newer { found: i64, known: i64 },
}

/// One row of a result, read from left to right by getters that name the column they want.
#[derive(Debug)]
pub struct Row {
    values: std::vec::IntoIter<Value>,
}

impl Row {
    pub fn new(values: Vec<Value>) -> Self {
        Self {
            values: values.into_iter(),
        }
    }

    fn take(&mut self) -> Value {
        self.values.next().unwrap_or(Value::Null)
    }

    pub fn integer(&mut self, column: Column) -> Result<i64, DatabaseError> {
        self.optional_integer(column)?
            .ok_or_else(|| column.holds("null", "an integer"))
    }

    pub fn optional_integer(&mut self, column: Column) -> Result<Option<i64>, DatabaseError> {
        match self.take() {
            Value::Null => Ok(None),
            Value::Integer(value) => Ok(Some(value)),
            other => Err(column.holds(other.kind(), "an integer")),
        }
    }

    pub fn flag(&mut self, column: Column) -> Result<bool, DatabaseError> {
        match self.integer(column)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(column.holds("another integer", "0 or 1")),
        }
    }

    pub fn blob(&mut self, column: Column) -> Result<Vec<u8>, DatabaseError> {
        self.optional_blob(column)?
            .ok_or_else(|| column.holds("null", "a blob"))
    }

    pub fn optional_blob(&mut self, column: Column) -> Result<Option<Vec<u8>>, DatabaseError> {
        match self.take() {
            Value::Null => Ok(None),
            Value::Blob(value) => Ok(Some(value)),
            other => Err(column.holds(other.kind(), "a blob")),
        }
    }

    pub fn text(&mut self, column: Column) -> Result<String, DatabaseError> {
        self.optional_text(column)?
            .ok_or_else(|| column.holds("null", "text"))
    }

    pub fn optional_text(&mut self, column: Column) -> Result<Option<String>, DatabaseError> {
        match self.take() {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            other => Err(column.holds(other.kind(), "text")),
        }
    }
}

/// The table and column that a getter expects next, for the error when it finds something else.
#[derive(Clone, Copy, Debug)]
pub struct Column(pub &'static str, pub &'static str);

impl Column {
    fn holds(self, found: &'static str, expected: &'static str) -> DatabaseError {
        DatabaseError::Column {
            table: self.0,
            column: self.1,
            expected,
            found,
        }
    }
}

impl Value {
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Integer(_) => "an integer",
            Self::Real(_) => "a real",
            Self::Text(_) => "text",
            Self::Blob(_) => "a blob",
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Integer(i64::from(value))
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Blob(value.to_vec())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Blob(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
