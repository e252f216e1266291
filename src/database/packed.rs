//! A statement's values as bytes, so that all of them cross between Wasm and the platform in one step each way.
//!
//! The other half is in `worker/platform.mjs`. Every value is two numbers, its kind and then itself or how many bytes it has;
//! the bytes stand one after the other. Numbers are doubles, the lowest byte first.

use crate::database::{DatabaseError, Row, Value};

const NUMBER: f64 = 0.0;
const BLOB: f64 = 1.0;
const TEXT: f64 = 2.0;
const NULL: f64 = 3.0;
/// Integers cross as doubles.
const INTEGER_MAX: u64 = 1 << 53;

/// Parameters on their way out.
#[derive(Debug, Default)]
pub(super) struct Params {
    pub(super) numbers: Vec<f64>,
    pub(super) bytes: Vec<u8>,
}

impl Params {
    #[allow(clippy::cast_precision_loss)] // within what a double holds
    pub(super) fn pack(values: &[Value]) -> Result<Self, DatabaseError> {
        let mut packed = Self {
            numbers: Vec::with_capacity(values.len().saturating_mul(2)),
            bytes: Vec::with_capacity(512),
        };
        for value in values {
            let (kind, number) = match value {
                Value::Null => (NULL, 0.0),
                Value::Integer(value) if value.unsigned_abs() > INTEGER_MAX => {
                    return Err(DatabaseError::Corrupt("an integer is out of range"));
                }
                Value::Integer(value) => (NUMBER, *value as f64),
                Value::Real(value) => (NUMBER, *value),
                Value::Text(text) => (TEXT, packed.append(text.as_bytes())),
                Value::Blob(bytes) => (BLOB, packed.append(bytes)),
            };
            packed.numbers.extend([kind, number]);
        }
        Ok(packed)
    }

    #[allow(clippy::cast_precision_loss)] // within what a double holds
    fn append(&mut self, bytes: &[u8]) -> f64 {
        self.bytes.extend_from_slice(bytes);
        bytes.len() as f64
    }
}

/// Reads an answer: the number of rows, the number of columns, the values' numbers, then their bytes.
pub(super) fn rows(answer: &[u8]) -> Option<Vec<Row>> {
    let (head, rest) = answer.split_at_checked(16)?;
    let mut head = numbers(head);
    let (rows, columns) = (whole(head.next()?)?, whole(head.next()?)?);
    if columns == 0 {
        return (rows == 0).then(Vec::new);
    }
    let size = rows.checked_mul(columns)?.checked_mul(16)?;
    let (values, mut bytes) = rest.split_at_checked(size)?;
    let mut values = numbers(values);
    let mut value = || {
        let (kind, number) = (values.next()?, values.next()?);
        if kind == NULL {
            return Some(Value::Null);
        }
        if kind == NUMBER {
            return Some(integer(number).map_or(Value::Real(number), Value::Integer));
        }
        let (own, others) = bytes.split_at_checked(whole(number)?)?;
        bytes = others;
        match kind == TEXT {
            true => String::from_utf8(own.to_vec()).ok().map(Value::Text),
            false => Some(Value::Blob(own.to_vec())),
        }
    };
    (0..rows)
        .map(|_| {
            (0..columns)
                .map(|_| value())
                .collect::<Option<_>>()
                .map(Row::new)
        })
        .collect()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.as_chunks().0.iter().copied().map(f64::from_le_bytes)
}

fn integer(number: f64) -> Option<i64> {
    #[allow(clippy::cast_possible_truncation)] // it is compared
    let integer = number as i64;
    #[allow(clippy::cast_precision_loss, clippy::float_cmp)] // to the bit
    (integer as f64 == number).then_some(integer)
}

fn whole(number: f64) -> Option<usize> {
    usize::try_from(integer(number)?).ok()
}

#[cfg(test)]
mod tests {
    use super::{Params, rows};
    use crate::database::{Column, DatabaseError, Value};

    /// What the platform answers with: the same values in the same form.
    fn answer(rows: f64, columns: f64, values: &[Value]) -> Vec<u8> {
        let Params { numbers, bytes } = Params::pack(values).unwrap();
        [rows, columns]
            .into_iter()
            .chain(numbers)
            .flat_map(f64::to_le_bytes)
            .chain(bytes)
            .collect()
    }

    #[test]
    fn values_come_back_as_they_went() {
        const NAME: Column = Column("table", "column");
        let values = [
            Value::Null,
            Value::Integer(-7),
            Value::Text("Ω".to_owned()),
            Value::Integer(1 << 53),
            Value::Blob(vec![0, 255]),
            Value::Text(String::new()),
        ];
        let answer = answer(2.0, 3.0, &values);
        let mut read = rows(&answer).unwrap();
        let (mut second, mut first) = (read.pop().unwrap(), read.pop().unwrap());
        assert!(read.is_empty());
        assert_eq!(first.optional_integer(NAME).unwrap(), None);
        assert_eq!(first.integer(NAME).unwrap(), -7);
        assert_eq!(first.text(NAME).unwrap(), "Ω");
        assert_eq!(second.integer(NAME).unwrap(), 1 << 53);
        assert_eq!(second.blob(NAME).unwrap(), [0, 255]);
        assert_eq!(second.text(NAME).unwrap(), "");
        for length in 0..answer.len() {
            assert!(rows(&answer[..length]).is_none(), "{length}");
        }
    }

    #[test]
    fn no_rows_are_no_rows() {
        assert_eq!(rows(&answer(0.0, 0.0, &[])).unwrap().len(), 0);
        assert_eq!(rows(&answer(0.0, 3.0, &[])).unwrap().len(), 0);
        // More rows than there are bytes.
        assert!(rows(&answer(1e15, 1e15, &[])).is_none());
        assert!(rows(&answer(0.5, 1.0, &[])).is_none());
        assert!(rows(&answer(1e15, 0.0, &[])).is_none());
    }

    #[test]
    fn what_a_double_cannot_hold_does_not_go() {
        let beyond = Params::pack(&[Value::Integer(-(1 << 53) - 1)]);
        assert!(matches!(beyond, Err(DatabaseError::Corrupt(_))));
    }
}
