//! The root keys that the vault minted, and what is derived from them: one key for each purpose, never shared.
//!
//! Minting and keeping them is left to the vault; when to ask the vault again is left to `memory`.

use std::fmt;
use std::num::NonZeroU8;

use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const SALT: &[u8] = b"mcp-auth/v1";
/// How many superseded keys still verify. The oldest one goes when a rotation would exceed this.
pub const KEYS_MAX: usize = 8;

/// What a derived key may be used for. The labels are part of the wire formats.
#[derive(Clone, Copy, Debug)]
pub enum Purpose {
    ClientId,
    ClientSecret,
    Consent,
    FlowState,
    FlowCookie,
    GithubVerifier,
    Code,
    RefreshNext,
    AccessNext,
    TokenCheck,
}

impl Purpose {
    const fn label(self) -> &'static [u8] {
        match self {
            Self::ClientId => b"client-id",
            Self::ClientSecret => b"client-secret",
            Self::Consent => b"csrf",
            Self::FlowState => b"flow-state",
            Self::FlowCookie => b"flow-cookie",
            Self::GithubVerifier => b"gh-pkce",
            Self::Code => b"auth-code",
            Self::RefreshNext => b"refresh-next",
            Self::AccessNext => b"access-next",
            Self::TokenCheck => b"token-check",
        }
    }
}

/// Which root key sealed something. Key 1 is not written in texts; later ones are, as a decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyId(NonZeroU8);

impl KeyId {
    pub const FIRST: Self = Self(NonZeroU8::MIN);

    pub fn new(number: u8) -> Option<Self> {
        NonZeroU8::new(number).map(Self)
    }

    pub fn number(self) -> u8 {
        self.0.get()
    }

    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }

    /// The id as it stands in texts: nothing for the first key.
    pub(crate) fn text(self) -> String {
        if self == Self::FIRST {
            String::new()
        } else {
            self.number().to_string()
        }
    }

    /// Reads what [`KeyId::text`] writes, in that spelling only.
    pub(crate) fn parse_text(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::FIRST);
        }
        let id = text.parse().ok().and_then(Self::new)?;
        (id.text() == text).then_some(id)
    }
}

#[derive(Clone)]
pub struct RootKey {
    pub id: KeyId,
    /// The extracted key, from which each purpose expands its own.
    root: Hkdf<Sha256>,
}

impl RootKey {
    pub fn new(id: KeyId, bytes: [u8; 32]) -> Self {
        Self {
            id,
            root: Hkdf::new(Some(SALT), &bytes),
        }
    }

    pub fn derive(&self, purpose: Purpose) -> [u8; 32] {
        let mut out = [0; 32];
        // 32 bytes are far below what HKDF-SHA256 can give, so this cannot fail.
        let _ = self.root.expand(purpose.label(), &mut out);
        out
    }

    pub fn mac(&self, purpose: Purpose, parts: &[&[u8]]) -> [u8; 32] {
        hmac(&self.derive(purpose), parts)
    }
}

impl fmt::Debug for RootKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "RootKey({}, …)", self.id.number())
    }
}

/// The current root key and the superseded ones that still verify.
#[derive(Clone, Debug)]
pub struct Keyring {
    current: RootKey,
    older: Vec<RootKey>,
}

impl Keyring {
    /// Any order; the highest id is the current key. Nothing can be done without a key.
    pub fn new(mut keys: Vec<RootKey>) -> Option<Self> {
        let (newest, _) = keys.iter().enumerate().max_by_key(|(_, key)| key.id)?;
        Some(Self {
            current: keys.swap_remove(newest),
            older: keys,
        })
    }

    pub fn current(&self) -> &RootKey {
        &self.current
    }

    pub fn find(&self, id: KeyId) -> Result<&RootKey, Missing> {
        std::iter::once(&self.current)
            .chain(&self.older)
            .find(|key| key.id == id)
            .ok_or(if id > self.current.id {
                Missing::Newer
            } else {
                Missing::Dropped
            })
    }
}

/// Why a key is not there: another isolate may have met a rotation that this one has not, or the key is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    Newer,
    Dropped,
}

/// Why something sealed was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Not sealed by us for this purpose, or changed since.
    Forged,
    /// Sealed by a key that this isolate does not hold.
    Key(Missing),
}

pub fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC takes a key of any length, so the other arm cannot be reached.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32];
    };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Equality that takes the same time wherever the two differ. Lengths are no secret here.
pub fn same(left: &[u8], right: &[u8]) -> bool {
    left.ct_eq(right).into()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{KeyId, Keyring, Missing, Purpose, RootKey};

    /// The root key of every test vector: bytes 00…1f.
    pub(crate) fn vector_key() -> RootKey {
        RootKey::new(
            KeyId::FIRST,
            std::array::from_fn(|index| u8::try_from(index).unwrap()),
        )
    }

    #[test]
    fn derived_keys_match_the_vectors() {
        for (purpose, hex) in [
            (
                Purpose::ClientId,
                "d4463b5a6323d58e2e1b83a0b188b730a2068ff5f6fab591c8ee454e38e723b4",
            ),
            (
                Purpose::ClientSecret,
                "9044c7465ade46674aa254118d48988b6dcbbea58a14ee90f0e66e052995ae7f",
            ),
            (
                Purpose::Consent,
                "0ef18287edfa4013a34c1b04a62934c6260eed879eaa2411cf54f6718708b26a",
            ),
            (
                Purpose::FlowState,
                "748a13b91d9ddce37a90ea98adead616834a7b8231f67dbe04bc220e6b3bb46f",
            ),
            (
                Purpose::Code,
                "700edd96501b7d35c6a3273df3e8181301f39159f88d474028bbf43f703935da",
            ),
            (
                Purpose::RefreshNext,
                "64880fdc471b4b389496643c0b53fff70dcfa537397eb91f0ef35c1f2248d5fd",
            ),
            (
                Purpose::AccessNext,
                "922aa7bfbac876cbc61ab98efa6ff15bb52ce2a6c0d419c275c51333a8f377d1",
            ),
            (
                Purpose::FlowCookie,
                "ff34fa62fd33088c1cb67573a85aede966f35c48b026239fb496e0ca7fe08765",
            ),
            (
                Purpose::GithubVerifier,
                "9af7b435305d78bb5190ee6f9a33c64220fcdd1b3ccc3590fc476f22dd5f0454",
            ),
            (
                Purpose::TokenCheck,
                "60860fc5df39a1e552927671f5004b8772e2a30601a26d7c984f4c1c4104b163",
            ),
        ] {
            let derived = vector_key().derive(purpose);
            for (at, byte) in derived.into_iter().enumerate() {
                assert_eq!(
                    format!("{byte:02x}"),
                    hex[2 * at..2 * at + 2],
                    "{purpose:?}"
                );
            }
        }
    }

    #[test]
    fn a_missing_key_is_newer_or_dropped() {
        let key = |number| RootKey::new(KeyId::new(number).unwrap(), [number; 32]);
        let ring = Keyring::new(vec![key(3), key(4)]).unwrap();
        assert_eq!(ring.current().id.number(), 4);
        assert!(ring.find(KeyId::new(3).unwrap()).is_ok());
        assert_eq!(
            ring.find(KeyId::new(2).unwrap()).unwrap_err(),
            Missing::Dropped
        );
        assert_eq!(
            ring.find(KeyId::new(5).unwrap()).unwrap_err(),
            Missing::Newer
        );
        assert!(Keyring::new(Vec::new()).is_none());
        assert_eq!(format!("{:?}", key(7)), "RootKey(7, …)");
    }

    #[test]
    fn a_key_id_has_one_spelling() {
        for (text, number) in [("", Some(1)), ("2", Some(2)), ("255", Some(255))] {
            assert_eq!(KeyId::parse_text(text).map(KeyId::number), number);
        }
        for text in ["0", "1", "02", "+2", "256", "x", " 2"] {
            assert_eq!(KeyId::parse_text(text), None, "{text:?}");
        }
    }
}
