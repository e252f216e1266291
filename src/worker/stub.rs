//! One question to a Durable Object: bytes there, bytes back, with as few steps through the platform as there are.

use serde::Serialize;
use wasm_bindgen::prelude::*;
use worker::js_sys::Uint8Array;
use worker::{Error, Response, Result, Stub};

use crate::wire;

/// The id under which the Worker logs the request.
pub(super) const REQUEST_ID: &str = "x-request-id";
/// The status of an object that runs another version of this program than the Worker.
const OTHER_VERSION: u16 = 409;
/// The status of an instance that is over.
pub(super) const OVER: u16 = 503;

#[wasm_bindgen(module = "/src/worker/platform.mjs")]
extern "C" {
    #[wasm_bindgen(catch, js_name = ask)]
    async fn ask_platform(
        stub: &JsValue,
        url: &str,
        body: Option<&[u8]>,
        request_id: &str,
    ) -> std::result::Result<JsValue, JsValue>;
}

/// Posts `body` to the object, or asks with a GET when there is none.
pub(super) async fn ask(
    stub: Stub,
    url: &str,
    body: Option<&[u8]>,
    request_id: &str,
) -> std::result::Result<Vec<u8>, Failure> {
    let stub = stub.into_rpc::<JsValue>();
    let answer = ask_platform(&stub, url, body, request_id).await;
    let answer = answer.map_err(Error::from)?;
    if let Some(bytes) = answer.dyn_ref::<Uint8Array>() {
        return Ok(bytes.to_vec());
    }
    let status = |known: u16| answer == known;
    Err(if status(OTHER_VERSION) {
        Failure::Version
    } else if status(OVER) {
        Failure::Reset
    } else {
        Failure::Object
    })
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
