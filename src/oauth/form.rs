//! What bodies and queries say: form fields (`application/x-www-form-urlencoded`), read strictly so that a repeated one is
//! seen, and JSON.
//!
//! What the fields mean is left to the endpoints.

use percent_encoding::percent_decode_str;
use serde_json::Value;

const FIELDS_MAX: usize = 64;

/// A body as JSON. It is read as a text: one parser serves texts and bytes.
pub fn json(body: &[u8]) -> Option<Value> {
    serde_json::from_str(str::from_utf8(body).ok()?).ok()
}

/// Decoded fields in order. Empty values count as absent (RFC 6749 §3.1).
#[derive(Debug)]
pub struct Form(Vec<(String, String)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeated(pub &'static str);

impl Form {
    /// `None`: not a form (bad escape, not UTF-8, or more fields than any request needs).
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            fields.push((decode(name)?, decode(value)?));
            if fields.len() > FIELDS_MAX {
                return None;
            }
        }
        Some(Self(fields))
    }

    pub fn one(&self, name: &'static str) -> Result<Option<&str>, Repeated> {
        let mut values = self.all_raw(name);
        let first = values.next();
        if values.next().is_some() {
            return Err(Repeated(name));
        }
        Ok(first.filter(|value| !value.is_empty()))
    }

    pub fn all(&self, name: &str) -> Vec<&str> {
        self.all_raw(name)
            .filter(|value| !value.is_empty())
            .collect()
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(field, _)| field == name)
    }

    fn all_raw(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .filter(move |(field, _)| field == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Decodes one name or value: `+` is a space, escapes are complete, the result is UTF-8.
pub fn decode(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let escape = after.as_bytes().get(..2)?;
        if !escape.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        rest = after.get(2..)?;
    }
    percent_decode_str(&text.replace('+', " "))
        .decode_utf8()
        .ok()
        .map(Into::into)
}

/// Writes fields as a query. The order is kept.
pub fn encode(fields: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::{Form, Repeated, encode};

    #[test]
    fn fields_are_decoded_once_and_repeats_are_seen() {
        let form = Form::parse("a=1+2&b=%C3%A9&a=3&c=&d&c=x").unwrap();
        assert_eq!(form.one("b"), Ok(Some("é")));
        assert_eq!(form.one("a"), Err(Repeated("a")));
        assert_eq!(form.all("a"), ["1 2", "3"]);
        assert_eq!(form.one("c"), Err(Repeated("c")));
        assert_eq!(form.one("d"), Ok(None));
        assert!(form.has("d") && !form.has("e"));
    }

    #[test]
    fn damaged_forms_are_refused() {
        for text in ["a=%", "a=%4", "a=%zz", "a=%ff", "%c3=1", "a=%é0"] {
            assert!(Form::parse(text).is_none(), "{text}");
        }
        assert!(Form::parse(&"a=1&".repeat(65)).is_none());
        assert!(Form::parse("").is_some());
    }

    #[test]
    fn encoding_round_trips() {
        let query = encode(&[("state", "a b&c=%é\r\n"), ("iss", "https://h")]);
        assert!(!query.contains('\n'));
        let form = Form::parse(&query).unwrap();
        assert_eq!(form.one("state"), Ok(Some("a b&c=%é\r\n")));
    }
}
