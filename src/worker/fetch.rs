//! Requests to other servers: no redirect is followed, no answer waited for longer or read further than asked.

use wasm_bindgen::{JsCast, JsValue};
use worker::js_sys::{self, Uint8Array};
use worker::web_sys;

use super::message;
use super::work::settled;

/// Sends a request. Everything that is not an answer within its limits is an error.
pub(super) async fn fetch(
    request: &http::Request<Vec<u8>>,
    seconds: u32,
    bytes_max: usize,
) -> Result<http::Response<Vec<u8>>, JsValue> {
    let init = web_sys::RequestInit::new();
    init.set_method(request.method().as_str());
    init.set_redirect(web_sys::RequestRedirect::Manual);
    let milliseconds = seconds.saturating_mul(1000);
    init.set_signal(Some(&web_sys::AbortSignal::timeout_with_u32(milliseconds)));
    let headers = web_sys::Headers::new()?;
    for (name, value) in request.headers() {
        if let Ok(value) = value.to_str() {
            headers.append(name.as_str(), value)?;
        }
    }
    init.set_headers(&headers);
    if !request.body().is_empty() {
        init.set_body(&Uint8Array::from(request.body().as_slice()));
    }
    let scope: web_sys::WorkerGlobalScope = js_sys::global().unchecked_into();
    let promise = scope.fetch_with_str_and_init(&request.uri().to_string(), &init);
    let answer: web_sys::Response = settled(promise).await?.dyn_into()?;
    let mut response = http::Response::new(match answer.body() {
        Some(stream) => message::drain(stream, bytes_max).await?,
        None => Vec::new(),
    });
    if response.body().len() > bytes_max {
        return Err("the answer is too long".into());
    }
    *response.status_mut() =
        http::StatusCode::from_u16(answer.status()).map_err(|_| "the answer has no status")?;
    *response.headers_mut() = message::headers(&answer.headers());
    Ok(response)
}
