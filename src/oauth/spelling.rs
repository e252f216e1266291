//! The spelling of tokens and codes: a prefix, 22 secret bytes and a keyed check, so that forgeries are refused unread.
//!
//! What a token allows is left to the vault, which knows tokens by their SHA-256 alone.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::oauth::keys::{KeyId, Keyring, Purpose, Refusal, RootKey, same, sha256};

const SECRET_BYTES: usize = 22;
const CHECK_BYTES: usize = 10;
const TEXT_LENGTH: usize = 43;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Access,
    Refresh,
    Code,
}

impl Kind {
    const fn stem(self) -> &'static str {
        match self {
            Self::Access => "mcpat",
            Self::Refresh => "mcprt",
            Self::Code => "mcpac",
        }
    }

    fn prefix(self, key: KeyId) -> String {
        format!("{}{}_", self.stem(), key.text())
    }
}

/// Writes the first 22 bytes of `secret` as a token of this kind.
pub fn seal(kind: Kind, key: &RootKey, secret: &[u8; 32]) -> String {
    let prefix = kind.prefix(key.id);
    let (body, _) = secret.split_at(SECRET_BYTES);
    let check = check(key, &prefix, body);
    let (check, _) = check.split_at(CHECK_BYTES);
    format!("{prefix}{}", URL_SAFE_NO_PAD.encode([body, check].concat()))
}

/// Finds the key that sealed a well-formed token of this kind. `None`: not such a token.
pub fn key_id(kind: Kind, token: &str) -> Option<KeyId> {
    let (id, body) = token.strip_prefix(kind.stem())?.split_once('_')?;
    let well_formed = body.len() == TEXT_LENGTH
        && body
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    well_formed.then(|| KeyId::parse_text(id))?
}

/// Checks the seal. The four spellings that base64 slack would allow are refused: the decoder wants zero bits.
pub fn verify(kind: Kind, ring: &Keyring, token: &str) -> Result<(), Refusal> {
    let id = key_id(kind, token).ok_or(Refusal::Forged)?;
    let key = ring.find(id).map_err(Refusal::Key)?;
    let prefix = kind.prefix(id);
    let bytes = token
        .strip_prefix(&prefix)
        .and_then(|body| URL_SAFE_NO_PAD.decode(body).ok())
        .ok_or(Refusal::Forged)?;
    let (body, given) = bytes
        .split_at_checked(SECRET_BYTES)
        .ok_or(Refusal::Forged)?;
    let check = check(key, &prefix, body);
    let (check, _) = check.split_at(CHECK_BYTES);
    if same(check, given) {
        Ok(())
    } else {
        Err(Refusal::Forged)
    }
}

/// What the vault and KV know of a token.
pub fn hash(token: &str) -> [u8; 32] {
    sha256(token.as_bytes())
}

pub fn code(key: &RootKey, flow_id: &[u8; 16], flow_tag: &[u8; 32]) -> String {
    let secret = key.mac(Purpose::Code, &[b"ac/1\0", flow_id, flow_tag]);
    seal(Kind::Code, key, &secret)
}

/// The refresh token that follows `presented`. Derived from the text, which the vault never holds:
/// the database and the key together still cannot walk a chain.
pub fn next_refresh(key: &RootKey, presented: &str) -> String {
    let secret = key.mac(Purpose::RefreshNext, &[b"rt/1\0", presented.as_bytes()]);
    seal(Kind::Refresh, key, &secret)
}

pub fn next_access(key: &RootKey, presented: &str, audience: &str, scope: &str) -> String {
    let secret = key.mac(
        Purpose::AccessNext,
        &[
            b"at/1\0",
            presented.as_bytes(),
            b"\0",
            audience.as_bytes(),
            b"\0",
            scope.as_bytes(),
        ],
    );
    seal(Kind::Access, key, &secret)
}

fn check(key: &RootKey, prefix: &str, body: &[u8]) -> [u8; 32] {
    key.mac(Purpose::TokenCheck, &[b"tok/1\0", prefix.as_bytes(), body])
}

#[cfg(test)]
mod tests {
    use super::{Kind, key_id, next_access, next_refresh, seal, verify};
    use crate::oauth::keys::tests::vector_key;
    use crate::oauth::keys::{KeyId, Keyring, Missing, Refusal, RootKey};

    const REFRESH: &str = "mcprt_gIGCg4SFhoeIiYqLjI2Oj5CRkpOUlcuVq8a1f5O0C6c";

    #[test]
    fn tokens_match_the_vectors() {
        let key = vector_key();
        let secret = std::array::from_fn(|index| 0x80 + u8::try_from(index).unwrap());
        assert_eq!(seal(Kind::Refresh, &key, &secret), REFRESH);
        assert_eq!(
            next_refresh(&key, REFRESH),
            "mcprt_3wgCsLgUWOn2McuCkfWkm6iPdo4aULCBF8PsQKDqiOE"
        );
        assert_eq!(
            next_access(&key, REFRESH, "mcp-compat", "mcp"),
            "mcpat_zNwFGT1XsZ5LR8nLx80pvuFczuZ5dI1IVodo56lCbY4"
        );
    }

    #[test]
    fn a43_every_other_spelling_of_a_token_is_refused() {
        let ring = Keyring::new(vec![vector_key()]).unwrap();
        assert_eq!(verify(Kind::Refresh, &ring, REFRESH), Ok(()));
        let (body, last) = REFRESH.split_at(REFRESH.len() - 1);
        assert_eq!(last, "c");
        // `c`, `d`, `e` and `f` differ in the two spare bits only.
        for other in ["d", "e", "f", "b", "g"] {
            let token = format!("{body}{other}");
            assert_eq!(verify(Kind::Refresh, &ring, &token), Err(Refusal::Forged));
        }
        for kind in [Kind::Access, Kind::Code] {
            assert_eq!(verify(kind, &ring, REFRESH), Err(Refusal::Forged));
            let renamed = REFRESH.replace("mcprt", kind.stem());
            assert_eq!(verify(kind, &ring, &renamed), Err(Refusal::Forged));
        }
    }

    #[test]
    fn the_key_id_is_read_before_any_lookup() {
        let second = RootKey::new(KeyId::new(2).unwrap(), [9; 32]);
        let token = seal(Kind::Access, &second, &[7; 32]);
        assert!(token.starts_with("mcpat2_") && token.len() == 50);
        assert_eq!(key_id(Kind::Access, &token), Some(second.id));
        let old = Keyring::new(vec![vector_key()]).unwrap();
        assert_eq!(
            verify(Kind::Access, &old, &token),
            Err(Refusal::Key(Missing::Newer))
        );
        let new = Keyring::new(vec![second]).unwrap();
        assert_eq!(verify(Kind::Access, &new, &token), Ok(()));
        assert_eq!(
            verify(Kind::Refresh, &new, REFRESH),
            Err(Refusal::Key(Missing::Dropped))
        );
        for token in [
            "",
            "mcpat_",
            "mcpat",
            "mcpat_é",
            "mcpat1_x",
            &"a".repeat(49),
        ] {
            assert_eq!(key_id(Kind::Access, token), None);
        }
    }
}
