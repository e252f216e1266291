//! What binds one sign-in to one browser: the consent token, the state that goes to GitHub, the cookie that must come back.
//!
//! Nothing of this is stored. Reading requests and making pages is left to `authorize`, `consent` and `callback`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderMap;
use http::header::COOKIE;
use serde::{Deserialize, Serialize};

use crate::oauth::keys::{KeyId, Keyring, Purpose, Refusal, RootKey, same, sha256};
use crate::wire;

pub const FLOW_SECONDS: u64 = 600;
pub const CONSENT_SECONDS: u64 = 600;
/// How long a completed flow answers a second delivery of the same callback with the same redirect.
pub const REPEAT_SECONDS: u64 = 60;
pub const CONSENT_COOKIE: &str = "__Host-mcp_consent";
const FLOW_COOKIE: &str = "__Host-mcpf_";
/// Browsers stop at 4,096 bytes for name, value and attributes.
const COOKIE_BYTES_MAX: usize = 3800;
const STATE_TAG_BYTES: usize = 16;

/// The validated request, as the flow cookie carries it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payload {
    pub client_id: String,
    pub client_name: Option<String>,
    pub redirect_uri: String,
    pub state: Option<String>,
    pub challenge: String,
    pub audience: Vec<String>,
    pub expires: u64,
}

/// An approved request on its way through GitHub.
pub struct Flow {
    pub id: [u8; 16],
    /// Of the cookie; code and verifier are derived from it.
    pub tag: [u8; 32],
    key: RootKey,
}

impl Flow {
    /// Seals a request. `None`: it is larger than a cookie may be.
    pub fn begin(key: &RootKey, id: [u8; 16], payload: &Payload) -> Option<(Self, String)> {
        let (flow, value) = Self::seal(key, id, &wire::write(payload).ok()?);
        let is_small = flow.cookie_name().len().saturating_add(value.len()) <= COOKIE_BYTES_MAX;
        is_small.then_some((flow, value))
    }

    fn seal(key: &RootKey, id: [u8; 16], payload: &[u8]) -> (Self, String) {
        let tag = cookie_tag(key, &id, payload);
        let value = format!("{}.{}", encode(payload), encode(&tag));
        let key = key.clone();
        (Self { id, tag, key }, value)
    }

    /// Opens what the browser brought back. `Ok(None)`: the state is ours, but this browser did not approve it.
    pub fn resume(state: &State, headers: &HeaderMap, now: u64) -> Option<(Self, Payload)> {
        let value = cookie(headers, &cookie_name(&state.id))?;
        let (text, tag) = value.split_once('.')?;
        let text = URL_SAFE_NO_PAD.decode(text).ok()?;
        let given = URL_SAFE_NO_PAD.decode(tag).ok()?;
        let tag = cookie_tag(&state.key, &state.id, &text);
        if !same(&tag, &given) {
            return None;
        }
        let payload: Payload = wire::read(&text).ok()?;
        let flow = Self {
            id: state.id,
            tag,
            key: state.key.clone(),
        };
        (payload.expires > now).then_some((flow, payload))
    }

    pub fn cookie_name(&self) -> String {
        cookie_name(&self.id)
    }

    pub fn key(&self) -> &RootKey {
        &self.key
    }

    /// The state that goes to GitHub. It proves nothing about the browser; the cookie does.
    pub fn state(&self, issuer: &str) -> String {
        let tag = state_tag(&self.key, issuer, &self.id);
        let (tag, _) = tag.split_at(STATE_TAG_BYTES);
        format!(
            "{}{}.{}",
            key_text(&self.key),
            encode(&self.id),
            encode(tag)
        )
    }

    /// Our own PKCE verifier towards GitHub.
    pub fn github_verifier(&self) -> String {
        let parts: [&[u8]; 3] = [b"gh-pkce/1\0", &self.id, &self.tag];
        encode(&self.key.mac(Purpose::GithubVerifier, &parts))
    }
}

/// A state of ours that came back.
#[derive(Debug)]
pub struct State {
    id: [u8; 16],
    key: RootKey,
}

impl State {
    pub fn open(text: &str, issuer: &str, ring: &Keyring) -> Result<Self, Refusal> {
        let (key, rest) = split_key(text, 2).ok_or(Refusal::Forged)?;
        let key = ring.find(key).map_err(Refusal::Key)?;
        let (id, tag) = rest.split_once('.').ok_or(Refusal::Forged)?;
        let id: Option<[u8; 16]> = URL_SAFE_NO_PAD
            .decode(id)
            .ok()
            .and_then(|id| id.try_into().ok());
        let id = id.ok_or(Refusal::Forged)?;
        let given = URL_SAFE_NO_PAD.decode(tag).map_err(|_| Refusal::Forged)?;
        let tag = state_tag(key, issuer, &id);
        let (tag, _) = tag.split_at(STATE_TAG_BYTES);
        if !same(tag, &given) {
            return Err(Refusal::Forged);
        }
        Ok(Self {
            id,
            key: key.clone(),
        })
    }
}

/// Binds a decision to the browser, the moment, the request and the client as they were shown.
pub fn consent_token(
    key: &RootKey,
    cookie: &str,
    expires: u64,
    query: &str,
    snapshot: &[u8; 32],
) -> String {
    let tag = consent_tag(key, cookie, expires, query, snapshot);
    format!("{}{expires}.{}", key_text(key), encode(&tag))
}

pub fn check_consent_token(
    ring: &Keyring,
    token: &str,
    cookie: &str,
    query: &str,
    snapshot: &[u8; 32],
    now: u64,
) -> Result<(), Refusal> {
    let (key, rest) = split_key(token, 2).ok_or(Refusal::Forged)?;
    let key = ring.find(key).map_err(Refusal::Key)?;
    let (expires, tag) = rest.split_once('.').ok_or(Refusal::Forged)?;
    let given = URL_SAFE_NO_PAD.decode(tag).map_err(|_| Refusal::Forged)?;
    let expires: u64 = expires.parse().map_err(|_| Refusal::Forged)?;
    let tag = consent_tag(key, cookie, expires, query, snapshot);
    let is_timely = now < expires && expires <= now.saturating_add(CONSENT_SECONDS);
    if is_timely && same(&tag, &given) {
        Ok(())
    } else {
        Err(Refusal::Forged)
    }
}

pub fn new_consent_cookie(bytes: &[u8; 32]) -> String {
    encode(bytes)
}

/// The consent cookie of this browser, if it has one of the right shape.
pub fn consent_cookie(headers: &HeaderMap) -> Option<String> {
    cookie(headers, CONSENT_COOKIE).filter(|value| {
        URL_SAFE_NO_PAD
            .decode(value)
            .is_ok_and(|bytes| bytes.len() == 32)
    })
}

/// One cookie's value. A name that comes twice could be somebody else's doing: then there is none.
fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut found = None;
    for header in headers.get_all(COOKIE) {
        for pair in header.to_str().ok()?.split(';') {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if key.trim() == name {
                if found.is_some() {
                    return None;
                }
                found = Some(value.trim().to_owned());
            }
        }
    }
    found
}

/// `Set-Cookie` with the attributes that all our cookies have. Lax, because the way back from GitHub is cross-site.
pub fn set_cookie(name: &str, value: &str, seconds: u64) -> String {
    format!("{name}={value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age={seconds}")
}

fn cookie_name(id: &[u8; 16]) -> String {
    let id = encode(id);
    format!("{FLOW_COOKIE}{}", id.get(..8).unwrap_or_default())
}

fn cookie_tag(key: &RootKey, id: &[u8; 16], payload: &[u8]) -> [u8; 32] {
    key.mac(Purpose::FlowCookie, &[b"flow/1\0", id, payload])
}

fn state_tag(key: &RootKey, issuer: &str, id: &[u8; 16]) -> [u8; 32] {
    key.mac(
        Purpose::FlowState,
        &[b"gh-state/1\0", issuer.as_bytes(), b"\0", id],
    )
}

fn consent_tag(
    key: &RootKey,
    cookie: &str,
    expires: u64,
    query: &str,
    snapshot: &[u8; 32],
) -> [u8; 32] {
    key.mac(
        Purpose::Consent,
        &[
            b"consent/1\n",
            cookie.as_bytes(),
            b"\n",
            expires.to_string().as_bytes(),
            b"\n",
            &sha256(query.as_bytes()),
            b"\n",
            snapshot,
        ],
    )
}

/// The first key is not written; another one stands in front with a dot.
fn key_text(key: &RootKey) -> String {
    if key.id == KeyId::FIRST {
        String::new()
    } else {
        format!("{}.", key.id.number())
    }
}

fn split_key(text: &str, parts: usize) -> Option<(KeyId, &str)> {
    if text.split('.').count() == parts {
        return Some((KeyId::FIRST, text));
    }
    let (key, rest) = text.split_once('.')?;
    let key = KeyId::parse_text(key).filter(|key| *key != KeyId::FIRST)?;
    (rest.split('.').count() == parts).then_some((key, rest))
}

fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use http::header::COOKIE;
    use http::{HeaderMap, HeaderValue};

    use super::{Flow, Payload, State, check_consent_token, consent_token, encode};
    use crate::oauth::keys::tests::vector_key;
    use crate::oauth::keys::{KeyId, Keyring, Missing, Refusal, RootKey, sha256};
    use crate::oauth::spelling;

    const ISSUER: &str = "https://mcp.example.com";
    const NOW: u64 = 1_764_500_000;

    fn payload() -> Payload {
        Payload {
            client_id: "mc1_AQRpLCIgoKGio6SlpqcCkkc1v33S7ORZieRemIJfGiSFc32dsdYw-LjmwMYk5nFFeGFtcGxlIENsaWVudOUK8SOigQ0OLINEY-eB5yQ".to_owned(),
            client_name: None,
            redirect_uri: "http://localhost:3118/callback".to_owned(),
            state: Some("xyz".to_owned()),
            challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM".to_owned(),
            audience: vec!["mcp-compat".to_owned()],
            expires: NOW + 600,
        }
    }

    fn begin() -> (Flow, String) {
        Flow::begin(&vector_key(), flow_id(), &payload()).unwrap()
    }

    fn flow_id() -> [u8; 16] {
        std::array::from_fn(|index| 0x10 + u8::try_from(index).unwrap())
    }

    fn ring() -> Keyring {
        Keyring::new(vec![vector_key()]).unwrap()
    }

    fn cookies(text: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, HeaderValue::from_str(text).unwrap());
        headers
    }

    #[test]
    fn a_flow_matches_the_vectors() {
        // The vectors were made of a payload in JSON; what is derived from it does not ask what it is.
        let payload = format!(
            r#"{{"c":"{}","r":"http://localhost:3118/callback","s":"xyz","h":"{}","a":["mcp-compat"],"x":{}}}"#,
            payload().client_id,
            payload().challenge,
            NOW + 600
        );
        let (flow, cookie) = Flow::seal(&vector_key(), flow_id(), payload.as_bytes());
        assert_eq!(
            flow.state(ISSUER),
            "EBESExQVFhcYGRobHB0eHw.TEiRA7s2usGnpptbFtKT5g"
        );
        assert_eq!(flow.cookie_name(), "__Host-mcpf_EBESExQV");
        assert_eq!(
            encode(&flow.tag),
            "4dUIN6xrvviXSTIdMvByUqjMwQD9u0mJYvwfmhZc_1A"
        );
        assert!(cookie.ends_with(".4dUIN6xrvviXSTIdMvByUqjMwQD9u0mJYvwfmhZc_1A"));
        assert_eq!(
            flow.github_verifier(),
            "LKExg9nv4anzXkr-8al1LndKhD24R4LmOWCjh0QRnOw"
        );
        assert_eq!(
            spelling::code(flow.key(), &flow.id, &flow.tag),
            "mcpac_3_9Ca7FhtWovB_d3QdePrTfvJVLlpaVSJhTlo5AjM5E"
        );
    }

    #[test]
    fn a_consent_token_matches_the_vector_and_is_bound_to_everything() {
        let cookie = encode(&[0; 32]);
        let query = "response_type=code&client_id=x";
        let snapshot = sha256(b"snapshot");
        let token = consent_token(&vector_key(), &cookie, NOW + 600, query, &snapshot);
        assert_eq!(
            token,
            "1764500600.9tuvryR4rQDNqAkl98frvjLlHLCBrow1mxcRi7DOiX0"
        );
        let check = |token: &str, cookie: &str, query: &str, snapshot, now| {
            check_consent_token(&ring(), token, cookie, query, &snapshot, now)
        };
        assert_eq!(check(&token, &cookie, query, snapshot, NOW), Ok(()));
        let forged = Err(Refusal::Forged);
        assert_eq!(
            check(&token, &encode(&[1; 32]), query, snapshot, NOW),
            forged
        );
        assert_eq!(
            check(&token, &cookie, "response_type=code", snapshot, NOW),
            forged
        );
        assert_eq!(check(&token, &cookie, query, sha256(b"other"), NOW), forged);
        assert_eq!(check(&token, &cookie, query, snapshot, NOW + 600), forged);
        assert_eq!(check(&token, &cookie, query, snapshot, NOW - 1), forged);
        assert_eq!(check(&token[..50], &cookie, query, snapshot, NOW), forged);
        let (flow, _) = begin();
        for token in ["", ".", "1764500600.", "x.y", &flow.state(ISSUER)] {
            assert_eq!(
                check(token, &cookie, query, snapshot, NOW),
                forged,
                "{token}"
            );
        }
    }

    #[test]
    fn a87_only_the_browser_that_approved_comes_back() {
        let (flow, value) = begin();
        let state = State::open(&flow.state(ISSUER), ISSUER, &ring()).unwrap();
        let resume = |text: String, now| Flow::resume(&state, &cookies(&text), now);
        let name = flow.cookie_name();
        let (resumed, read) = resume(format!("a=b; {name}={value}; c=d"), NOW).unwrap();
        assert_eq!((read, resumed.tag), (payload(), flow.tag));
        assert!(resume(format!("{name}={value}"), NOW + 600).is_none());
        assert!(resume(format!("{name}={value}; {name}={value}"), NOW).is_none());
        assert!(resume(format!("{name}=x; {name}={value}"), NOW).is_none());
        assert!(resume("a=b".to_owned(), NOW).is_none());
        for at in 0..value.len() {
            let with = if value.as_bytes()[at] == b'A' {
                "B"
            } else {
                "A"
            };
            let changed = format!("{name}={}{with}{}", &value[..at], &value[at + 1..]);
            assert!(resume(changed, NOW).is_none(), "{at}");
        }
        let other = Flow::begin(&vector_key(), [7; 16], &payload()).unwrap();
        assert!(resume(format!("{name}={}", other.1), NOW).is_none());
        assert!(State::open(&flow.state("https://other.example.com"), ISSUER, &ring()).is_err());
    }

    #[test]
    fn a_later_key_is_named_in_front() {
        let second = RootKey::new(KeyId::new(2).unwrap(), [5; 32]);
        let (flow, _) = Flow::begin(&second, [1; 16], &payload()).unwrap();
        let state = flow.state(ISSUER);
        assert!(state.starts_with("2."));
        let both = Keyring::new(vec![vector_key(), second.clone()]).unwrap();
        assert!(State::open(&state, ISSUER, &both).is_ok());
        let refusal = State::open(&state, ISSUER, &ring()).err();
        assert_eq!(refusal, Some(Refusal::Key(Missing::Newer)));
        let token = consent_token(&second, "c", NOW + 600, "q", &[0; 32]);
        assert!(token.starts_with("2.1764500600."));
        assert_eq!(
            check_consent_token(&both, &token, "c", "q", &[0; 32], NOW),
            Ok(())
        );
    }

    #[test]
    fn a_request_too_large_for_a_cookie_is_refused_when_it_is_made() {
        let mut large = payload();
        large.state = Some("s".repeat(5000));
        assert!(Flow::begin(&vector_key(), [1; 16], &large).is_none());
    }
}
