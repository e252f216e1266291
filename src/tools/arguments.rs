//! One explicit, tolerant reader of tool arguments.
//!
//! Models and proxies send numbers as strings, optional fields as null, and names in snake_case; all of that is understood.
//! What could mean two things is refused with the field, what came and what would be right. Meaning is left to the tools.

use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// How much of a wrong value an error repeats.
const SHOWN_CHARACTERS: usize = 60;

pub struct Arguments<'a> {
    given: &'a Map<String, Value>,
    /// Some name is spelled in snake_case.
    has_other_spelling: bool,
}

impl<'a> Arguments<'a> {
    pub fn new(given: &'a Map<String, Value>) -> Self {
        Self {
            given,
            has_other_spelling: given.keys().any(|name| name.contains('_')),
        }
    }

    /// The value under either spelling of `name`. Absent, null, `""` and `"null"` are all absent.
    fn optional(&self, name: &str) -> Result<Option<&'a Value>, Refusal> {
        let camel = self.given.get(name).filter(|value| !is_absent(value));
        let other = match self.has_other_spelling {
            true => self.given.get(&snake_case(name)),
            false => None,
        };
        let other = other.filter(|value| !is_absent(value));
        match (camel, other) {
            (Some(one), Some(two)) if one != two => Err(Refusal::invalid(format!(
                "{name} and {} were both given, with different values; give only {name}",
                snake_case(name)
            ))),
            (one, two) => Ok(one.or(two)),
        }
    }

    pub fn required_text(&self, name: &str) -> Result<&'a str, Refusal> {
        self.text(name)?
            .ok_or_else(|| Refusal::invalid(format!("{name} is missing; it must be a string")))
    }

    pub fn text(&self, name: &str) -> Result<Option<&'a str>, Refusal> {
        match self.optional(name)? {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(wrong(name, other, "a string")),
        }
    }

    /// The text exactly as it came: a thought may well be the word null, and a blank one is told apart from a missing one.
    pub fn verbatim(&self, name: &str) -> Result<&'a str, Refusal> {
        match self.given.get(name) {
            Some(Value::String(text)) => Ok(text),
            None | Some(Value::Null) => Err(Refusal::invalid(format!(
                "{name} is missing; it must be a string"
            ))),
            Some(other) => Err(wrong(name, other, "a string")),
        }
    }

    pub fn required_integer(&self, name: &str, min: u32, max: u32) -> Result<u32, Refusal> {
        self.integer(name, min, max)?.ok_or_else(|| {
            Refusal::invalid(format!(
                "{name} is missing; it must be a whole number from {min} to {max}"
            ))
        })
    }

    /// A JSON integer, an integral float such as `3.0`, or a decimal string such as `"3"`.
    pub fn integer(&self, name: &str, min: u32, max: u32) -> Result<Option<u32>, Refusal> {
        let Some(value) = self.optional(name)? else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number
                .as_u64()
                .or_else(|| number.as_f64().and_then(integral)),
            Value::String(text) => decimal(text.trim()),
            _ => None,
        };
        number
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| (min..=max).contains(number))
            .map(Some)
            .ok_or_else(|| wrong(name, value, &format!("a whole number from {min} to {max}")))
    }

    /// A reference to a thought by number. Models send 0 for "none", which no thought is called.
    pub fn reference(&self, name: &str, max: u32) -> Result<Option<u32>, Refusal> {
        match self.integer(name, 0, max) {
            Ok(number) => Ok(number.filter(|number| *number > 0)),
            Err(_) => self.integer(name, 1, max),
        }
    }

    pub fn required_boolean(&self, name: &str) -> Result<bool, Refusal> {
        self.boolean(name)?
            .ok_or_else(|| Refusal::invalid(format!("{name} is missing; it must be true or false")))
    }

    /// A JSON boolean, or `"true"` or `"false"` in any case.
    pub fn boolean(&self, name: &str) -> Result<Option<bool>, Refusal> {
        match self.optional(name)? {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(*value)),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("true") => Ok(Some(true)),
            Some(Value::String(text)) if text.trim().eq_ignore_ascii_case("false") => {
                Ok(Some(false))
            }
            Some(other) => Err(wrong(name, other, "true or false")),
        }
    }
}

/// A refusal that shows what came, cut short, and what would be right.
pub fn wrong(name: &str, value: &Value, expected: &str) -> Refusal {
    let came = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => format!("the boolean {value}"),
        Value::Number(number) => format!("the number {}", shown(&number.to_string())),
        Value::String(text) => format!("the string {:?}", shown(text)),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    Refusal::invalid(format!("{name} must be {expected}; {came} came"))
}

pub fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => matches!(text.trim(), "" | "null"),
        _ => false,
    }
}

/// The whole number that a float stands for, if it stands for one that JSON carries exactly.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // the range is checked first
fn integral(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..=9_007_199_254_740_991.0).contains(&number))
        .then_some(number as u64)
}

/// Digits alone: no sign, no exponent, no other number base.
fn decimal(text: &str) -> Option<u64> {
    let digits = text.strip_suffix(".0").unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.parse().ok())
        .flatten()
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Arguments;

    #[track_caller]
    fn integer(value: &Value, expected: Result<Option<u32>, &str>) {
        let map = json!({ "thoughtNumber": value });
        let read = Arguments::new(map.as_object().unwrap()).integer("thoughtNumber", 1, 100);
        match expected {
            Ok(number) => assert_eq!(read, Ok(number), "{value}"),
            Err(part) => {
                let text = read.expect_err(&value.to_string()).to_string();
                assert!(
                    text.contains(part) && text.contains("thoughtNumber"),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn integers_are_read_in_every_honest_form() {
        for three in [
            json!(3),
            json!(3.0),
            json!("3"),
            json!(" 3 "),
            json!("003"),
            json!("3.0"),
        ] {
            integer(&three, Ok(Some(3)));
        }
        for absent in [json!(null), json!(""), json!("null"), json!("  ")] {
            integer(&absent, Ok(None));
        }
        integer(&json!(true), Err("the boolean true came"));
        integer(&json!([3]), Err("an array came"));
        integer(&json!({"a": 1}), Err("an object came"));
        integer(&json!("1e2"), Err("\"1e2\" came"));
        integer(&json!("+3"), Err("came"));
        integer(&json!("٣"), Err("came"));
        integer(&json!(1.5), Err("1.5 came"));
        integer(&json!(-1), Err("-1 came"));
        integer(&json!(0), Err("from 1 to 100"));
        integer(&json!(101), Err("from 1 to 100"));
        integer(&json!(1e300), Err("came"));
        integer(&json!("9".repeat(500)), Err("…"));
    }

    #[track_caller]
    fn boolean(value: &Value, expected: Result<Option<bool>, ()>) {
        let map = json!({ "is_revision": value });
        let read = Arguments::new(map.as_object().unwrap()).boolean("isRevision");
        assert_eq!(read.map_err(|_| ()), expected, "{value}");
    }

    #[test]
    fn booleans_are_read_in_every_honest_form() {
        for yes in [json!(true), json!("true"), json!("TRUE"), json!(" True ")] {
            boolean(&yes, Ok(Some(true)));
        }
        for no in [json!(false), json!("false"), json!("False")] {
            boolean(&no, Ok(Some(false)));
        }
        for absent in [json!(null), json!(""), json!("null")] {
            boolean(&absent, Ok(None));
        }
        for wrong in [
            json!(1),
            json!(0),
            json!("yes"),
            json!("1"),
            json!([true]),
            json!({}),
        ] {
            boolean(&wrong, Err(()));
        }
    }

    #[test]
    fn two_spellings_must_agree() {
        let map = json!({"totalThoughts": 3, "total_thoughts": 4});
        let arguments = Arguments::new(map.as_object().unwrap());
        let text = arguments
            .integer("totalThoughts", 1, 9)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("total_thoughts") && text.contains("both"),
            "{text}"
        );
        let map = json!({"totalThoughts": 3, "total_thoughts": null});
        assert_eq!(
            Arguments::new(map.as_object().unwrap()).integer("totalThoughts", 1, 9),
            Ok(Some(3))
        );
    }

    #[test]
    fn a_reference_to_zero_is_none() {
        for none in [json!(0), json!("0"), json!(null)] {
            let map = json!({ "revisesThought": none });
            assert_eq!(
                Arguments::new(map.as_object().unwrap()).reference("revisesThought", 9),
                Ok(None)
            );
        }
        let map = json!({"revisesThought": -1});
        let text = Arguments::new(map.as_object().unwrap())
            .reference("revisesThought", 9)
            .unwrap_err()
            .to_string();
        assert!(text.contains("from 1 to 9"), "{text}");
    }
}
