//! HTTP messages, translated between the platform and the types that everything below a host speaks.

use std::cell::Cell;
use std::rc::Rc;

use http::header::{HeaderMap, HeaderValue};
use js_sys::{Array, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use worker::web_sys;

use super::header;
use super::log::Answered;
use super::work::{Work, settled};
use crate::transport::{Body, Broken, Late, Stream};

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    fn head(request: &web_sys::Request, names: &Array) -> String;

    fn lines(headers: &web_sys::Headers, names: &Array) -> String;

    #[wasm_bindgen(catch)]
    fn respond(status: u16, lines: &str, body: Option<&[u8]>)
    -> Result<web_sys::Response, JsValue>;
}

/// Reads the head. The body has been awaited by `entry.mjs`: as much of it as the router needs to see that it is too large;
/// none when it did not come.
pub(crate) fn read(
    request: &web_sys::Request,
    body: Option<Vec<u8>>,
) -> Result<http::Request<Vec<u8>>, JsValue> {
    let is_late = body.is_none();
    let mut message = http::Request::new(body.unwrap_or_default());
    if is_late {
        message.extensions_mut().insert(Late);
    }
    let head = head(request, &header::names());
    let mut lines = head.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default();
    *message.method_mut() = next().parse().map_err(|_| "an unknown method")?;
    *message.uri_mut() = next().parse().map_err(|_| "an unreadable address")?;
    *message.headers_mut() = named(next());
    Ok(message)
}

/// The response as the platform wants it. A body that is still being made is left to `entry.mjs`, which pulls it
/// from the member `chunks`.
pub(crate) fn write(
    response: http::Response<Body>,
    answered: Answered,
) -> Result<web_sys::Response, JsValue> {
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
            let chunks = ResponseChunks(Rc::new(Chunks {
                stream: Cell::new(Some(stream)),
                answered: Cell::new(Some(answered)),
            }));
            Reflect::set(&response, &"chunks".into(), &chunks.into())?;
            Ok(response)
        }
    }
}

/// A body that is made while it is sent, for the entry to pull from.
#[wasm_bindgen]
pub struct ResponseChunks(Rc<Chunks>);

struct Chunks {
    /// None while a chunk is being made.
    stream: Cell<Option<Stream>>,
    /// Taken when the line of the request has been printed.
    answered: Cell<Option<Answered>>,
}

#[wasm_bindgen]
impl ResponseChunks {
    /// The next chunk; `undefined` when the response is complete. It throws when the response cannot be.
    pub fn next(&self) -> Work {
        let chunks = Rc::clone(&self.0);
        Work::new(async move {
            let Some(mut stream) = chunks.stream.take() else {
                return Ok(JsValue::UNDEFINED);
            };
            let chunk = stream.next().await;
            let outcome = stream.outcome();
            chunks.stream.set(Some(stream));
            match chunk {
                Ok(Some(bytes)) => return Ok(Uint8Array::from(bytes.as_slice()).into()),
                Ok(None) => chunks.print(outcome),
                Err(Broken) => {
                    chunks.print(outcome);
                    return Err("the response ends early".into());
                }
            }
            Ok(JsValue::UNDEFINED)
        })
    }
}

impl Chunks {
    /// Prints the line of the request, once.
    fn print(&self, outcome: Option<&'static str>) {
        if let Some(mut answered) = self.answered.take() {
            answered.access.outcome = outcome;
            answered.print();
        }
    }
}

impl Drop for ResponseChunks {
    /// The entry lets go of it before its end only when the client has left.
    fn drop(&mut self) {
        self.0.print(Some("client_left"));
    }
}

pub(super) fn headers(platform: &web_sys::Headers) -> HeaderMap {
    named(&lines(platform, &header::names()))
}

fn named(lines: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for line in lines.lines() {
        let Some((index, value)) = line.split_once(':') else {
            continue;
        };
        let value = HeaderValue::from_bytes(value.as_bytes());
        if let (Some(name), Ok(value)) = (header::named(index), value) {
            // A head with more than 2^15 values cannot come through the platform; were it to, the rest is left out.
            let _ = headers.try_append(name, value);
        }
    }
    headers
}

/// At most one byte more than the cap.
pub(super) async fn drain(
    stream: web_sys::ReadableStream,
    bytes_max: usize,
) -> Result<Vec<u8>, JsValue> {
    let reader: web_sys::ReadableStreamDefaultReader = stream.get_reader().unchecked_into();
    let mut body = Vec::new();
    while body.len() <= bytes_max {
        let part = settled(reader.read()).await?;
        if is_true(&Reflect::get(&part, &JsValue::from_str("done"))?) {
            return Ok(body);
        }
        let chunk = Reflect::get(&part, &JsValue::from_str("value"))?;
        let chunk: Uint8Array = chunk.dyn_into()?;
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
