//! Why a request gets no answer of the protocol, and the one mapping to a status, headers and a body.

use http::header::{ALLOW, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};

use crate::auth::{self, Denial, Endpoint};
use crate::json::{self, Object, json};
use crate::refusal::{Class, Retry};
use crate::transport::Body;

/// Seconds after which a client may ask again when something of ours was not reachable.
const RETRY_SECONDS: u32 = 5;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The request is for a host that this deployment does not answer for.
    Host,
    Origin,
    NotFound,
    /// The route is the owner's, and somebody else came in.
    NotOwner,
    /// With the methods that the route has.
    Method(&'static str),
    MediaType,
    /// The body did not come in time.
    Late,
    TooLarge {
        bytes_max: usize,
    },
    /// Nobody could come in: no usable token is set and there is no sign-in.
    NotConfigured,
    Denied {
        denial: Denial,
        endpoint: Endpoint,
        /// The origin of the sign-in, when there is one.
        sign_in: Option<String>,
    },
}

/// Status, word, class, retry advice and sentence of an error, as its response shows them.
#[derive(Clone, Copy, Debug)]
pub struct Shown(
    pub u16,
    pub &'static str,
    pub Class,
    pub Retry,
    pub &'static str,
);

impl Error {
    /// The table.
    pub fn shown(&self) -> Shown {
        use Class::{Input, Limit, NotFound, Unavailable};
        use Retry::{FixInput, Later, Never};
        match self {
            Self::Host => Shown(
                403,
                "host_not_allowed",
                Input,
                Never,
                "This server does not answer for that host. Its owner sets ALLOWED_HOSTNAMES or PUBLIC_ORIGIN.",
            ),
            Self::Origin => Shown(
                403,
                "origin_not_allowed",
                Input,
                Never,
                "Pages of that origin may not call this server. Its owner sets ALLOWED_ORIGIN_HOSTNAMES.",
            ),
            Self::NotFound => Shown(
                404,
                "not_found",
                NotFound,
                Never,
                "There is nothing here. MCP is served at /mcp (2026-07-28) and /mcp-compat (older protocols).",
            ),
            Self::NotOwner => Shown(
                403,
                "owner_only",
                Input,
                Never,
                "Only the static token opens this.",
            ),
            Self::Method(_) => Shown(
                405,
                "method_not_allowed",
                Input,
                FixInput,
                "This method is not served here; the Allow header names those that are.",
            ),
            Self::MediaType => Shown(
                415,
                "unsupported_media_type",
                Input,
                FixInput,
                "The body must be application/json.",
            ),
            Self::Late => Shown(
                408,
                "request_timeout",
                Input,
                Later,
                "The body did not come in time.",
            ),
            Self::TooLarge { .. } => Shown(
                413,
                "payload_too_large",
                Limit,
                FixInput,
                "The body is larger than this server takes.",
            ),
            Self::NotConfigured => Shown(
                503,
                "not_configured",
                Unavailable,
                Later,
                "No credential can be accepted yet: MCP_API_TOKEN is not set or cannot be used. /healthz says what is wrong.",
            ),
            Self::Denied { denial, .. } => shown_denial(denial),
        }
    }

    /// The response, without the headers that every response carries.
    pub fn to_response(&self) -> Response<Body> {
        let Shown(status, word, class, retry, message) = self.shown();
        let mut body = json!({ "error": word, "class": class.name(), "retry": retry.name(), "message": message });
        if let Self::TooLarge { bytes_max } = self {
            body.put("bytesMax", bytes_max);
        }
        let mut response = json_response(status, &body);
        let headers = response.headers_mut();
        match self {
            Self::Method(allow) => {
                headers.insert(ALLOW, HeaderValue::from_static(allow));
            }
            Self::Denied {
                denial: denial @ (Denial::Absent | Denial::Invalid(_)),
                endpoint,
                sign_in,
            } => {
                let challenge = auth::challenge(denial, sign_in.as_deref(), *endpoint);
                if let Ok(value) = HeaderValue::from_str(&challenge) {
                    headers.insert(WWW_AUTHENTICATE, value);
                }
            }
            Self::Denied {
                denial: Denial::Unavailable | Denial::TooMany,
                ..
            } => {
                headers.insert(RETRY_AFTER, RETRY_SECONDS.into());
            }
            Self::Host
            | Self::Origin
            | Self::NotFound
            | Self::NotOwner
            | Self::MediaType
            | Self::Late
            | Self::TooLarge { .. }
            | Self::NotConfigured
            | Self::Denied {
                denial: Denial::Malformed(_),
                ..
            } => {}
        }
        response
    }

    /// The fixed word for the log.
    pub fn word(&self) -> &'static str {
        self.shown().1
    }
}

fn shown_denial(denial: &Denial) -> Shown {
    use Class::{Input, Limit, Unavailable};
    use Retry::{FixInput, Later};
    match denial {
        Denial::Absent => Shown(
            401,
            "unauthorized",
            Input,
            FixInput,
            "A credential is needed: Authorization: Bearer <token>.",
        ),
        Denial::Invalid(reason) => Shown(401, "invalid_token", Input, FixInput, reason),
        Denial::Malformed(reason) => Shown(400, "invalid_request", Input, FixInput, reason),
        Denial::TooMany => Shown(
            429,
            "too_many_requests",
            Limit,
            Later,
            "Too many tokens that are unknown, expired or revoked came from this address. Wait a moment.",
        ),
        Denial::Unavailable => Shown(
            503,
            "temporarily_unavailable",
            Unavailable,
            Later,
            "The credential could not be checked. It may still be good; try again.",
        ),
    }
}

/// A response with a JSON body.
pub(crate) fn json_response(status: u16, body: &Object) -> Response<Body> {
    full(status, "application/json", json::bytes(body))
}

/// A response with a body that is complete.
pub(crate) fn full(status: u16, content_type: &'static str, body: Vec<u8>) -> Response<Body> {
    let mut response = empty(status);
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    *response.body_mut() = Body::Full(body);
    response
}

pub(crate) fn empty(status: u16) -> Response<Body> {
    let mut response = Response::new(Body::Full(Vec::new()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
}

#[cfg(test)]
mod tests {
    use super::Error;
    use crate::auth::{Denial, Endpoint};

    #[test]
    fn every_error_has_its_status_word_and_header() {
        #[track_caller]
        fn check(error: &Error, status: u16, word: &str, header: Option<(&str, &str)>) {
            let response = error.to_response();
            assert_eq!(response.status(), status);
            assert_eq!(error.word(), word);
            if let Some((name, value)) = header {
                assert_eq!(response.headers()[name], value);
            }
        }
        let denied = |denial| Error::Denied {
            denial,
            endpoint: Endpoint::McpCompat,
            sign_in: None,
        };
        check(&Error::Host, 403, "host_not_allowed", None);
        check(&Error::Origin, 403, "origin_not_allowed", None);
        check(&Error::NotFound, 404, "not_found", None);
        check(&Error::NotOwner, 403, "owner_only", None);
        check(
            &Error::Method("POST"),
            405,
            "method_not_allowed",
            Some(("allow", "POST")),
        );
        check(&Error::MediaType, 415, "unsupported_media_type", None);
        check(&Error::Late, 408, "request_timeout", None);
        check(
            &Error::TooLarge { bytes_max: 1 },
            413,
            "payload_too_large",
            None,
        );
        check(&Error::NotConfigured, 503, "not_configured", None);
        let bearer = "Bearer realm=\"Durable Thinking\", scope=\"mcp\"";
        check(
            &denied(Denial::Absent),
            401,
            "unauthorized",
            Some(("www-authenticate", bearer)),
        );
        check(&denied(Denial::Invalid("x")), 401, "invalid_token", None);
        check(
            &denied(Denial::Malformed("x")),
            400,
            "invalid_request",
            None,
        );
        check(
            &denied(Denial::TooMany),
            429,
            "too_many_requests",
            Some(("retry-after", "5")),
        );
        check(
            &denied(Denial::Unavailable),
            503,
            "temporarily_unavailable",
            Some(("retry-after", "5")),
        );
    }
}
