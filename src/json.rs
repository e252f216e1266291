//! JSON values written as they look.
//!
//! `json!` of `serde_json` writes out, at every member, the making of the name, the conversion, the check of that and the
//! insertion. Here all of that stands in one function for each type, which makes the Worker a tenth smaller.

use serde::Serialize;
use serde_json::{Map, Value};

/// A value from a literal whose parts may be expressions: `json!({ "name": name, "list": [1, 2], "inner": { "is": true } })`.
macro_rules! json {
    ({ $($members:tt)* }) => {{
        #[allow(unused_mut)] // of an object without members
        let mut object = serde_json::Map::new();
        $crate::json::json!(@members object $($members)*);
        serde_json::Value::Object(object)
    }};
    ([ $({ $($members:tt)* }),+ $(,)? ]) => {
        serde_json::Value::Array(vec![$($crate::json::json!({ $($members)* })),+])
    };
    ([]) => { serde_json::Value::Array(Vec::new()) };
    ([ $($item:expr),+ $(,)? ]) => { $crate::json::value(&[$($item),+][..]) };
    (@members $object:ident) => {};
    (@members $object:ident $name:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $crate::json::put_value(&mut $object, $name, $crate::json::json!({ $($inner)* }));
        $crate::json::json!(@members $object $($($rest)*)?);
    };
    (@members $object:ident $name:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $crate::json::put_value(&mut $object, $name, $crate::json::json!([ $($inner)* ]));
        $crate::json::json!(@members $object $($($rest)*)?);
    };
    (@members $object:ident $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $crate::json::put(&mut $object, $name, &$value);
        $crate::json::json!(@members $object $($($rest)*)?);
    };
}

pub(crate) use json;

/// What is of our own types always has a value; what had none would be `null`.
#[inline(never)]
pub(crate) fn value<T: Serialize + ?Sized>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

#[inline(never)]
pub(crate) fn put<T: Serialize + ?Sized>(object: &mut Map<String, Value>, name: &str, value: &T) {
    put_value(object, name, self::value(value));
}

#[inline(never)]
pub(crate) fn put_value(object: &mut Map<String, Value>, name: &str, value: Value) {
    object.insert(name.to_owned(), value);
}

/// The value as JSON. Its `Display` would bring a writer of its own: 1 KB after gzip.
pub(crate) fn text(value: &Value) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
