//! The names of the headers that anything below reads, of a request or of an answer to one of ours. All others stay outside:
//! to ask for so few takes less time than to go through all that come, and 12 KB less than the parser of every name there is.

use http::HeaderName;
use http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, HOST, ORIGIN, USER_AGENT,
};

use js_sys::Array;
use wasm_bindgen::JsValue;

use crate::oauth::{consent, sign_in, signed};
use crate::transport::headers;

static READ: [HeaderName; 18] = [
    ACCEPT,
    AUTHORIZATION,
    CACHE_CONTROL,
    CONTENT_TYPE,
    COOKIE,
    HOST,
    ORIGIN,
    USER_AGENT,
    headers::PROTOCOL_VERSION,
    headers::METHOD,
    headers::NAME,
    consent::FETCH_SITE,
    sign_in::ADDRESS,
    sign_in::PURPOSE,
    signed::ACCESS_KEY,
    signed::TIMESTAMP,
    signed::NONCE,
    signed::SIGNATURE,
];

thread_local! {
    static NAMES: Array = READ
        .iter()
        .map(|name| JsValue::from_str(name.as_str()))
        .collect();
}

/// The names, for the platform.
pub(super) fn names() -> Array {
    NAMES.with(Array::clone)
}

/// The name with this index in [`names`], as it comes back from there.
pub(super) fn named(index: &str) -> Option<HeaderName> {
    READ.get(index.parse::<usize>().ok()?).cloned()
}
