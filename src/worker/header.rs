//! The names of the headers that anything below reads, of a request or of an answer to one of ours. All others are left out
//! where they come in. To know a name among so few takes 12 KB less than the parser of every name there is.

use http::HeaderName;
use http::header::{
    ACCEPT, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, COOKIE, HOST, ORIGIN, USER_AGENT,
};

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

pub(super) fn known(name: &str) -> Option<HeaderName> {
    READ.iter().find(|known| known.as_str() == name).cloned()
}
