//! The headers of every answer, JSON answers, and who may read them from another origin.
//!
//! Pages are left to `pages`; what is answered is left to the endpoints.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
    LOCATION, PRAGMA, REFERRER_POLICY, RETRY_AFTER, SET_COOKIE, STRICT_TRANSPORT_SECURITY,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};

use crate::json::{self, Object, json};
use crate::oauth::error::{Code, Error};
use crate::refusal::{Class, Retry};

pub type Reply = Response<Vec<u8>>;

const RETRY_SECONDS: &str = "2";
const LIMIT_SECONDS: &str = "30";

/// How long an answer may be kept.
#[derive(Clone, Copy)]
pub enum Cache {
    Never,
    FiveMinutes,
}

pub fn new(status: u16, media_type: &'static str, body: Vec<u8>, cache: Cache) -> Reply {
    let mut reply = Response::new(body);
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let cache = match cache {
        Cache::Never => "no-store",
        Cache::FiveMinutes => "public, max-age=300",
    };
    set(&mut reply, CONTENT_TYPE, media_type);
    set(&mut reply, CACHE_CONTROL, cache);
    reply
}

pub fn json(status: u16, value: &Object) -> Reply {
    new(status, "application/json", json::bytes(value), Cache::Never)
}

/// An answer of the token endpoint (RFC 6749 §5.1): kept by nobody.
pub fn tokens(value: &Object) -> Reply {
    let mut reply = json(200, value);
    set(&mut reply, PRAGMA, "no-cache");
    reply
}

/// RFC 6749 §5.2. `with_basic`: the client used that scheme, so the challenge names it.
pub fn error(error: Error, with_basic: bool) -> Reply {
    let mut reply = refusal(
        error.code.status(),
        error.code.text(),
        error.description,
        error.code.advice(),
    );
    set(&mut reply, PRAGMA, "no-cache");
    match error.code {
        Code::TemporarilyUnavailable => set(&mut reply, RETRY_AFTER, RETRY_SECONDS),
        Code::InvalidClient if with_basic => {
            set(&mut reply, WWW_AUTHENTICATE, "Basic realm=\"token\"");
        }
        _ => {}
    }
    reply
}

/// An error that is HTTP's rather than OAuth's.
pub fn problem(status: u16, code: &'static str, description: &str) -> Reply {
    let advice = match status {
        404 => (Class::NotFound, Retry::Never),
        413 => (Class::Limit, Retry::FixInput),
        429 => (Class::Limit, Retry::Later),
        500.. => (Class::Unavailable, Retry::Later),
        _ => (Class::Input, Retry::FixInput),
    };
    refusal(status, code, description, advice)
}

/// Members that OAuth does not know are passed over by its clients (RFC 6749 §5.2, RFC 7591 §3.2.2).
fn refusal(
    status: u16,
    code: &'static str,
    description: &str,
    (class, retry): (Class, Retry),
) -> Reply {
    json(
        status,
        &json!({
            "error": code,
            "error_description": description,
            "class": class.name(),
            "retry": retry.name(),
        }),
    )
}

pub fn not_found() -> Reply {
    problem(404, "not_found", "There is no such document here.")
}

pub fn too_many() -> Reply {
    let mut reply = problem(
        429,
        "temporarily_unavailable",
        "Too many requests from this address. Wait half a minute.",
    );
    set(&mut reply, RETRY_AFTER, LIMIT_SECONDS);
    reply
}

pub fn method_not_allowed(allow: &'static str) -> Reply {
    let mut reply = problem(405, "invalid_request", "This method is not offered here.");
    set(&mut reply, ALLOW, allow);
    reply
}

pub fn no_content() -> Reply {
    let mut reply = Response::new(Vec::new());
    *reply.status_mut() = StatusCode::NO_CONTENT;
    reply
}

/// 303: whatever the method was, the next one is a GET without a body.
pub fn see_other(location: &str) -> Reply {
    let mut reply = Response::new(Vec::new());
    *reply.status_mut() = StatusCode::SEE_OTHER;
    set(&mut reply, CACHE_CONTROL, "no-store");
    set(&mut reply, REFERRER_POLICY, "no-referrer");
    set_text(&mut reply, LOCATION, location);
    reply
}

pub fn set(reply: &mut Reply, name: HeaderName, value: &'static str) {
    reply
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
}

/// A value made at run time. What cannot stand in a header is left out: it could only come from a fault of ours.
pub fn set_text(reply: &mut Reply, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
}

pub fn add_cookie(reply: &mut Reply, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        reply.headers_mut().append(SET_COOKIE, value);
    }
}

/// Who may read an endpoint's answers from another origin. Its safety rests on codes, verifiers and secrets in the
/// request, never on what a browser adds by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cors {
    Document,
    Endpoint,
    Nobody,
}

impl Cors {
    pub fn apply(self, headers: &mut HeaderMap) {
        let (methods, expose) = match self {
            Self::Nobody => return,
            Self::Document => ("GET, HEAD, OPTIONS", None),
            Self::Endpoint => ("POST, OPTIONS", Some("WWW-Authenticate, Retry-After")),
        };
        let mut insert = |name, value| headers.insert(name, HeaderValue::from_static(value));
        insert(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            "Content-Type, Accept, Authorization, MCP-Protocol-Version",
        );
        insert(ACCESS_CONTROL_MAX_AGE, "86400");
        if let Some(expose) = expose {
            insert(ACCESS_CONTROL_EXPOSE_HEADERS, expose);
        }
    }
}

/// What every answer carries.
pub fn secure(reply: &mut Reply, issuer: &str) {
    set(reply, X_CONTENT_TYPE_OPTIONS, "nosniff");
    if issuer.starts_with("https://") {
        set(reply, STRICT_TRANSPORT_SECURITY, "max-age=31536000");
    }
    if !reply.headers().contains_key(REFERRER_POLICY) {
        set(reply, REFERRER_POLICY, "no-referrer");
    }
}
