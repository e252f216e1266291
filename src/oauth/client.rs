//! A client and its `client_id`: a sealed record of a registration (nothing is stored), or the URL of a metadata document.
//!
//! Reading a registration is left to `registration`, fetching a document to `document`.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::oauth::keys::{KeyId, Keyring, Purpose, Refusal, RootKey, same};
use crate::oauth::redirect::RedirectUri;

const ID_PREFIX: &str = "mc1_";
const SECRET_PREFIX: &str = "mcs1_";
/// Longer than any id of ours, shorter than what a database column of 1,024 characters would cut.
const ID_LENGTH_MAX: usize = 512;
const TAG_BYTES: usize = 16;
pub const NAME_BYTES_MAX: usize = 64;
pub const REDIRECTS_MAX: usize = 10;

/// How a client proves itself at the token endpoint, besides PKCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    None,
    Post,
    Basic,
}

impl Method {
    pub const ALL: [Self; 3] = [Self::None, Self::Post, Self::Basic];

    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Post => "client_secret_post",
            Self::Basic => "client_secret_basic",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    const fn bits(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Post => 1,
            Self::Basic => 2,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Registered here; the digests of its redirect URIs came back inside its id.
    Registered {
        issued_at: u32,
        redirects: Vec<[u8; 16]>,
    },
    /// Described by the document at its id; the redirect URIs that we accept, in normal form.
    Document { redirects: Vec<String> },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The `client_id`, which is also what grants are bound to.
    pub id: String,
    /// As the client calls itself, cleaned. May be empty.
    pub name: String,
    pub method: Method,
    pub origin: Origin,
}

impl Client {
    pub fn lists(&self, uri: &RedirectUri) -> bool {
        match &self.origin {
            Origin::Registered { redirects, .. } => redirects.contains(&uri.digest()),
            Origin::Document { redirects } => redirects.iter().any(|listed| listed == uri.normal()),
        }
    }

    /// Everything that the consent page showed of this client: the decision is bound to it.
    pub fn snapshot(&self) -> [u8; 32] {
        let redirects = match &self.origin {
            Origin::Registered { .. } => String::new(),
            Origin::Document { redirects } => redirects.join("\n"),
        };
        crate::oauth::keys::sha256(format!("{}\n{}\n{redirects}", self.id, self.name).as_bytes())
    }
}

/// What goes into a sealed client id.
#[derive(Clone, Debug)]
pub struct Registration {
    pub name: String,
    pub method: Method,
    pub issued_at: u32,
    pub redirects: Vec<[u8; 16]>,
}

/// Version and root key in one byte, flags, time, nonce, digests of the redirect URIs, name, tag.
pub fn seal(registration: &Registration, key: &RootKey, nonce: [u8; 8]) -> String {
    const REFRESH: u8 = 4;
    let mut body = vec![key.id.number(), registration.method.bits() | REFRESH];
    body.extend(registration.issued_at.to_be_bytes());
    body.extend(nonce);
    body.push(u8::try_from(registration.redirects.len()).unwrap_or(u8::MAX));
    body.extend(registration.redirects.iter().flatten());
    body.extend(registration.name.as_bytes());
    let tag = tag(key, &body);
    body.extend(tag.iter().take(TAG_BYTES));
    format!("{ID_PREFIX}{}", URL_SAFE_NO_PAD.encode(body))
}

/// Opens an id that [`seal`] made.
pub fn open(id: &str, ring: &Keyring) -> Result<Client, Refusal> {
    let bytes = decode(id).ok_or(Refusal::Forged)?;
    let key = bytes
        .first()
        .copied()
        .and_then(KeyId::new)
        .ok_or(Refusal::Forged)?;
    let key = ring.find(key).map_err(Refusal::Key)?;
    let at = bytes.len().saturating_sub(TAG_BYTES);
    let (body, given) = bytes.split_at_checked(at).ok_or(Refusal::Forged)?;
    let tag = tag(key, body);
    let (tag, _) = tag.split_at(TAG_BYTES);
    if !same(tag, given) {
        return Err(Refusal::Forged);
    }
    read(body)
        .map(|registration| Client {
            id: id.to_owned(),
            name: registration.name,
            method: registration.method,
            origin: Origin::Registered {
                issued_at: registration.issued_at,
                redirects: registration.redirects,
            },
        })
        .ok_or(Refusal::Forged)
}

/// The root key that sealed an id of this shape, before anything is looked up.
pub fn is_sealed(id: &str) -> bool {
    id.starts_with(ID_PREFIX)
}

/// The secret of a registered client: derived, so that nothing has to be stored.
pub fn secret(id: &str, ring: &Keyring) -> Result<String, Refusal> {
    let number = decode(id)
        .and_then(|bytes| bytes.first().copied())
        .and_then(KeyId::new)
        .ok_or(Refusal::Forged)?;
    let key = ring.find(number).map_err(Refusal::Key)?;
    let secret = key.mac(
        Purpose::ClientSecret,
        &[b"client-secret/1\0", id.as_bytes()],
    );
    Ok(format!("{SECRET_PREFIX}{}", URL_SAFE_NO_PAD.encode(secret)))
}

fn decode(id: &str) -> Option<Vec<u8>> {
    if id.len() > ID_LENGTH_MAX {
        return None;
    }
    URL_SAFE_NO_PAD.decode(id.strip_prefix(ID_PREFIX)?).ok()
}

fn tag(key: &RootKey, body: &[u8]) -> [u8; 32] {
    key.mac(Purpose::ClientId, &[b"client-id/1\0", body])
}

fn read(body: &[u8]) -> Option<Registration> {
    let (_, rest) = body.split_first()?;
    let (flags, rest) = rest.split_first()?;
    let method = Method::ALL
        .into_iter()
        .find(|method| method.bits() == flags & 3)?;
    let (issued_at, rest) = rest.split_first_chunk::<4>()?;
    let (_nonce, rest) = rest.split_first_chunk::<8>()?;
    let (count, mut rest) = rest.split_first()?;
    let mut redirects = Vec::new();
    for _ in 0..*count {
        let (digest, after) = rest.split_first_chunk::<16>()?;
        redirects.push(*digest);
        rest = after;
    }
    Some(Registration {
        name: String::from_utf8(rest.to_vec()).ok()?,
        method,
        issued_at: u32::from_be_bytes(*issued_at),
        redirects,
    })
}

/// A name as it may be shown: no control, direction or invisible characters, single spaces, at most 64 bytes.
pub fn clean_name(text: &str) -> String {
    let mut name = String::new();
    for word in text
        .split(char::is_whitespace)
        .map(|word| {
            word.chars()
                .filter(|char| is_visible(*char))
                .collect::<String>()
        })
        .filter(|word| !word.is_empty())
    {
        if !name.is_empty() {
            name.push(' ');
        }
        name.push_str(&word);
        if name.len() > NAME_BYTES_MAX {
            break;
        }
    }
    let end = name.floor_char_boundary(NAME_BYTES_MAX);
    name.truncate(end);
    name.truncate(name.trim_end().len());
    name
}

fn is_visible(char: char) -> bool {
    !matches!(char,
        '\u{0}'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{ffff}'
        | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::{Client, Method, Origin, Registration, clean_name, open, seal, secret};
    use crate::oauth::keys::tests::vector_key;
    use crate::oauth::keys::{KeyId, Keyring, Missing, Refusal, RootKey};
    use crate::oauth::redirect::RedirectUri;

    const ID: &str = "mc1_AQRpLCIgoKGio6SlpqcCkkc1v33S7ORZieRemIJfGiSFc32dsdYw-LjmwMYk5nFFeGFtcGxlIENsaWVudOUK8SOigQ0OLINEY-eB5yQ";

    fn registration() -> Registration {
        let digest = |text| RedirectUri::parse(text, "").unwrap().digest();
        Registration {
            name: "Example Client".to_owned(),
            method: Method::None,
            issued_at: 1_764_500_000,
            redirects: vec![
                digest("https://claude.ai/api/mcp/auth_callback"),
                digest("http://localhost/callback"),
            ],
        }
    }

    fn ring() -> Keyring {
        Keyring::new(vec![vector_key()]).unwrap()
    }

    #[test]
    fn an_id_and_its_secret_match_the_vectors() {
        let nonce = [0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7];
        assert_eq!(seal(&registration(), &vector_key(), nonce), ID);
        assert_eq!(
            secret(ID, &ring()).unwrap(),
            "mcs1_k121s06RsOoEqhOgEBuy_HUyCs5gg7vggk0JwII1A_w"
        );
        let client = open(ID, &ring()).unwrap();
        assert_eq!(
            (client.name.as_str(), client.method),
            ("Example Client", Method::None)
        );
        let uri = RedirectUri::parse("http://localhost:3118/callback", "").unwrap();
        assert!(client.lists(&uri));
        let uri = RedirectUri::parse("http://localhost:3118/callback2", "").unwrap();
        assert!(!client.lists(&uri));
    }

    #[test]
    fn a61_a_changed_id_is_unknown() {
        for at in 4..ID.len() {
            for with in ["A", "Z", "-", "=", "+"] {
                let changed = format!("{}{with}{}", &ID[..at], &ID[at + 1..]);
                if changed != ID {
                    // A changed first byte names another key; that is refused too.
                    assert!(open(&changed, &ring()).is_err(), "{changed}");
                }
            }
        }
        for text in [
            "",
            "mc1_",
            "mc1_AQ",
            &ID[..ID.len() - 1],
            &format!("{ID}A"),
            &ID[4..],
        ] {
            assert_eq!(open(text, &ring()), Err(Refusal::Forged));
        }
        let elsewhere = Keyring::new(vec![RootKey::new(KeyId::FIRST, [1; 32])]).unwrap();
        assert_eq!(open(ID, &elsewhere), Err(Refusal::Forged));
    }

    #[test]
    fn b23_an_id_outlives_a_rotation_of_the_root_key() {
        let second = RootKey::new(KeyId::new(2).unwrap(), [2; 32]);
        let rotated = Keyring::new(vec![vector_key(), second.clone()]).unwrap();
        assert!(open(ID, &rotated).is_ok());
        let new = seal(&registration(), &second, [0; 8]);
        assert_eq!(open(&new, &ring()), Err(Refusal::Key(Missing::Newer)));
        assert!(open(&new, &rotated).is_ok());
    }

    #[test]
    fn a08_names_are_cleaned_before_they_are_kept() {
        for (text, name) in [
            ("Claude", "Claude"),
            ("  a\n\tb\u{202e}c\u{200b} ", "a bc"),
            ("\u{feff}\u{200d}", ""),
            ("思考 客户端", "思考 客户端"),
            ("<script>alert(1)</script>", "<script>alert(1)</script>"),
            ("\u{1f468}\u{200d}\u{1f4bb}", "\u{1f468}\u{1f4bb}"),
        ] {
            assert_eq!(clean_name(text), name, "{text:?}");
        }
        assert_eq!(clean_name(&"思".repeat(10_000)).len(), 63);
        assert_eq!(clean_name(&"a ".repeat(10_000)).len(), 63);
    }

    #[test]
    fn the_snapshot_covers_what_was_shown() {
        let client = |name: &str, redirects: &[&str]| Client {
            id: "https://c.example.com/client.json".to_owned(),
            name: name.to_owned(),
            method: Method::None,
            origin: Origin::Document {
                redirects: redirects.iter().map(|&uri| uri.to_owned()).collect(),
            },
        };
        let shown = client("C", &["https://c.example.com/cb"]).snapshot();
        assert_ne!(shown, client("D", &["https://c.example.com/cb"]).snapshot());
        assert_ne!(shown, client("C", &["https://evil.test/cb"]).snapshot());
    }
}
