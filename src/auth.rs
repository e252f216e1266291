//! Who is asking: the credential of a request, the static bearer token, and the challenge to those who bring none.
//!
//! Tokens of the sign-in and signed requests are left to `oauth`, behind the port [`Authorization`].

use std::future::Future;

use http::header::AUTHORIZATION;
use http::{HeaderMap, Request, Response};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::fresh::Fresh;

/// A static token is at least this long.
pub const TOKEN_CHARACTERS_MIN: usize = 32;
/// A longer `Authorization` header is no token of ours.
const CREDENTIAL_BYTES_MAX: usize = 512;
const REALM: &str = "Durable Thinking";

/// What a credential must be good for. An OAuth token names one of these as its audience, or the origin for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    Mcp,
    McpCompat,
    /// `POST /`, the alias of `/mcp-compat` that clients use which take the origin for the endpoint.
    Root,
    /// Routes beside MCP that take any live credential: `/export`, `/import`, `/healthz?deep=1`.
    Any,
}

impl Endpoint {
    /// The path of the RFC 9728 document that describes it.
    pub fn metadata_path(self) -> &'static str {
        match self {
            Self::Mcp => "/.well-known/oauth-protected-resource/mcp",
            Self::McpCompat => "/.well-known/oauth-protected-resource/mcp-compat",
            Self::Root | Self::Any => "/.well-known/oauth-protected-resource",
        }
    }
}

/// Somebody whose credential was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The operator's own token.
    Static,
    /// The token before the last rotation: still good, with a `Deprecation` header.
    StaticPrevious,
    OAuth,
    Signed,
    /// A request signed with a key that is being replaced: good until then, with a `Deprecation` header.
    SignedRetiring {
        /// Seconds since the epoch.
        until: u64,
    },
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::StaticPrevious => "static-previous",
            Self::OAuth => "oauth",
            Self::Signed => "signed",
            Self::SignedRetiring { .. } => "signed-retiring",
        }
    }

    /// Whether this is the operator, who may do what no sign-in allows.
    pub fn is_operator(self) -> bool {
        matches!(self, Self::Static | Self::StaticPrevious)
    }
}

/// Why a request is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// No credential came: 401 that says where to ask, without an error code.
    Absent,
    /// A credential came that is not good (here): 401 `invalid_token`. The reason is a fixed text without quotes.
    Invalid(&'static str),
    /// More than one credential, or none that can be read: 400.
    Malformed(&'static str),
    /// Too many dead tokens from one address: 429 with `Retry-After`.
    TooMany,
    /// What would know is not reachable: 503 with `Retry-After`, never 401, since clients throw tokens away on that.
    Unavailable,
}

/// Port: the sign-in. It answers its own routes and knows its own credentials.
pub trait Authorization {
    /// Whether people can sign in, so that a challenge may point at the metadata.
    fn is_open(&self) -> bool;

    /// Answers one of its own routes; `None` for every other path. Host is checked already, Origin is its own affair.
    /// `issuer` is this server's origin in its canonical spelling.
    fn route(
        &self,
        request: &Request<Vec<u8>>,
        issuer: &str,
        fresh: &Fresh,
    ) -> impl Future<Output = Option<Response<Vec<u8>>>>;

    /// Whether the request brings a credential of the sign-in's own, beside the `Authorization` header.
    fn has_own_credential(&self, _request: &Request<Vec<u8>>) -> bool {
        false
    }

    /// Judges a credential that is not the static token: an access token, or a signed request.
    fn verify(
        &self,
        credential: Credential<'_>,
        request: &Request<Vec<u8>>,
        issuer: &str,
        endpoint: Endpoint,
        fresh: &Fresh,
    ) -> impl Future<Output = Result<Principal, Denial>>;
}

/// What a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential<'a> {
    Bearer(&'a str),
    /// No `Authorization` header: signing headers, if signing is on, are read by the sign-in.
    None,
}

impl<'a> Credential<'a> {
    /// Reads the `Authorization` header, by the one grammar for all kinds of token.
    pub fn parse(headers: &'a HeaderMap) -> Result<Self, Denial> {
        const UNREADABLE: Denial = Denial::Invalid("the Authorization header is no bearer token");
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else {
            return Ok(Self::None);
        };
        if values.next().is_some() {
            return Err(Denial::Malformed("more than one Authorization header"));
        }
        if value.len() > CREDENTIAL_BYTES_MAX {
            return Err(UNREADABLE);
        }
        let value = value.to_str().map_err(|_| UNREADABLE)?.trim();
        let (scheme, token) = value.split_once(' ').ok_or(UNREADABLE)?;
        let token = token.trim_start_matches(' ');
        if !scheme.eq_ignore_ascii_case("bearer") || !is_token68(token) {
            return Err(UNREADABLE);
        }
        Ok(Self::Bearer(token))
    }
}

/// RFC 6750's `b64token`.
fn is_token68(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    !body.is_empty()
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

/// The operator's tokens, kept as digests. Their text cannot be had back, so it cannot be printed.
#[derive(Clone, Default)]
pub struct StaticTokens {
    current: Option<[u8; 32]>,
    previous: Option<[u8; 32]>,
}

impl StaticTokens {
    /// Each token must have passed [`check_token`].
    pub fn new(current: Option<&str>, previous: Option<&str>) -> Self {
        Self {
            current: current.map(digest),
            previous: previous.map(digest),
        }
    }

    pub fn is_set(&self) -> bool {
        self.current.is_some()
    }

    /// Compares with every slot, whatever the first comparison says, in constant time.
    pub(crate) fn accept(&self, token: &str) -> Option<Kind> {
        let presented = digest(token);
        let equals = |slot: &Option<[u8; 32]>| {
            let is_set = Choice::from(u8::from(slot.is_some()));
            slot.unwrap_or_default().ct_eq(&presented) & is_set
        };
        let (current, previous) = (equals(&self.current), equals(&self.previous));
        if bool::from(current) {
            Some(Kind::Static)
        } else {
            bool::from(previous).then_some(Kind::StaticPrevious)
        }
    }
}

impl std::fmt::Debug for StaticTokens {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("StaticTokens(redacted)")
    }
}

fn digest(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Whether a configured token can be used at all; the text says what is wrong with it.
pub fn check_token(token: &str) -> Result<(), String> {
    let characters = token.chars().count();
    if characters < TOKEN_CHARACTERS_MIN {
        return Err(format!(
            "has {characters} characters; at least {TOKEN_CHARACTERS_MIN} are needed"
        ));
    }
    if !is_token68(token) {
        return Err("holds a character that a bearer token cannot have".to_owned());
    }
    Ok(())
}

/// Decides who asks. Steps: 1 one credential at most, 2 the static tokens, 3 the sign-in.
pub async fn authenticate<A: Authorization>(
    tokens: &StaticTokens,
    authorization: &A,
    request: &Request<Vec<u8>>,
    issuer: &str,
    endpoint: Endpoint,
    fresh: &Fresh,
) -> Result<Principal, Denial> {
    let credential = Credential::parse(request.headers())?; // 1
    if credential != Credential::None && authorization.has_own_credential(request) {
        return Err(Denial::Malformed("a token and a signature on one request"));
    }
    if let Credential::Bearer(token) = credential
        && let Some(kind) = tokens.accept(token)
    {
        return Ok(Principal { kind }); // 2
    }
    authorization
        .verify(credential, request, issuer, endpoint, fresh)
        .await // 3
}

/// The value of `WWW-Authenticate` for a 401. `origin` is given when people can sign in there.
pub fn challenge(denial: &Denial, origin: Option<&str>, endpoint: Endpoint) -> String {
    let mut text = format!("Bearer realm=\"{REALM}\"");
    if let Some(origin) = origin {
        text.push_str(", resource_metadata=\"");
        text.push_str(origin);
        text.push_str(endpoint.metadata_path());
        text.push('"');
    }
    text.push_str(", scope=\"mcp\"");
    if let Denial::Invalid(reason) = denial {
        text.push_str(", error=\"invalid_token\", error_description=\"");
        text.push_str(reason);
        text.push('"');
    }
    text
}

/// No sign-in at all: the static token is the only credential. For the native fixture hosts and for tests.
#[derive(Debug, Default)]
pub struct TokenOnly;

impl Authorization for TokenOnly {
    fn is_open(&self) -> bool {
        false
    }

    async fn route(&self, _: &Request<Vec<u8>>, _: &str, _: &Fresh) -> Option<Response<Vec<u8>>> {
        None
    }

    async fn verify(
        &self,
        credential: Credential<'_>,
        _: &Request<Vec<u8>>,
        _: &str,
        _: Endpoint,
        _: &Fresh,
    ) -> Result<Principal, Denial> {
        Err(match credential {
            Credential::Bearer(_) => Denial::Invalid("the token is not known here"),
            Credential::None => Denial::Absent,
        })
    }
}

#[cfg(test)]
mod tests {
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, HeaderValue};

    use super::{Credential, Denial, Endpoint, Kind, StaticTokens, challenge, check_token};

    const ONE: &str = "0123456789abcdef0123456789abcdef";
    const TWO: &str = "fedcba9876543210fedcba9876543210";

    #[test]
    fn a_static_token_is_accepted_in_its_slot_only() {
        let tokens = StaticTokens::new(Some(ONE), Some(TWO));
        assert_eq!(tokens.accept(ONE), Some(Kind::Static));
        assert_eq!(tokens.accept(TWO), Some(Kind::StaticPrevious));
        assert_eq!(tokens.accept(&ONE[1..]), None);
        assert_eq!(tokens.accept(""), None);
        let none = StaticTokens::default();
        assert_eq!(none.accept(""), None);
        assert_eq!(none.accept(ONE), None);
        assert!(!format!("{tokens:?}").contains("012345"));
    }

    #[test]
    fn a_token_that_is_too_short_or_cannot_be_sent_is_named() {
        assert_eq!(check_token(ONE), Ok(()));
        assert!(check_token(&ONE[1..]).is_err_and(|text| text.contains("31 characters")));
        assert!(check_token("0123456789abcdef 0123456789abcdef").is_err());
    }

    #[test]
    fn the_header_has_one_grammar() {
        #[track_caller]
        fn check(values: &[&str], expected: Result<Credential<'_>, &str>) {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_str(value).unwrap());
            }
            match (Credential::parse(&headers), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(Denial::Invalid(_)), Err("invalid"))
                | (Err(Denial::Malformed(_)), Err("malformed")) => {}
                (found, expected) => panic!("{values:?}: {found:?}, not {expected:?}"),
            }
        }
        check(&[], Ok(Credential::None));
        check(&["Bearer abc"], Ok(Credential::Bearer("abc")));
        check(
            &["bEARER   a-b._~+/c=="],
            Ok(Credential::Bearer("a-b._~+/c==")),
        );
        for wrong in [
            "Bearer",
            "Bearer ",
            "Basic abc",
            "Bearer a b",
            "Bearer a,b",
            "Bearer =",
            "abc",
        ] {
            check(&[wrong], Err("invalid"));
        }
        check(&[&format!("Bearer {}", "a".repeat(600))], Err("invalid"));
        check(&["Bearer abc", "Bearer abc"], Err("malformed"));
    }

    #[test]
    fn a_challenge_says_where_to_ask_and_blames_only_what_came() {
        assert_eq!(
            challenge(&Denial::Absent, Some("https://host"), Endpoint::Mcp),
            "Bearer realm=\"Durable Thinking\", resource_metadata=\"https://host/.well-known/oauth-protected-resource/mcp\", scope=\"mcp\""
        );
        assert_eq!(
            challenge(&Denial::Invalid("expired"), None, Endpoint::Root),
            "Bearer realm=\"Durable Thinking\", scope=\"mcp\", error=\"invalid_token\", error_description=\"expired\""
        );
    }
}
