//! Plays the transcripts: what a client says and what must come back, the same on every host and in every era.
//!
//! A transcript is a file of JSON lines. The first line is `{"story": …, "versions": […]}`. Every other line is one step:
//! * `{"call": tool, "arguments": {…}, "expect": pattern}` – a tool call and its result,
//! * `{"method": …, "params": {…}, "expect": pattern}` – any request and its result,
//! * either with `"error": pattern` instead of `expect` – the error object,
//! * `{"restart": true}` – the host is stopped and started on the same store.
//!
//! What an era adds to every result is checked here and taken off, so that one transcript serves all of them.
//! In a pattern `"<name>"` inside a text stands for a value that the host invents: it is bound where it first occurs and
//! must be the same later, also in what is sent. Its kind is the name's beginning: `<sequence…>`, `<cursor…>`, `<time>`,
//! `<any>`; the last two are never bound. An object with `"…": true` may hold more members than it names.

#![allow(dead_code, reason = "each crate of tests uses its part")]

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::wire::{Http, MODERN, Request};

/// Something that answers messages.
pub trait Host {
    /// Sends one message; the answer if it is a request.
    fn exchange(&mut self, version: &str, message: &Value) -> Option<Value>;

    /// Stops and starts again on the same store; `false` where a store does not outlive its host.
    fn restart(&mut self) -> bool;
}

/// A host over HTTP: messages go to the endpoint of their era.
impl<H: Http + Restart> Host for H {
    fn exchange(&mut self, version: &str, message: &Value) -> Option<Value> {
        let reply = self.send(&Request::message(version, message));
        if message.get("id").is_none() {
            assert_eq!((reply.status, reply.body.len()), (202, 0), "{message}");
            return None;
        }
        let answer = reply.json();
        let is_missing = answer["error"]["code"] == -32601 && version == MODERN;
        assert_eq!(reply.status, if is_missing { 404 } else { 200 }, "{answer}");
        Some(answer)
    }

    fn restart(&mut self) -> bool {
        Restart::restart(self)
    }
}

pub trait Restart {
    fn restart(&mut self) -> bool {
        false
    }
}

/// A story with all its steps.
pub struct Transcript {
    pub story: String,
    pub versions: Vec<String>,
    steps: Vec<Value>,
}

impl Transcript {
    #[track_caller]
    pub fn parse(text: &str) -> Self {
        let mut lines = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| {
                serde_json::from_str::<Value>(line)
                    .unwrap_or_else(|error| panic!("{error}: {line}"))
            });
        let head = lines.next().expect("a first line");
        Self {
            story: head["story"].as_str().expect("a story").to_owned(),
            versions: serde_json::from_value(head["versions"].clone()).expect("versions"),
            steps: lines.collect(),
        }
    }

    /// Every thought that the story writes and the host keeps.
    pub fn thoughts(&self) -> Vec<String> {
        let texts = self.steps.iter().map(|step| &step["arguments"]["thought"]);
        texts
            .filter_map(Value::as_str)
            .filter(|text| text.len() > 8)
            .map(ToOwned::to_owned)
            .collect()
    }

    /// Plays the story in one version. `seen` gets every answer, before anything is taken off it.
    pub fn play(
        &self,
        version: &str,
        host: &mut impl Host,
        seen: &mut dyn FnMut(&str, &str, &Value),
    ) {
        let mut player = Player {
            version,
            host,
            seen,
            bound: BTreeMap::new(),
            id: 0,
        };
        player.shake_hands();
        for (index, step) in self.steps.iter().enumerate() {
            let context = format!("{} ({version}), step {}", self.story, index + 1);
            if step["restart"] == true {
                if player.host.restart() {
                    player.shake_hands();
                }
                continue;
            }
            player.step(step, &context);
        }
    }
}

struct Player<'a, H> {
    version: &'a str,
    host: &'a mut H,
    seen: &'a mut dyn FnMut(&str, &str, &Value),
    bound: BTreeMap<String, String>,
    id: i64,
}

impl<H: Host> Player<'_, H> {
    fn shake_hands(&mut self) {
        if self.version == MODERN {
            return;
        }
        let info = json!({ "name": "transcript", "version": "1" });
        let params =
            json!({ "protocolVersion": self.version, "capabilities": {}, "clientInfo": info });
        let answer = self.request("initialize", params, "initialize");
        assert_eq!(answer["result"]["protocolVersion"], self.version);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert!(self.host.exchange(self.version, &initialized).is_none());
    }

    fn request(&mut self, method: &str, mut params: Value, context: &str) -> Value {
        self.id += 1;
        if self.version == MODERN {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": { "name": "transcript", "version": "1" },
            });
        }
        let message =
            json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        let answer = self.host.exchange(self.version, &message);
        let answer = answer.unwrap_or_else(|| panic!("{context}: no answer"));
        assert_eq!(answer["id"], self.id, "{context}");
        (self.seen)(self.version, method, &answer);
        answer
    }

    fn step(&mut self, step: &Value, context: &str) {
        let (method, params) = match step["call"].as_str() {
            Some(tool) => (
                "tools/call",
                json!({ "name": tool, "arguments": step["arguments"] }),
            ),
            None => (
                step["method"].as_str().expect("a method"),
                step["params"].clone(),
            ),
        };
        let params = self.substitute(&params);
        let params = if params.is_null() { json!({}) } else { params };
        let mut answer = self.request(method, params, context);
        if let Some(pattern) = step.get("error") {
            return self.compare(pattern, &answer["error"], context);
        }
        let result = answer["result"].take();
        assert!(result.is_object(), "{context}: {answer}");
        let result = self.bare(result, method, context);
        self.compare(&step["expect"], &result, context);
    }

    /// A result without what its era adds.
    fn bare(&self, mut result: Value, method: &str, context: &str) -> Value {
        let members = result.as_object_mut().expect("an object");
        let is_modern = self.version == MODERN;
        let is_cacheable =
            method.ends_with("/list") || method == "resources/read" || method == "server/discover";
        let kind = members.remove("resultType");
        assert_eq!(kind, is_modern.then(|| json!("complete")), "{context}");
        for (name, value) in [("ttlMs", json!(3_600_000)), ("cacheScope", json!("public"))] {
            let expected = (is_modern && is_cacheable).then_some(value);
            assert_eq!(members.remove(name), expected, "{context}");
        }
        if is_modern {
            let meta = members
                .get_mut("_meta")
                .and_then(Value::as_object_mut)
                .expect("_meta");
            let server = meta
                .remove("io.modelcontextprotocol/serverInfo")
                .expect("serverInfo");
            assert_eq!(server["name"], "durable-thinking", "{context}");
            if meta.is_empty() {
                members.remove("_meta");
            }
        }
        result
    }

    fn substitute(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let mut text = text.clone();
                for (name, bound) in &self.bound {
                    text = text.replace(&format!("<{name}>"), bound);
                }
                Value::String(text)
            }
            Value::Array(items) => items.iter().map(|item| self.substitute(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, item)| (name.clone(), self.substitute(item)))
                .collect::<Map<_, _>>()
                .into(),
            other => other.clone(),
        }
    }

    fn compare(&mut self, pattern: &Value, found: &Value, context: &str) {
        match (pattern, found) {
            (Value::String(pattern), Value::String(text)) => {
                let matches = fits(pattern, text, &mut self.bound);
                assert!(
                    matches,
                    "{context}:\nexpected {pattern:?}\n   found {text:?}"
                );
            }
            (Value::Array(patterns), Value::Array(items)) => {
                assert_eq!(patterns.len(), items.len(), "{context}: {found:#}");
                for (index, (pattern, item)) in patterns.iter().zip(items).enumerate() {
                    self.compare(pattern, item, &format!("{context}[{index}]"));
                }
            }
            (Value::Object(patterns), Value::Object(members)) => {
                for (name, pattern) in patterns.iter().filter(|(name, _)| *name != "…") {
                    let Some(member) = members.get(name) else {
                        panic!("{context}: {name} is missing in {found:#}");
                    };
                    self.compare(pattern, member, &format!("{context}.{name}"));
                }
                if !patterns.contains_key("…") {
                    for name in members.keys() {
                        assert!(
                            patterns.contains_key(name),
                            "{context}: {name} is not expected in {found:#}"
                        );
                    }
                }
            }
            _ => assert_eq!(pattern, found, "{context}"),
        }
    }
}

/// Whether `text` has the shape of `pattern`, binding names as they are met.
fn fits(pattern: &str, text: &str, bound: &mut BTreeMap<String, String>) -> bool {
    let Some((literal, name, rest)) = next_name(pattern) else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(literal) else {
        return false;
    };
    if name == "any" {
        return (0..=text.len())
            .filter(|end| text.is_char_boundary(*end))
            .any(|end| {
                fits(rest, &text[end..], &mut bound.clone()) && fits(rest, &text[end..], bound)
            });
    }
    if let Some(value) = bound.get(name) {
        return text
            .strip_prefix(value.as_str())
            .is_some_and(|text| fits(rest, text, bound));
    }
    let is_part: fn(char) -> bool = if name.starts_with("sequence") {
        |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'
    } else if name.starts_with("cursor") {
        |c| c.is_ascii_alphanumeric() || c == '-' || c == '_'
    } else {
        |c| c.is_ascii_digit() || "TZ:.-".contains(c)
    };
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let (value, text) = text.split_at(end);
    let is_whole = match name {
        "time" => value.len() == 24,
        _ if name.starts_with("sequence") => value.len() == 32 && value.starts_with("seq_"),
        _ => !value.is_empty(),
    };
    if is_whole && name != "time" {
        bound.insert(name.to_owned(), value.to_owned());
    }
    is_whole && fits(rest, text, bound)
}

/// Splits a pattern at its first name; `<` before anything else stands for itself.
fn next_name(pattern: &str) -> Option<(&str, &str, &str)> {
    pattern.match_indices('<').find_map(|(start, _)| {
        let (name, rest) = pattern[start + 1..].split_once('>')?;
        let is_name = matches!(name, "any" | "time")
            || name.starts_with("sequence")
            || name.starts_with("cursor");
        is_name.then_some((&pattern[..start], name, rest))
    })
}
