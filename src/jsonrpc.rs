//! JSON-RPC 2.0 as MCP uses it: envelopes in, envelopes out, and the only place that knows the error numbers.
//!
//! What a method means is left to `mcp`; how bytes arrive is left to the transports.

mod code;

use std::borrow::Cow;

use serde::de::{Deserializer, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::json::{self, Object, Part, json};

pub use code::Code;

const VERSION: &str = "2.0";

/// Named parameters. MCP has no positional ones.
pub type Params = Map<String, Value>;

/// A request's id in the very bytes that came, so that `"1"`, `1` and integers beyond any machine type survive.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Id(Box<RawValue>);

impl Id {
    /// A string or an integer; anything else is no id.
    fn parse(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // The skipping parser that kept the bytes does not look at surrogates.
        let is_string = text.starts_with('"') && serde_json::from_str::<Cow<'_, str>>(text).is_ok();
        (is_integer || is_string).then(|| Self(raw.to_owned()))
    }

    pub fn from_value(value: &Value) -> Option<Self> {
        let raw = serde_json::value::to_raw_value(value).ok()?;
        Self::parse(&raw)
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

/// One message of a client.
#[derive(Debug)]
pub enum Message {
    Request(Request),
    Notification(Notification),
    /// A client's answer to a request. This server never asks one, so nothing of it is kept but its id.
    Response(Option<Id>),
}

#[derive(Debug)]
pub struct Request {
    pub id: Id,
    pub method: String,
    pub params: Option<Params>,
}

#[derive(Debug)]
pub struct Notification {
    pub method: String,
    pub params: Option<Params>,
}

/// What one body or one line holds.
#[derive(Debug)]
pub enum Frame<'a> {
    One(Result<Message, Response>),
    /// An array, whose members are still to be read with [`parse_member`].
    Batch(Vec<&'a RawValue>),
}

/// Reads a body or a line. Every failure is already the response that says so.
pub fn parse(bytes: &[u8]) -> Frame<'_> {
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let place = error.valid_up_to();
            let what = format!("Parse error: the message is not UTF-8 from byte {place} on");
            return Frame::One(Err(Response::error(
                None,
                ErrorObject::new(Code::Parse, what),
            )));
        }
    };
    if text.trim_ascii_start().starts_with('[') {
        return match serde_json::from_str(text) {
            Ok(members) => Frame::Batch(members),
            Err(error) => Frame::One(Err(unreadable(&error))),
        };
    }
    Frame::One(match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(envelope) => envelope.into_message(),
        Err(error) if serde_json::from_str::<IgnoredAny>(text).is_err() || !error.is_data() => {
            Err(unreadable(&error))
        }
        Err(_) => Err(invalid(None, "the message is not a JSON-RPC object")),
    })
}

/// Reads one member of a batch.
pub fn parse_member(member: &RawValue) -> Result<Message, Response> {
    if member.get().starts_with('[') {
        return Err(invalid(None, "a batch cannot hold another batch"));
    }
    serde_json::from_str::<Envelope<'_>>(member.get())
        .map_err(|_| invalid(None, "a member of the batch is not a JSON-RPC object"))?
        .into_message()
}

fn unreadable(error: &serde_json::Error) -> Response {
    // The parser's own words may repeat what came, so only this much is taken from them.
    let hint = match error.to_string().contains("hex escape") {
        true => ": a \\u escape is cut short, or half of a pair stands alone (a lone surrogate)",
        false => "",
    };
    Response::error(
        None,
        ErrorObject::new(
            Code::Parse,
            format!(
                "Parse error: the message is not valid JSON (line {}, column {}){hint}",
                error.line(),
                error.column()
            ),
        ),
    )
}

fn invalid(id: Option<Id>, what: &str) -> Response {
    Response::error(
        id,
        ErrorObject::new(Code::InvalidRequest, format!("Invalid request: {what}")),
    )
}

/// The members as they came: a repeated one is refused, an unknown one is passed over.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    jsonrpc: Value,
    #[serde(default, borrow, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "present")]
    method: Option<Value>,
    #[serde(default)]
    params: Value,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

/// Keeps `null` apart from absence.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

impl Envelope<'_> {
    fn into_message(self) -> Result<Message, Response> {
        let id = self.id.and_then(Id::parse);
        if self.jsonrpc != VERSION {
            return Err(invalid(id, "`jsonrpc` must be \"2.0\""));
        }
        let is_answer = self.result.is_some() || self.error.is_some();
        let Some(method) = self.method else {
            let is_one = self.result.is_some() != self.error.is_some();
            return if is_one {
                Ok(Message::Response(id))
            } else {
                Err(invalid(id, "`method` is missing"))
            };
        };
        if is_answer {
            return Err(invalid(id, "`method` beside `result` or `error`"));
        }
        if self.id.is_some() && id.is_none() {
            return Err(invalid(None, "`id` must be a string or an integer"));
        }
        let Value::String(method) = method else {
            return Err(invalid(id, "`method` must be a string"));
        };
        let params = match self.params {
            Value::Null => None,
            Value::Object(params) => Some(params),
            _ => return Err(invalid(id, "`params` must be an object")),
        };
        Ok(match id {
            Some(id) => Message::Request(Request { id, method, params }),
            None => Message::Notification(Notification { method, params }),
        })
    }
}

/// The answer to one request, or to something that was none.
#[derive(Debug)]
pub struct Response {
    /// Absent when the request's id could not be read: the schemas allow absence, not `null`.
    pub id: Option<Id>,
    pub outcome: Result<Object, ErrorObject>,
}

impl Response {
    pub fn error(id: Option<Id>, error: ErrorObject) -> Self {
        Self {
            id,
            outcome: Err(error),
        }
    }

    /// The response as one line of JSON.
    pub fn to_json(&self) -> String {
        String::from_utf8(self.to_bytes()).unwrap_or_default()
    }

    /// The same, as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut message = json!({ "jsonrpc": VERSION });
        if let Some(id) = &self.id {
            message.put("id", id);
        }
        match &self.outcome {
            Ok(result) => message.put("result", result),
            Err(error) => message.put(
                "error",
                &json!({ "code": error.code, "message": error.message, "data": error.data }),
            ),
        }
        message.into_bytes()
    }
}

/// A notification of this server as one line of JSON.
pub fn notification(method: &str, params: &impl Part) -> String {
    json::text(&json!({ "jsonrpc": VERSION, "method": method, "params": *params }))
}

#[derive(Clone, Debug)]
pub struct ErrorObject {
    pub code: Code,
    pub message: String,
    /// Class and retry advice, and what the code's specification wants there.
    pub data: Object,
}

impl ErrorObject {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: json!({ "class": code.class().name(), "retry": code.retry().name() }),
        }
    }

    #[must_use]
    pub fn with(mut self, member: &str, value: &impl Part) -> Self {
        self.data.put(member, value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Message, parse, parse_member};

    /// One line that says what `text` was taken for.
    fn read(text: &str) -> String {
        match parse(text.as_bytes()) {
            Frame::One(Ok(Message::Request(request))) => format!(
                "request {} {} {}",
                request.id.0.get(),
                request.method,
                request.params.is_some()
            ),
            Frame::One(Ok(Message::Notification(it))) => format!("notification {}", it.method),
            Frame::One(Ok(Message::Response(id))) => format!("response {}", id.is_some()),
            Frame::One(Err(response)) => response.to_json(),
            Frame::Batch(members) => format!(
                "batch {:?}",
                members
                    .iter()
                    .map(|member| parse_member(member).is_ok())
                    .collect::<Vec<_>>()
            ),
        }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let found = read(text);
        assert!(found.starts_with(expected), "{text}: {found}");
    }

    #[test]
    fn messages_are_told_apart() {
        for (text, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
                "request 1 ping false",
            ),
            (
                r#" {"jsonrpc":"2.0","id":"1","method":"ping","params":{}}"#,
                "request \"1\" ping true",
            ),
            (
                r#"{"jsonrpc":"2.0","id":-7,"method":"ping","params":null}"#,
                "request -7 ping false",
            ),
            (
                r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping","odd":[]}"#,
                "request 123456789012345678901234567890 ping",
            ),
            (
                r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                "notification notif",
            ),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response true"),
            (r#"{"jsonrpc":"2.0","error":{}}"#, "response false"),
            ("[]", "batch []"),
            (
                r#"[{"jsonrpc":"2.0","method":"x"},1,[]]"#,
                "batch [true, false, false]",
            ),
        ] {
            check(text, expected);
        }
    }

    #[test]
    fn broken_messages_are_answered_with_the_id_when_it_can_be_read() {
        let parse = r#"{"jsonrpc":"2.0","error":{"code":-32700,"#;
        let invalid = r#"{"jsonrpc":"2.0","error":{"code":-32600,"#;
        let invalid_7 = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"#;
        for (text, expected) in [
            ("", parse),
            ("{bad", parse),
            ("[1,", parse),
            ("5 x", parse),
            ("{\"jsonrpc\":\"2.0\"}}", parse),
            ("\u{feff}{}", parse),
            ("5", invalid),
            ("null", invalid),
            ("{}", invalid),
            (r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, invalid),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, invalid),
            (r#"{"jsonrpc":"2.0","id":1e3,"method":"x"}"#, invalid),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, invalid),
            (r#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, invalid),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, invalid),
            (r#"{"id":7,"method":"x"}"#, invalid_7),
            (r#"{"jsonrpc":2.0,"id":7,"method":"x"}"#, invalid_7),
            (r#"{"jsonrpc":"2.0","id":7}"#, invalid_7),
            (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, invalid_7),
            (r#"{"jsonrpc":"2.0","id":7,"method":null}"#, invalid_7),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"x","params":[]}"#,
                invalid_7,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"x","result":{}}"#,
                invalid_7,
            ),
            (
                r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#,
                invalid_7,
            ),
        ] {
            check(text, expected);
        }
        let deep = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{}"#,
            "[".repeat(10_000)
        );
        check(&deep, parse);
    }
}
