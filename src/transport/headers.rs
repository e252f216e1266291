//! Headers in both directions: where a request comes from, the headers that mirror a message, and the ones that every
//! response carries.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, CACHE_CONTROL, HeaderName,
    REFERRER_POLICY, STRICT_TRANSPORT_SECURITY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Request, Response};
use serde_json::Value;

use crate::auth::Kind;
use crate::clock::Timestamp;
use crate::config::{Config, Origin};
use crate::jsonrpc;
use crate::mcp::error::{Error, echo};
use crate::transport::Body;
use crate::transport::http::{own_origin, page_origin};

pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const DEPRECATION: HeaderName = HeaderName::from_static("deprecation");
const SUNSET: HeaderName = HeaderName::from_static("sunset");
const KEY_EXPIRES: HeaderName = HeaderName::from_static("x-mcp-key-expires");

/// Where a request was sent to and which page sent it.
#[derive(Debug)]
pub(crate) struct Surroundings {
    pub(crate) own: Origin,
    /// What this deployment calls itself.
    pub(crate) canonical: Origin,
    /// The same as text.
    pub(crate) issuer: String,
    /// The `Origin` header as it came, if that page may read the response.
    pub(crate) page: Option<HeaderValue>,
    pub(crate) origin_is_refused: bool,
}

impl Surroundings {
    /// `None` when the request is for a host that is not ours.
    pub(crate) fn of(request: &Request<Vec<u8>>, config: &Config) -> Option<Self> {
        let own = own_origin(request)?;
        if !config.hosts.admit(&own) {
            return None;
        }
        let canonical = config.hosts.canonical(&own);
        let (page, origin_is_refused) = match page_origin(request.headers()) {
            Ok(None) => (None, false),
            Ok(Some((origin, value))) if config.origins.admit(&origin, &own, &canonical) => {
                (Some(value), false)
            }
            Ok(Some(_)) | Err(()) => (None, true),
        };
        Some(Self {
            own,
            issuer: canonical.to_string(),
            canonical,
            page,
            origin_is_refused,
        })
    }
}

/// Adds what every response carries, and on MCP routes what lets an allowed page read it.
pub(crate) fn finish(
    response: &mut Response<Body>,
    surroundings: Option<&Surroundings>,
    request_id: &str,
    is_mcp: bool,
) {
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    for (name, value) in [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
    ] {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, value);
    }
    let Some(surroundings) = surroundings else {
        return;
    };
    if surroundings.own.scheme == "https" {
        headers.insert(
            STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
    if !is_mcp {
        return;
    }
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    if let Some(page) = &surroundings.page {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page.clone());
        for (name, value) in [
            (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, DELETE, OPTIONS"),
            (
                ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, traceparent, tracestate, baggage",
            ),
            (
                ACCESS_CONTROL_EXPOSE_HEADERS,
                "WWW-Authenticate, Retry-After, Mcp-Session-Id, MCP-Protocol-Version, X-Request-Id",
            ),
            (ACCESS_CONTROL_MAX_AGE, "86400"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

/// Tells a client that its credential is being replaced (RFC 9745), and for a signing key until when it is good
/// (RFC 8594).
pub(crate) fn deprecate(response: &mut Response<Body>, kind: Kind) {
    let until = match kind {
        Kind::Static | Kind::OAuth | Kind::Signed => return,
        Kind::StaticPrevious => None,
        Kind::SignedRetiring { until } => Some(until),
    };
    let headers = response.headers_mut();
    headers.insert(DEPRECATION, HeaderValue::from_static("@0"));
    if let Some(until) = until {
        headers.insert(KEY_EXPIRES, HeaderValue::from(until));
        let date = Timestamp::from_milliseconds(until.saturating_mul(1000)).to_http_date();
        if let Ok(date) = HeaderValue::from_str(&date) {
            headers.insert(SUNSET, date);
        }
    }
}

/// The one value of a header without the white space around it. `Err` when there are several or it is no text.
pub(crate) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, Error> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(Error::HeaderMismatch(format!("{name} came more than once")));
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text.trim_matches([' ', '\t']))),
        Err(_) => Err(Error::HeaderMismatch(format!("{name} is not plain ASCII"))),
    }
}

/// Checks that `Mcp-Method` and `Mcp-Name` say what the body says, so that what stands between may trust them.
pub(crate) fn check_mirror(headers: &HeaderMap, request: &jsonrpc::Request) -> Result<(), Error> {
    match single(headers, &METHOD)? {
        None => return Err(Error::HeaderMismatch("Mcp-Method is missing".to_owned())),
        Some(method) if method != request.method => {
            return Err(Error::HeaderMismatch(format!(
                "Mcp-Method is '{}' but method is '{}'",
                echo(method),
                echo(&request.method)
            )));
        }
        Some(_) => {}
    }
    let member = match request.method.as_str() {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    let body = request
        .params
        .as_ref()
        .and_then(|params| params.get(member));
    // Without a text in the body there is nothing to mirror; the method refuses that itself.
    let Some(Value::String(body)) = body else {
        return Ok(());
    };
    let Some(header) = single(headers, &NAME)? else {
        return Err(Error::HeaderMismatch("Mcp-Name is missing".to_owned()));
    };
    let name = decode(header).ok_or_else(|| {
        Error::HeaderMismatch("Mcp-Name is not the base64 of UTF-8 text".to_owned())
    })?;
    if name == *body {
        Ok(())
    } else {
        Err(Error::HeaderMismatch(format!(
            "Mcp-Name is '{}' but params.{member} is '{}'",
            echo(&name),
            echo(body)
        )))
    }
}

/// Reads a mirrored value: `=?base64?…?=` holds base64 of UTF-8, anything else stands for itself.
fn decode(value: &str) -> Option<String> {
    let inner = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match inner {
        None => Some(value.to_owned()),
        Some(base64) => String::from_utf8(STANDARD.decode(base64).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn only_whole_markers_mean_base64() {
        for (value, expected) in [
            ("plain", Some("plain")),
            ("=?base64?SGVsbG8=?=", Some("Hello")),
            ("=?base64?SGVsbG8?=", None),
            ("=?base64?SGVs!!bG8=?=", None),
            ("=?base64?/w==?=", None),
            ("=?base64?SGVsbG8=", Some("=?base64?SGVsbG8=")),
            ("SGVsbG8=?=", Some("SGVsbG8=?=")),
            ("=?BASE64?SGVsbG8=?=", Some("=?BASE64?SGVsbG8=?=")),
            ("=?base64??=", Some("")),
        ] {
            assert_eq!(decode(value).as_deref(), expected, "{value}");
        }
    }
}
