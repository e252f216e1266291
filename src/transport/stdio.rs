//! MCP over standard input and output: one message a line, both eras on one pipe.
//!
//! The pipe itself, and the thread that reads it, are left to the host.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::io::{self, BufRead};
use std::pin::pin;
use std::task::Poll;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::fresh::Fresh;
use crate::jsonrpc::{
    self, Code, ErrorObject, Frame, Id, Message, Notification, Params, Request, Response,
};
use crate::mcp::error::Error;
use crate::mcp::meta::{self, Meta};
use crate::mcp::version::Version;
use crate::mcp::{self, Context, Outgoing, Server};
use crate::transport::compat::BATCH_MESSAGES_MAX;

/// The longest line that is read: 1 MiB.
pub const LINE_BYTES_MAX: usize = 1024 * 1024;

/// One line of the pipe.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Whole(Vec<u8>),
    /// It was longer than [`LINE_BYTES_MAX`] and has been passed over to its end.
    TooLong,
}

/// Reads the next line without its end; `None` when the pipe is closed. A last line without an end counts.
pub fn read_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            let is_end = line.is_empty() && !is_too_long;
            return Ok((!is_end).then(|| finish(line, is_too_long)));
        }
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = buffer
            .get(..end.unwrap_or(buffer.len()))
            .unwrap_or_default();
        if line.len().saturating_add(part.len()) > LINE_BYTES_MAX {
            is_too_long = true;
            line.clear();
        } else if !is_too_long {
            line.extend_from_slice(part);
        }
        let used = part.len().saturating_add(usize::from(end.is_some()));
        input.consume(used);
        if end.is_some() {
            return Ok(Some(finish(line, is_too_long)));
        }
    }
}

fn finish(mut line: Vec<u8>, is_too_long: bool) -> Line {
    if is_too_long {
        return Line::TooLong;
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    Line::Whole(line)
}

/// One client on one pipe.
pub struct Session<S> {
    server: S,
    /// What `initialize` agreed on, with a client of the older protocols.
    agreed: Option<Version>,
    waiting: VecDeque<Waiting>,
}

/// A line that has been read but not answered, so that a cancellation behind it can still take it back.
enum Waiting {
    Request(Request),
    Batch(Vec<Box<RawValue>>),
    /// A client's answer to nothing.
    Stray(Option<Id>),
    /// What could not be read has its answer already.
    Unread(Response),
}

impl<S: Server> Session<S> {
    pub fn new(server: S) -> Self {
        Self {
            server,
            agreed: None,
            waiting: VecDeque::new(),
        }
    }

    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Takes in one line. Notifications take effect at once, everything else waits for [`Session::answer`].
    pub fn take(&mut self, line: &Line) {
        let bytes = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => return,
            Line::Whole(bytes) => bytes,
            Line::TooLong => {
                let text = format!("Parse error: the line is longer than {LINE_BYTES_MAX} bytes");
                let error = ErrorObject::new(Code::Parse, text);
                return self
                    .waiting
                    .push_back(Waiting::Unread(Response::error(None, error)));
            }
        };
        let waiting = match jsonrpc::parse(bytes) {
            Frame::One(Ok(Message::Request(request))) => Waiting::Request(request),
            Frame::One(Ok(Message::Notification(notification))) => {
                return self.notice(&notification);
            }
            Frame::One(Ok(Message::Response(id))) => Waiting::Stray(id),
            Frame::One(Err(response)) => Waiting::Unread(response),
            Frame::Batch(members) => {
                Waiting::Batch(members.into_iter().map(ToOwned::to_owned).collect())
            }
        };
        self.waiting.push_back(waiting);
    }

    /// A cancelled request is never answered. One that is answered, unknown or malformed is passed over.
    fn notice(&mut self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        let id = notification
            .params
            .as_ref()
            .and_then(|params| params.get("requestId"))
            .and_then(Id::from_value);
        let Some(id) = id else { return };
        self.waiting.retain(|waiting| {
            !matches!(waiting, Waiting::Request(request)
                if request.id == id && request.method != "initialize")
        });
    }

    /// Answers the line that has waited longest. Each text of the result is one line to write.
    pub async fn answer(&mut self, fresh: &Fresh) -> Vec<String> {
        match self.waiting.pop_front() {
            None => Vec::new(),
            Some(Waiting::Unread(response)) => vec![response.to_json()],
            // Where there was a handshake an answer is legal, though this server asks nothing.
            Some(Waiting::Stray(_)) if self.agreed.is_some() => Vec::new(),
            Some(Waiting::Stray(id)) => vec![
                invalid(
                    id,
                    "this server asks nothing, so there is nothing to answer",
                )
                .to_json(),
            ],
            Some(Waiting::Batch(members)) => self.batch(&members, fresh).await,
            Some(Waiting::Request(request)) => self.request(&request, fresh).await,
        }
    }

    async fn request(&mut self, request: &Request, fresh: &Fresh) -> Vec<String> {
        let (version, meta) = match self.era(request) {
            Ok(era) => era,
            Err(error) => {
                let object = error.to_object(Version::V2026_07_28);
                return vec![Response::error(Some(request.id.clone()), object).to_json()];
            }
        };
        if version.is_modern() && request.method == "subscriptions/listen" {
            // Open until the pipe closes: nothing ever changes, and after a cancellation nothing is sent either.
            return vec![match mcp::acknowledge_listen(request) {
                Ok(acknowledgement) => acknowledgement,
                Err(error) => {
                    let object = error.to_object(version);
                    Response::error(Some(request.id.clone()), object).to_json()
                }
            }];
        }
        let outgoing = Outgoing::open();
        let context = Context {
            version,
            meta,
            fresh,
            outgoing: outgoing.clone(),
            refused: Cell::default(),
        };
        let mut work = pin!(mcp::handle(&self.server, request, &context));
        let mut lines = Vec::new();
        let response = poll_fn(|waker| {
            loop {
                let polled = work.as_mut().poll(waker);
                match (polled, outgoing.pop()) {
                    (Poll::Ready(response), None) => return Poll::Ready(response),
                    (Poll::Pending, None) => return Poll::Pending,
                    (Poll::Pending, Some(message)) => lines.push(message),
                    (Poll::Ready(response), Some(message)) => {
                        lines.push(message);
                        return Poll::Ready(response);
                    }
                }
            }
        })
        .await;
        lines.push(response.to_json());
        lines
    }

    /// The version a request is served in. One that describes itself is of the newer era whatever came before it.
    fn era(&mut self, request: &Request) -> Result<(Version, Meta), Error> {
        let params = request.params.as_ref();
        if let Some(name) = meta::protocol_version(params) {
            return match Version::parse(name).filter(|version| version.is_modern()) {
                Some(version) => Ok((version, Meta::parse(params)?)),
                None => Err(Error::UnsupportedVersion(name.to_owned())),
            };
        }
        let legacy = match request.method.as_str() {
            "initialize" => {
                let none = Params::new();
                // What cannot be agreed on is refused by the method itself.
                let agreed = mcp::agree(params.unwrap_or(&none)).ok();
                self.agreed = agreed.or(self.agreed);
                Some(agreed.unwrap_or(Version::V2025_11_25))
            }
            "ping" => Some(self.agreed.unwrap_or(Version::V2025_11_25)),
            _ => self.agreed,
        };
        match legacy {
            Some(version) => Ok((version, Meta::parse_legacy(params))),
            None => Err(Meta::parse(params)
                .err()
                .unwrap_or_else(|| Error::UnsupportedVersion(Value::Null.to_string()))),
        }
    }

    async fn batch(&mut self, members: &[Box<RawValue>], fresh: &Fresh) -> Vec<String> {
        if !self.agreed.is_some_and(Version::has_batches) {
            return vec![invalid(None, "batches are not part of this protocol").to_json()];
        }
        if members.is_empty() || members.len() > BATCH_MESSAGES_MAX {
            let text = format!("a batch holds 1 to {BATCH_MESSAGES_MAX} messages");
            return vec![invalid(None, &text).to_json()];
        }
        let (mut lines, mut answers) = (Vec::new(), Vec::new());
        for member in members {
            match jsonrpc::parse_member(member) {
                Ok(Message::Request(request)) if request.method == "initialize" => {
                    let response =
                        invalid(Some(request.id), "initialize stands alone, not in a batch");
                    answers.push(response.to_json());
                }
                Ok(Message::Request(request)) => {
                    lines.extend(self.request(&request, fresh).await);
                    answers.extend(lines.pop());
                }
                Ok(Message::Notification(notification)) => self.notice(&notification),
                Ok(Message::Response(_)) => {}
                Err(response) => answers.push(response.to_json()),
            }
        }
        if !answers.is_empty() {
            lines.push(format!("[{}]", answers.join(",")));
        }
        lines
    }
}

fn invalid(id: Option<Id>, what: &str) -> Response {
    let text = format!("Invalid request: {what}");
    Response::error(id, ErrorObject::new(Code::InvalidRequest, text))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::{LINE_BYTES_MAX, Line, read_line};

    #[test]
    fn lines_are_found_again_after_one_that_is_too_long() {
        let long = "x".repeat(LINE_BYTES_MAX);
        let text = format!("one\r\n\n{long}\n{long}y\nlast");
        let mut input = BufReader::with_capacity(7, text.as_bytes());
        let mut next = || read_line(&mut input).unwrap();
        let whole = |text: &str| Some(Line::Whole(text.as_bytes().to_vec()));
        assert_eq!(next(), whole("one"));
        assert_eq!(next(), whole(""));
        assert_eq!(next(), whole(&long));
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), whole("last"));
        assert_eq!(next(), None);
    }
}
