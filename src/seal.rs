//! Sealing at rest: keys of one sequence, the digests that find its rows, and the sealed values in them.
//!
//! Everything comes from the 128 random bits of the id, so a copy of the database opens nothing without it.
//! Which values are sealed, and where they lie, is left to the store.

use std::sync::LazyLock;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::fresh::Fresh;
use crate::sequence_id::SequenceId;

/// The first byte of every sealed value.
const VERSION: u8 = 1;
const NONCE_BYTES: usize = 24;
pub const DIGEST_BYTES: usize = 16;

/// The keys of one sequence, derived when a call has its id and dropped with the call. Those that few calls need are derived
/// by who needs them.
pub struct Keys {
    lookup: [u8; 32],
    root: Hkdf<Sha256>,
    cipher: XChaCha20Poly1305,
}

/// What a sealed value is, bound to it as associated data: a value moved to another place does not open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// The text of the thought with this ordinal.
    Thought(u32),
    Title,
    /// The name of the branch with this index.
    Branch(u32),
    /// Where an imported sequence came from.
    Origin,
}

/// A stored value that its key does not open: the row is damaged or lies in the wrong place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value does not open")]
pub struct Unopened;

impl Keys {
    pub fn derive(id: &SequenceId) -> Self {
        let root = extract(id);
        let mut lookup = Sha256::new();
        lookup.update(b"durable-thinking lookup v1\0");
        lookup.update(id.bytes());
        Self {
            lookup: lookup.finalize().into(),
            cipher: XChaCha20Poly1305::new(&expand(&root, b"value encryption").into()),
            root,
        }
    }

    /// Finds the sequence's row. Not reversible, since the id has 128 random bits.
    pub fn lookup(&self) -> &[u8] {
        &self.lookup
    }

    /// Equal for equal branch names of this sequence, and tells nothing else.
    pub fn branch_match(&self, name: &str) -> [u8; DIGEST_BYTES] {
        digest(
            &expand(&self.root, b"branch name match"),
            &[name.as_bytes()],
        )
    }

    /// Equal for calls with equal content. Each part is preceded by its length, so that parts cannot run together.
    pub fn repeat_match(&self, parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
        digest(&expand(&self.root, b"repeated call match"), parts)
    }

    pub fn cursor_tag(&self, parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
        digest(&expand(&self.root, b"cursor authentication"), parts)
    }

    pub fn seal(&self, field: Field, text: &str, fresh: &Fresh) -> Vec<u8> {
        let nonce: [u8; NONCE_BYTES] = fresh.draw();
        let data = self.associated_data(field);
        let payload = Payload {
            msg: text.as_bytes(),
            aad: &data,
        };
        let mut sealed = vec![VERSION];
        sealed.extend_from_slice(&nonce);
        // Encryption fails only for texts of 256 GiB and more; an empty value would then not open.
        sealed.extend(
            self.cipher
                .encrypt(&XNonce::from(nonce), payload)
                .unwrap_or_default(),
        );
        sealed
    }

    pub fn open(&self, field: Field, sealed: &[u8]) -> Result<String, Unopened> {
        let (version, rest) = sealed.split_first().ok_or(Unopened)?;
        if *version != VERSION {
            return Err(Unopened);
        }
        let (nonce, encrypted) = rest.split_first_chunk::<NONCE_BYTES>().ok_or(Unopened)?;
        let data = self.associated_data(field);
        let payload = Payload {
            msg: encrypted,
            aad: &data,
        };
        let text = self
            .cipher
            .decrypt(&XNonce::from(*nonce), payload)
            .map_err(|_| Unopened)?;
        String::from_utf8(text).map_err(|_| Unopened)
    }

    fn associated_data(&self, field: Field) -> [u8; 38] {
        let (label, index) = match field {
            Field::Thought(ordinal) => (b't', ordinal),
            Field::Title => (b'n', 0),
            Field::Branch(index) => (b'b', index),
            Field::Origin => (b'o', 0),
        };
        let mut data = [0; 38];
        let parts = [VERSION, label]
            .into_iter()
            .chain(index.to_be_bytes())
            .chain(self.lookup);
        for (to, from) in data.iter_mut().zip(parts) {
            *to = from;
        }
        data
    }
}

/// Compares without telling by its time where two digests differ.
pub fn equal(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// HKDF's first step (RFC 5869 §2.2), which is an HMAC under the salt: half of its work is the salt's, and the same for all.
fn extract(id: &SequenceId) -> Hkdf<Sha256> {
    const SALT: &[u8] = b"durable-thinking sequence v1";
    static SALTED: LazyLock<Option<Hmac<Sha256>>> =
        LazyLock::new(|| <Hmac<Sha256> as KeyInit>::new_from_slice(SALT).ok());
    let extracted = SALTED.clone().and_then(|mut mac| {
        mac.update(id.bytes());
        Hkdf::from_prk(&mac.finalize().into_bytes()).ok()
    });
    extracted.unwrap_or_else(|| Hkdf::new(Some(SALT), id.bytes()))
}

fn expand(root: &Hkdf<Sha256>, label: &[u8]) -> [u8; 32] {
    let mut key = [0; 32];
    // 32 bytes are far below HKDF's limit, so the expansion cannot fail.
    let _ = root.expand(label, &mut key);
    key
}

fn digest(key: &[u8; 32], parts: &[&[u8]]) -> [u8; DIGEST_BYTES] {
    let mut out = [0; DIGEST_BYTES];
    // HMAC takes a key of any length, so this always runs.
    if let Ok(mut mac) = <Hmac<Sha256> as KeyInit>::new_from_slice(key) {
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        for (to, from) in out.iter_mut().zip(mac.finalize().into_bytes()) {
            *to = from;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Field, Keys, Unopened};
    use crate::clock::Timestamp;
    use crate::fresh::Fresh;
    use crate::sequence_id::SequenceId;

    fn fresh() -> Fresh {
        Fresh::new(Timestamp::from_milliseconds(0), [7; 32])
    }

    fn keys(byte: u8) -> Keys {
        Keys::derive(&SequenceId::new([byte; 16]))
    }

    /// Stored rows must open for ever: these bytes may never change.
    #[test]
    fn stored_format_is_pinned() {
        let sealed = bytes(
            "0157c706edbf43aeb1079cf23f86d108bc6042548b631230ca8cf03a31c653a673d88839c825aa4346bc442c8d3425",
        );
        let opened = keys(1).open(Field::Thought(3), &sealed);
        assert_eq!(opened.as_deref(), Ok("Ωmega"));
        let again = keys(1).seal(Field::Thought(3), "Ωmega", &fresh());
        assert_eq!((again.len(), again[0]), (sealed.len(), sealed[0]));
        expect_test::expect!["a2586cc523b17ae437c02f1bf957110fc7beb700442482601d34d685e9e71bf8"]
            .assert_eq(&hex(keys(1).lookup()));
        expect_test::expect!["93bb6fbb6053a8ed7a1355bb2a1c9ba1"]
            .assert_eq(&hex(&keys(1).branch_match("main")));
    }

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    }

    fn hex(bytes: &[u8]) -> String {
        bytes
            .iter()
            .flat_map(|byte| [byte >> 4, byte & 15])
            .map(|digit| char::from_digit(digit.into(), 16).unwrap())
            .collect()
    }

    #[test]
    fn a_value_opens_only_where_it_was_sealed() {
        let sealed = keys(1).seal(Field::Thought(3), "secret", &fresh());
        assert_eq!(
            keys(1).open(Field::Thought(3), &sealed).as_deref(),
            Ok("secret")
        );
        for field in [
            Field::Thought(4),
            Field::Branch(3),
            Field::Title,
            Field::Origin,
        ] {
            assert_eq!(keys(1).open(field, &sealed), Err(Unopened));
        }
        assert_eq!(keys(2).open(Field::Thought(3), &sealed), Err(Unopened));
    }

    proptest! {
        #[test]
        fn any_text_round_trips_and_any_damage_is_noticed(text: String, at: prop::sample::Index, bit in 0..8_u8) {
            let mut sealed = keys(9).seal(Field::Title, &text, &fresh());
            prop_assert_eq!(keys(9).open(Field::Title, &sealed), Ok(text));
            let at = at.index(sealed.len());
            sealed[at] ^= 1 << bit;
            prop_assert_eq!(keys(9).open(Field::Title, &sealed), Err(Unopened));
            sealed.truncate(at);
            prop_assert_eq!(keys(9).open(Field::Title, &sealed), Err(Unopened));
        }
    }
}
