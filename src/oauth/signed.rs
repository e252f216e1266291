//! Signed requests for scripts: HMAC-SHA256 over method, host, path, query, protocol version and body, with time and nonce.
//!
//! Off unless `ACCESS_KEYS` is set. Whether a nonce is new is left to the vault. `docs/signing.md` tells people how.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderMap, HeaderName, Request};
use serde_json::Value;

use crate::oauth::keys::{hmac, same, sha256};

pub const ACCESS_KEY: HeaderName = HeaderName::from_static("x-mcp-access-key");
pub const TIMESTAMP: HeaderName = HeaderName::from_static("x-mcp-timestamp");
pub const NONCE: HeaderName = HeaderName::from_static("x-mcp-nonce");
pub const SIGNATURE: HeaderName = HeaderName::from_static("x-mcp-signature");

/// How far the signer's clock may be off, either way.
pub const SKEW_SECONDS: u64 = 300;
/// Longer than any moment at which the same request could be accepted.
pub const NONCE_SECONDS: u64 = 660;
const LABEL: &str = "MCP-HMAC-SHA256-V1";
const KEYS_MAX: usize = 20;
const KEYS_PER_LABEL_MAX: usize = 2;
const SECRET_BYTES_MIN: usize = 32;

/// One key of one script. Two of them may carry the same label while one replaces the other.
#[derive(Clone)]
pub struct AccessKey {
    id: String,
    secret: Vec<u8>,
    label: String,
    /// From when on the key is no longer accepted; set while it is being replaced.
    pub not_after: Option<u64>,
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AccessKey({})", self.label)
    }
}

/// One entry of the list, of the right shape.
struct Entry<'a> {
    ak: &'a str,
    sk: &'a str,
    label: &'a str,
    not_after: Option<u64>,
}

impl<'a> Entry<'a> {
    fn read(entry: &'a Value) -> Option<Self> {
        let members = entry.as_object()?;
        let text = |name| members.get(name).and_then(Value::as_str);
        let not_after = match members.get("not_after") {
            None => None,
            Some(time) => Some(time.as_u64()?),
        };
        let known = 3_usize.saturating_add(members.contains_key("not_after").into());
        let read = Self {
            ak: text("ak")?,
            sk: text("sk")?,
            label: text("label")?,
            not_after,
        };
        (members.len() == known).then_some(read)
    }
}

impl AccessKey {
    /// Reads the JSON list of `ACCESS_KEYS`. The reason never repeats the value.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let list: Value = serde_json::from_str(text).unwrap_or_default();
        let entries = list
            .as_array()
            .and_then(|list| list.iter().map(Entry::read).collect::<Option<Vec<_>>>())
            .ok_or("must be a JSON list of {\"ak\", \"sk\", \"label\", \"not_after\"?}")?;
        if entries.len() > KEYS_MAX {
            return Err(format!("holds more than {KEYS_MAX} keys"));
        }
        let mut keys: Vec<Self> = Vec::new();
        for (at, entry) in entries.into_iter().enumerate() {
            let at = at.saturating_add(1);
            let secret = entry
                .sk
                .strip_prefix("sk_")
                .and_then(|text| URL_SAFE_NO_PAD.decode(text).ok())
                .filter(|secret| secret.len() >= SECRET_BYTES_MIN)
                .ok_or(format!(
                    "key {at}: sk must be sk_ and 32 or more bytes in base64url"
                ))?;
            if !is_access_key(entry.ak) {
                return Err(format!(
                    "key {at}: ak must be ak_ and 16 to 40 of A-Z a-z 0-9 _ -"
                ));
            }
            if keys.iter().any(|key| key.id == entry.ak) {
                return Err(format!("key {at}: the same ak stands twice"));
            }
            if keys.iter().filter(|key| key.label == entry.label).count() >= KEYS_PER_LABEL_MAX {
                return Err(format!("key {at}: a label may have two keys"));
            }
            keys.push(Self {
                id: entry.ak.to_owned(),
                secret,
                label: entry.label.to_owned(),
                not_after: entry.not_after,
            });
        }
        Ok(keys)
    }
}

/// The four headers of a signed request, each of the right shape.
#[derive(Debug)]
pub struct Signature<'a> {
    pub access_key: &'a str,
    pub timestamp: u64,
    pub nonce: &'a str,
    value: &'a str,
}

/// Whether any signing header came.
pub fn has_signature(headers: &HeaderMap) -> bool {
    [ACCESS_KEY, TIMESTAMP, NONCE, SIGNATURE]
        .iter()
        .any(|name| headers.contains_key(name))
}

/// Where a signed request goes, in the one spelling that is signed.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Host and port of our canonical origin, lower case.
    pub host: &'a str,
    pub path: &'a str,
}

impl<'a> Signature<'a> {
    /// `None`: a header is missing, repeated or of another shape.
    pub fn parse(headers: &'a HeaderMap) -> Option<Self> {
        let one = |name| {
            let mut values = headers.get_all(name).iter();
            let value = values.next()?;
            values.next().is_none().then(|| value.to_str().ok())?
        };
        let timestamp = one(TIMESTAMP)?;
        let is_time = timestamp.len() == 10
            && timestamp.bytes().all(|byte| byte.is_ascii_digit())
            && !timestamp.starts_with('0');
        let signature = Self {
            access_key: one(ACCESS_KEY).filter(|text| is_access_key(text))?,
            timestamp: is_time.then(|| timestamp.parse().ok())??,
            nonce: one(NONCE).filter(|text| (16..=64).contains(&text.len()) && is_word(text))?,
            value: one(SIGNATURE)?.strip_prefix("v1=")?,
        };
        let is_hex = signature.value.len() == 64
            && signature
                .value
                .bytes()
                .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_hex.then_some(signature)
    }

    pub fn is_timely(&self, now: u64) -> bool {
        self.timestamp.abs_diff(now) <= SKEW_SECONDS
    }

    /// The key that made this signature. An unknown key costs the same work as a known one.
    pub fn verify<'k>(
        &self,
        keys: &'k [AccessKey],
        request: &Request<Vec<u8>>,
        target: Target<'_>,
        now: u64,
    ) -> Option<&'k AccessKey> {
        const NO_SECRET: [u8; 32] = [0; 32];
        let mut found = None;
        for key in keys {
            if same(key.id.as_bytes(), self.access_key.as_bytes()) {
                found = Some(key);
            }
        }
        let secret = found.map_or(NO_SECRET.as_slice(), |key| key.secret.as_slice());
        let text = text_to_sign(self, request, target);
        let is_right = same(
            hex(&hmac(secret, &[text.as_bytes()])).as_bytes(),
            self.value.as_bytes(),
        );
        found.filter(|key| is_right && key.not_after.is_none_or(|end| now < end))
    }
}

/// Ten lines, no newline at the end. The host is our canonical one, so that a request is good at one deployment only.
fn text_to_sign(
    signature: &Signature<'_>,
    request: &Request<Vec<u8>>,
    target: Target<'_>,
) -> String {
    let protocol = request
        .headers()
        .get("mcp-protocol-version")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    [
        LABEL,
        signature.access_key,
        &signature.timestamp.to_string(),
        signature.nonce,
        request.method().as_str(),
        target.host,
        target.path,
        request.uri().query().unwrap_or_default(),
        protocol,
        &hex(&sha256(request.body())),
    ]
    .join("\n")
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::new();
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn is_access_key(text: &str) -> bool {
    text.strip_prefix("ak_")
        .is_some_and(|rest| (16..=40).contains(&rest.len()) && is_word(rest))
}

fn is_word(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
