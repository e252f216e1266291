//! JSON as this program writes it: one member after the other, straight into the text.
//!
//! A tree of values, as `serde_json` builds it, takes an allocation for every name and value before the first byte is written.
//! Reading is left to `serde_json`.

use serde::Serialize;
use serde_json::Value;

/// An object being written: all of it but the last brace, or nothing at all. Each name comes once and holds nothing that JSON
/// escapes.
#[derive(Clone, Debug, Default)]
pub struct Object(Vec<u8>);

/// What an object begins with, in bytes: few that are made for one answer are longer.
const ROOM: usize = 256;

/// A whole value, written.
#[derive(Clone, Debug)]
pub struct Json(Vec<u8>);

/// Whatever can be written: values of any type that serialises, and what is written already.
pub trait Part {
    fn write(&self, to: &mut Vec<u8>);
}

impl<T: Serialize + ?Sized> Part for T {
    #[inline(never)]
    fn write(&self, to: &mut Vec<u8>) {
        let start = to.len();
        // What is of our own types always has a value; what had none would be `null`.
        if serde_json::to_writer(&mut *to, self).is_err() {
            to.truncate(start);
            to.extend_from_slice(b"null");
        }
    }
}

impl Part for Object {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(if self.0.is_empty() { b"{" } else { &self.0 });
        to.push(b'}');
    }
}

impl Part for Json {
    fn write(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.0);
    }
}

impl Object {
    pub fn put<P: Part + ?Sized>(&mut self, name: &str, value: &P) {
        self.name(name);
        value.write(&mut self.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes of the whole object.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }

    /// Reads it back, for who looks at single members.
    pub fn to_value(&self) -> Value {
        serde_json::from_slice(&self.clone().into_bytes()).unwrap_or_default()
    }

    fn name(&mut self, name: &str) {
        debug_assert!(!name.contains(['"', '\\']) && !name.contains(char::is_control));
        let (room, before): (_, &[u8]) = match self.0.is_empty() {
            true => (ROOM, b"{\""),
            false => (0, b",\""),
        };
        self.0.reserve(name.len().saturating_add(16).max(room));
        for part in [before, name.as_bytes(), b"\":"] {
            self.0.extend_from_slice(part);
        }
    }
}

impl Json {
    pub fn array<P: Part>(items: impl IntoIterator<Item = P>) -> Self {
        let mut text = vec![b'['];
        for item in items {
            if text.len() > 1 {
                text.push(b',');
            }
            item.write(&mut text);
        }
        text.push(b']');
        Self(text)
    }
}

/// The bytes of a value.
pub fn bytes<P: Part + ?Sized>(value: &P) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ROOM);
    value.write(&mut bytes);
    bytes
}

/// The value as text. What is written is UTF-8.
pub fn text<P: Part + ?Sized>(value: &P) -> String {
    String::from_utf8(bytes(value)).unwrap_or_default()
}

/// A value from a literal whose parts may be expressions: `json!({ "name": name, "list": [1, 2], "inner": { "is": true } })`.
/// An object can be gone on with.
macro_rules! json {
    ({ $($members:tt)* }) => {{
        #[allow(unused_mut)] // of an object without members
        let mut object = $crate::json::Object::default();
        $crate::json::json!(@members object $($members)*);
        object
    }};
    ([ $({ $($members:tt)* }),+ $(,)? ]) => {
        $crate::json::Json::array([$($crate::json::json!({ $($members)* })),+])
    };
    ([]) => { $crate::json::Json::array::<$crate::json::Json>([]) };
    ([ $($item:expr),+ $(,)? ]) => { [$($item),+][..] };
    (@members $object:ident) => {};
    (@members $object:ident $name:tt : { $($inner:tt)* } $(, $($rest:tt)*)?) => {
        $object.put($name, &$crate::json::json!({ $($inner)* }));
        $crate::json::json!(@members $object $($($rest)*)?);
    };
    (@members $object:ident $name:tt : [ $($inner:tt)* ] $(, $($rest:tt)*)?) => {
        $object.put($name, &$crate::json::json!([ $($inner)* ]));
        $crate::json::json!(@members $object $($($rest)*)?);
    };
    (@members $object:ident $name:tt : $value:expr $(, $($rest:tt)*)?) => {
        $object.put($name, &$value);
        $crate::json::json!(@members $object $($($rest)*)?);
    };
}

pub(crate) use json;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Json, Object, text};

    #[test]
    fn a_literal_is_written_as_it_stands() {
        let inner = json!({ "is": true });
        let list: [u8; 0] = [];
        for (written, expected) in [
            (json!({}), "{}"),
            (json!({ "a": 1 }), r#"{"a":1}"#),
            (
                json!({ "a": {}, "b": [], "c": [1, 2], "d": [{ "x": "y" }, {}], "e": None::<u8>, "f": list }),
                r#"{"a":{},"b":[],"c":[1,2],"d":[{"x":"y"},{}],"e":null,"f":[]}"#,
            ),
            (json!({ "inner": inner }), r#"{"inner":{"is":true}}"#),
        ] {
            assert_eq!(text(&written), expected);
        }
        assert_eq!(text(&Json::array(["a", "\""])), r#"["a","\""]"#);
    }

    proptest! {
        #[test]
        fn whatever_is_put_is_read_again(members in prop::collection::btree_map("[a-zA-Z./_]{1,8}", ".*", 0..6)) {
            let mut object = Object::default();
            for (name, value) in &members {
                object.put(name, value);
            }
            prop_assert_eq!(object.is_empty(), members.is_empty());
            prop_assert_eq!(object.to_value(), serde_json::to_value(members).unwrap());
        }
    }
}
