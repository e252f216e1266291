//! One question to a Durable Object: text there, bytes back, with as few steps through the platform as there are.

use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use worker::js_sys::Uint8Array;
use worker::{Error, Result, Stub, web_sys};

use crate::database::durable::RESET;

/// The id under which the Worker logs the request.
pub(super) const REQUEST_ID: &str = "x-request-id";

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

/// Posts `body` to the object, or asks with a GET when there is none. Any status but 200 is an error, and 503 the one
/// of an instance that is over.
pub(super) async fn ask(
    stub: Stub,
    url: &str,
    body: Option<&str>,
    request_id: &str,
) -> Result<Vec<u8>> {
    let init = web_sys::RequestInit::new();
    if let Some(body) = body {
        init.set_method("POST");
        init.set_body(&body.into());
    }
    let headers = web_sys::Headers::new()?;
    headers.set(REQUEST_ID, request_id)?;
    init.set_headers(&headers);
    let request = web_sys::Request::new_with_str_and_init(url, &init)?;
    let response = stub.into_rpc::<RawStub>().fetch(&request).await?;
    let response: web_sys::Response = response.unchecked_into();
    match response.status() {
        200 => {}
        503 => return Err(Error::RustError(RESET.to_owned())),
        _ => return Err(Error::RustError("the object failed".to_owned())),
    }
    let buffer = JsFuture::from(response.array_buffer()?).await?;
    Ok(Uint8Array::new(&buffer).to_vec())
}
