//! Server-sent events: the bytes of an event, and a response that is made while it is sent.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue, Response};

use crate::mcp::Outgoing;
use crate::transport::status::full;
use crate::transport::{Body, Chunk, Chunks, Stream};

const MEDIA_TYPE: &str = "text/event-stream";
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// One message as an event. It is one line of JSON, so it needs no other framing.
pub(crate) fn event(message: &str) -> Vec<u8> {
    format!("event: message\ndata: {message}\n\n").into_bytes()
}

/// A response whose events are all known.
pub(crate) fn finished<'a>(messages: impl IntoIterator<Item = &'a str>) -> Response<Body> {
    let body = messages.into_iter().flat_map(event).collect();
    unbuffered(full(200, MEDIA_TYPE, body))
}

/// What some work came to: its answer, and the word for the log.
pub(crate) struct Worked {
    pub(crate) answer: String,
    pub(crate) outcome: &'static str,
}

/// A response with the notifications of some work and then its answer. Dropping it drops the work.
pub(crate) fn streamed(
    work: impl Future<Output = Worked> + 'static,
    outgoing: Outgoing,
) -> Response<Body> {
    let mut response = Response::new(Body::Stream(Stream::new(Running {
        work: Some(Box::pin(work)),
        answer: None,
        outcome: None,
        outgoing,
    })));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    unbuffered(response)
}

/// Proxies must pass events on as they come.
fn unbuffered(mut response: Response<Body>) -> Response<Body> {
    response
        .headers_mut()
        .insert(BUFFERING, HeaderValue::from_static("no"));
    response
}

struct Running {
    work: Option<Pin<Box<dyn Future<Output = Worked>>>>,
    answer: Option<String>,
    outcome: Option<&'static str>,
    outgoing: Outgoing,
}

impl Running {
    /// What can be sent: notifications in their order, the answer last.
    fn ready(&mut self) -> Option<Vec<u8>> {
        self.outgoing
            .pop()
            .or_else(|| self.answer.take())
            .map(|message| event(&message))
    }
}

impl Chunks for Running {
    fn next(&mut self) -> Pin<Box<dyn Future<Output = Chunk> + '_>> {
        Box::pin(poll_fn(|context| {
            if let Some(chunk) = self.ready() {
                return Poll::Ready(Ok(Some(chunk)));
            }
            let Some(work) = &mut self.work else {
                return Poll::Ready(Ok(None));
            };
            if let Poll::Ready(worked) = work.as_mut().poll(context) {
                self.work = None;
                self.answer = Some(worked.answer);
                self.outcome = Some(worked.outcome);
            }
            match self.ready() {
                Some(chunk) => Poll::Ready(Ok(Some(chunk))),
                None => Poll::Pending,
            }
        }))
    }

    fn outcome(&self) -> Option<&'static str> {
        self.outcome
    }
}
