//! HTTP messages, translated between the platform and the types that everything below a host speaks.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::task::{Poll, Waker};

use http::header::{HeaderMap, HeaderValue};
use js_sys::{Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::web_sys;
use worker::{Error, Result};

use super::header;
use super::log::Answered;
use crate::transport::{Body, Broken, Late, Stream};

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    fn lines(headers: &web_sys::Headers) -> String;

    #[wasm_bindgen(catch)]
    fn respond(
        status: u16,
        lines: &str,
        body: Option<&[u8]>,
    ) -> std::result::Result<web_sys::Response, JsValue>;
}

/// Reads the head, and takes the body that `entry.mjs` has awaited: as much of it as the router needs to see that it is too
/// large, in the member `received`.
pub(crate) fn read(request: &web_sys::Request) -> Result<http::Request<Vec<u8>>> {
    let headers = headers(&request.headers());
    let received = received(request);
    let is_late = received.is_none();
    let mut message = http::Request::new(received.unwrap_or_default());
    if is_late {
        message.extensions_mut().insert(Late);
    }
    *message.method_mut() = request.method().parse().map_err(to_error)?;
    *message.uri_mut() = request.url().parse().map_err(to_error)?;
    *message.headers_mut() = headers;
    Ok(message)
}

/// The body that `entry.mjs` has awaited; none when it did not come.
fn received(request: &web_sys::Request) -> Option<Vec<u8>> {
    let received = Reflect::get(request, &"received".into()).ok()?;
    received.dyn_ref::<Uint8Array>().map(Uint8Array::to_vec)
}

/// The response as the platform wants it. A body that is still being made is left to `entry.mjs`, which pulls it
/// from the member `chunks`.
pub(crate) fn write(
    response: http::Response<Body>,
    answered: Answered,
) -> Result<web_sys::Response> {
    let (head, body) = response.into_parts();
    let status = head.status.as_u16();
    let mut lines = String::new();
    for (name, value) in &head.headers {
        // What the router writes is ASCII.
        if let Ok(value) = value.to_str() {
            for part in [name.as_str(), ":", value, "\n"] {
                lines.push_str(part);
            }
        }
    }
    if matches!(body, Body::Full(_)) {
        answered.print();
    }
    match body {
        Body::Full(bytes) if bytes.is_empty() => Ok(respond(status, &lines, None)?),
        Body::Full(bytes) => Ok(respond(status, &lines, Some(&bytes))?),
        Body::Stream(stream) => {
            let response = respond(status, &lines, None)?;
            let chunks = JsValue::from(ResponseChunks {
                stream: Cell::new(Some(stream)),
                has_left: Cell::default(),
                waker: Cell::default(),
                answered: Cell::new(Some(answered)),
            });
            Reflect::set(&response, &"chunks".into(), &chunks)?;
            Ok(response)
        }
    }
}

/// A body that is made while it is sent, for the entry to pull from.
#[wasm_bindgen]
pub struct ResponseChunks {
    /// None while a chunk is being made.
    stream: Cell<Option<Stream>>,
    has_left: Cell<bool>,
    waker: Cell<Option<Waker>>,
    /// Taken when the line of the request has been printed.
    answered: Cell<Option<Answered>>,
}

#[wasm_bindgen]
impl ResponseChunks {
    /// The next chunk; `undefined` when the response is complete. It throws when the response cannot be.
    pub async fn next(&self) -> std::result::Result<Option<Vec<u8>>, JsValue> {
        let Some(mut stream) = self.stream.take() else {
            return Ok(None);
        };
        let mut next = Box::pin(stream.next());
        let chunk = poll_fn(|context| {
            if self.has_left.get() {
                return Poll::Ready(Ok(None));
            }
            self.waker.set(Some(context.waker().clone()));
            next.as_mut().poll(context)
        })
        .await;
        drop(next);
        self.stream.set(Some(stream));
        if !matches!(chunk, Ok(Some(_))) {
            self.print();
        }
        chunk.map_err(|Broken| JsValue::from_str("the response ends early"))
    }

    /// Ends what is being made. The platform answers nothing any more for a client that has left, so it would wait for ever.
    pub fn leave(&self) {
        self.has_left.set(true);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

impl ResponseChunks {
    fn print(&self) {
        let Some(mut answered) = self.answered.take() else {
            return;
        };
        let stream = self.stream.take();
        let outcome = stream.as_ref().and_then(Stream::outcome);
        answered.access.outcome = match self.has_left.get() {
            true => Some("client_left"),
            false => outcome,
        };
        answered.print();
        self.stream.set(stream);
    }
}

impl Drop for ResponseChunks {
    fn drop(&mut self) {
        self.has_left.set(true);
        self.print();
    }
}

pub(super) fn headers(platform: &web_sys::Headers) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines(platform).lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Some(name), Ok(value)) = (header::known(name), value) {
            // A head with more than 2^15 values cannot come through the platform; were it to, the rest is left out.
            let _ = headers.try_append(name, value);
        }
    }
    headers
}

/// At most one byte more than the cap.
pub(super) async fn drain(stream: web_sys::ReadableStream, bytes_max: usize) -> Result<Vec<u8>> {
    let reader: web_sys::ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut body = Vec::new();
    while body.len() <= bytes_max {
        let part = JsFuture::from(reader.read()).await?;
        if is_true(&Reflect::get(&part, &JsValue::from_str("done"))?) {
            return Ok(body);
        }
        let chunk = Reflect::get(&part, &JsValue::from_str("value"))?;
        let chunk: Uint8Array = chunk.dyn_into().map_err(Error::from)?;
        body.extend_from_slice(&chunk.to_vec());
    }
    body.truncate(bytes_max.saturating_add(1));
    // The rest is refused, not read.
    let _ = reader.cancel();
    Ok(body)
}

fn is_true(value: &JsValue) -> bool {
    value.as_bool() == Some(true)
}

fn to_error(error: impl std::fmt::Display) -> Error {
    Error::RustError(error.to_string())
}
