//! One question to a Durable Object: bytes there, bytes back, with as few steps through the platform as there are.

use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::js_sys::Uint8Array;
use worker::{Error, Response, Result, Stub, web_sys};

use crate::wire;

/// The id under which the Worker logs the request.
pub(super) const REQUEST_ID: &str = "x-request-id";
/// The status of an object that runs another version of this program than the Worker.
const OTHER_VERSION: u16 = 409;
/// The status of an instance that is over.
pub(super) const OVER: u16 = 503;

// The stub as the platform has it: its response is read in one piece, where the crate `worker` would stream it.
#[wasm_bindgen]
extern "C" {
    type RawStub;
    #[wasm_bindgen(method, catch)]
    async fn fetch(
        this: &RawStub,
        request: &web_sys::Request,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// Posts `body` to the object, or asks with a GET when there is none.
pub(super) async fn ask(
    stub: Stub,
    url: &str,
    body: Option<&[u8]>,
    request_id: &str,
) -> std::result::Result<Vec<u8>, Failure> {
    let init = web_sys::RequestInit::new();
    if let Some(body) = body {
        init.set_method("POST");
        init.set_body(&Uint8Array::from(body));
    }
    let headers = web_sys::Headers::new().map_err(Error::from)?;
    headers.set(REQUEST_ID, request_id).map_err(Error::from)?;
    init.set_headers(&headers);
    let request = web_sys::Request::new_with_str_and_init(url, &init).map_err(Error::from)?;
    let response = stub.into_rpc::<RawStub>().fetch(&request).await;
    let response: web_sys::Response = response.map_err(Error::from)?.unchecked_into();
    match response.status() {
        200 => {
            let buffer = response.array_buffer().map_err(Error::from)?;
            let buffer = JsFuture::from(buffer).await.map_err(Error::from)?;
            Ok(Uint8Array::new(&buffer).to_vec())
        }
        OTHER_VERSION => Err(Failure::Version),
        OVER => Err(Failure::Reset),
        _ => Err(Failure::Object),
    }
}

/// What an object answers.
pub(super) fn reply(answer: &impl Serialize) -> Result<Response> {
    match wire::write(answer) {
        Ok(bytes) => Response::from_bytes(bytes),
        Err(error) => refuse(error),
    }
}

/// What an object answers to a message that it cannot read.
pub(super) fn refuse(error: wire::Error) -> Result<Response> {
    let status = match error {
        wire::Error::Version => OTHER_VERSION,
        wire::Error::Damaged => 400,
    };
    Response::error(error.to_string(), status)
}

/// Why a question got no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The object runs another version of this program.
    Version,
    /// The instance is over: the one after it answers.
    Reset,
    /// The object answered, but not as one of ours does.
    Object,
    Platform(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Platform(error)
    }
}

impl From<wire::Error> for Failure {
    fn from(error: wire::Error) -> Self {
        match error {
            wire::Error::Version => Self::Version,
            wire::Error::Damaged => Self::Object,
        }
    }
}
