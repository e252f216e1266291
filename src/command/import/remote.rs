//! The history of a sequence on another server, read through its MCP endpoint while it is taken in.

use std::io::{self, Read};

use http::Request;
use serde_json::{Value, json};

use crate::command::https::Https;
use crate::config::Origin;
use crate::mcp::version::Version;
use crate::page::{CHARACTERS_MAX, LIMIT_MAX};

const PATH: &str = "/mcp-compat";
const SESSION: &str = "mcp-session-id";
/// How much of an answer that is no JSON is shown.
const ECHO_CHARACTERS: usize = 200;

/// Reads as the structured pages, one after another.
pub(super) struct Pages<'a> {
    url: String,
    token: Option<&'a str>,
    id: &'a str,
    network: &'a dyn Https,
    session: Option<String>,
    /// The member that asks for the next page; none when there is no other.
    cursor: Option<Value>,
    calls: u32,
    page: io::Cursor<Vec<u8>>,
    pub fault: Option<io::Error>,
}

impl<'a> Pages<'a> {
    /// Greets the server, as servers of the older protocols ask for.
    pub(super) fn open(
        server: &Origin,
        token: Option<&'a str>,
        id: &'a str,
        network: &'a dyn Https,
    ) -> io::Result<Self> {
        let mut pages = Self {
            url: format!("{server}{PATH}"),
            token,
            id,
            network,
            session: None,
            cursor: Some(Value::Null),
            calls: 0,
            page: io::Cursor::new(Vec::new()),
            fault: None,
        };
        pages.call(
            "initialize",
            &json!({
                "protocolVersion": Version::negotiate("").name(),
                "capabilities": {},
                "clientInfo": { "name": "durable-thinking", "version": env!("CARGO_PKG_VERSION") },
            }),
        )?;
        let greeted = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        pages.post(&greeted)?;
        Ok(pages)
    }

    fn fetch(&mut self, cursor: &Value) -> io::Result<()> {
        let mut arguments = json!({
            "sequenceId": self.id,
            "limit": LIMIT_MAX,
            "maxCharacters": CHARACTERS_MAX,
        });
        if let (false, Some(members)) = (cursor.is_null(), arguments.as_object_mut()) {
            members.insert("cursor".to_owned(), cursor.clone());
        }
        let result = self.call(
            "tools/call",
            &json!({ "name": "get_thought_history", "arguments": arguments }),
        )?;
        if result.get("isError").and_then(Value::as_bool) == Some(true) {
            let text = result.pointer("/content/0/text").and_then(Value::as_str);
            let text = text.unwrap_or("no text");
            return Err(io::Error::other(format!("the server refused: {text}")));
        }
        let page = result
            .get("structuredContent")
            .filter(|page| page.is_object())
            .ok_or_else(|| io::Error::other("the server's history has no structured content"))?;
        self.cursor = page
            .get("nextCursor")
            .filter(|cursor| !cursor.is_null())
            .cloned();
        if self.cursor.as_ref() == Some(cursor) {
            return Err(io::Error::other(
                "the server gives the same page again and again",
            ));
        }
        self.page = io::Cursor::new(page.to_string().into_bytes());
        Ok(())
    }

    /// The result of a request.
    fn call(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        self.calls = self.calls.saturating_add(1);
        let id = self.calls;
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut answer = self.post(&message)?;
        if let Some(error) = answer.get("error") {
            return Err(io::Error::other(format!(
                "the server refused {method}: {error}"
            )));
        }
        let result = answer.get_mut("result").map(Value::take);
        Ok(result.unwrap_or_default())
    }

    fn post(&mut self, message: &Value) -> io::Result<Value> {
        let mut request = Request::post(&self.url)
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        if let Some(token) = self.token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        if self.calls > 1 {
            request = request.header("MCP-Protocol-Version", Version::negotiate("").name());
        }
        if let Some(session) = &self.session {
            request = request.header(SESSION, session);
        }
        let request = request
            .body(message.to_string().into_bytes())
            .map_err(io::Error::other)?;
        let response = self.network.send(request).map_err(io::Error::other)?;
        if let Some(session) = response.headers().get(SESSION) {
            self.session = session.to_str().ok().map(str::to_owned);
        }
        let status = response.status();
        let body = String::from_utf8_lossy(response.body());
        if !status.is_success() {
            let hint = if status.as_u16() == 401 {
                ". Give its token in MCP_API_TOKEN"
            } else {
                ""
            };
            return Err(io::Error::other(format!(
                "the server answered {status}{hint}"
            )));
        }
        if body.trim().is_empty() {
            return Ok(Value::Null);
        }
        parse(&body)
    }
}

/// One message: the body itself, or the data of its last event.
fn parse(body: &str) -> io::Result<Value> {
    let events = body.lines().filter_map(|line| line.strip_prefix("data:"));
    let text = match body.trim_start().starts_with('{') {
        true => body,
        false => events
            .map(str::trim)
            .rfind(|data| !data.is_empty())
            .unwrap_or(body),
    };
    serde_json::from_str(text).map_err(|error| {
        let shown: String = text.chars().take(ECHO_CHARACTERS).collect();
        io::Error::other(format!("the server's answer is no JSON ({error}): {shown}"))
    })
}

impl Read for Pages<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.page.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let Some(cursor) = self.cursor.take() else {
                return Ok(0);
            };
            if let Err(fault) = self.fetch(&cursor) {
                self.fault = Some(fault);
                return Err(io::Error::other("the next page did not come"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn an_answer_is_json_or_events() {
        assert_eq!(parse(" {\"a\":1}").unwrap()["a"], 1);
        let events =
            ":\n\nevent: message\ndata: {\"progress\":1}\n\nevent: message\ndata: {\"a\":2}\n\n";
        assert_eq!(parse(events).unwrap()["a"], 2);
        assert!(parse("<html>").unwrap_err().to_string().contains("no JSON"));
    }
}
