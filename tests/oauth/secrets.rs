//! A45 and A46 for whatever a test does: each world remembers every value that was sent to it and every credential that
//! left it, and ends by looking for them in each line of its log and in all that it stored.

use std::cell::RefCell;
use std::collections::BTreeSet;

use durable_thinking::oauth::form::decode;
use http::Request;
use http::header::HeaderMap;
use serde_json::Value;

use crate::world::Reply;

/// Shorter values are words and numbers, which the log has of its own.
const LENGTH_MIN: usize = 12;
const CREDENTIALS: [&str; 5] = ["mcpat", "mcprt", "mcpac", "mcs1_", "gho_"];

#[derive(Default)]
pub struct Secrets {
    values: RefCell<BTreeSet<String>>,
    lines: RefCell<BTreeSet<String>>,
}

impl Secrets {
    pub fn of_request(&self, request: &Request<Vec<u8>>) {
        self.headers(request.headers());
        self.pairs(request.uri().query().unwrap_or_default());
        let body = String::from_utf8_lossy(request.body());
        match serde_json::from_slice(request.body()) {
            Ok(json) => self.strings(&json),
            Err(_) => self.pairs(&body),
        }
    }

    pub fn of_reply(&self, reply: &Reply) {
        for cookie in reply.headers.get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            self.keep(pair.split_once('=').unwrap().1);
        }
        if let Some((_, query)) = reply.header("location").split_once('?') {
            self.pairs(query);
        }
        let json: Value = serde_json::from_str(&reply.body).unwrap_or_default();
        for name in [
            "access_token",
            "refresh_token",
            "client_secret",
            "client_id",
        ] {
            self.keep(json[name].as_str().unwrap_or_default());
        }
    }

    /// A line of the log. But for the request's id there are few different ones.
    pub fn of_log(&self, request_id: &str, line: &str) {
        let mut lines = self.lines.borrow_mut();
        lines.insert(line.replace(request_id, ""));
    }

    /// Fails if a line says something that was secret, or a credential stands in what was stored.
    pub fn check(&self, stored: &str) {
        let lines: Vec<_> = self.lines.borrow().iter().cloned().collect();
        let log = lines.join("\n");
        for value in self.values.borrow().iter() {
            assert!(!log.contains(value.as_str()), "{value} stands in {log}");
        }
        for start in CREDENTIALS {
            assert!(!log.contains(start), "{start} stands in {log}");
            assert!(!stored.contains(start), "{start} stands in {stored}");
        }
    }

    fn headers(&self, headers: &HeaderMap) {
        for value in headers.values() {
            let text = String::from_utf8_lossy(value.as_bytes());
            self.keep(&text);
            // Credentials and cookies stand behind a scheme or a name.
            for part in text.split([' ', ';', '=']) {
                self.keep(part);
            }
        }
    }

    fn pairs(&self, text: &str) {
        for pair in text.split('&') {
            let value = pair.split_once('=').map_or(pair, |(_, value)| value);
            self.keep(value);
            self.keep(&decode(value).unwrap_or_default());
        }
    }

    fn strings(&self, json: &Value) {
        match json {
            Value::String(text) => self.keep(text),
            Value::Array(items) => items.iter().for_each(|item| self.strings(item)),
            Value::Object(members) => members.values().for_each(|item| self.strings(item)),
            _ => {}
        }
    }

    fn keep(&self, value: &str) {
        // Words such as `access_denied` and `server/discover` are the log's own, too.
        let is_word = value
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || b"_/".contains(&byte));
        if value.len() >= LENGTH_MIN && !is_word {
            self.values.borrow_mut().insert(value.to_owned());
        }
    }
}
