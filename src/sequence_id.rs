//! The sequence id: the only way to a sequence, and so 128 random bits with two check characters.
//!
//! What is derived from those bits (lookup digest, keys) is left to `seal`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wire;

const PREFIX: &str = "seq_";
/// Crockford's alphabet in lower case: no i, l, o, u.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 128 bits in groups of five; the first character carries only three.
const BODY_CHARACTERS: usize = 26;
const CHECK_CHARACTERS: usize = 2;
/// The largest prime below 32²: a remainder by it tells every changed character and every swap of two neighbours.
const CHECK_MODULUS: u32 = 1021;
/// `seq_` and 28 characters.
pub const LENGTH: usize = PREFIX.len() + BODY_CHARACTERS + CHECK_CHARACTERS;

/// An id that this server could have minted. `Debug` does not show it: it is a capability.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SequenceId([u8; 16]);

/// Why a text is no sequence id. The text itself is not repeated: it may be all but one character of a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    #[error(
        "a sequence id begins with seq_; this text does not. Copy the id exactly from an earlier result"
    )]
    Prefix,
    #[error(
        "a sequence id has {LENGTH} characters; this one has {0}. The id is damaged: copy it exactly from an earlier result"
    )]
    Length(usize),
    #[error(
        "this sequence id holds a character that no id holds. The id is damaged: copy it exactly from an earlier result"
    )]
    Character,
    #[error(
        "the check characters of this sequence id do not fit. The id is damaged: copy it exactly from an earlier result"
    )]
    Check,
}

impl SequenceId {
    pub fn new(random: [u8; 16]) -> Self {
        Self(random)
    }

    pub fn bytes(&self) -> &[u8; 16] {
        &self.0
    }

    pub fn parse(text: &str) -> Result<Self, Damaged> {
        let text = text.trim();
        let body = text
            .get(..PREFIX.len())
            .filter(|prefix| prefix.eq_ignore_ascii_case(PREFIX))
            .and_then(|_| text.get(PREFIX.len()..))
            .ok_or(Damaged::Prefix)?;
        let characters = text.chars().count();
        if characters != LENGTH {
            return Err(Damaged::Length(characters));
        }
        let mut digits = [0; BODY_CHARACTERS + CHECK_CHARACTERS];
        for (to, character) in digits.iter_mut().zip(body.chars()) {
            *to = digit(character).ok_or(Damaged::Character)?;
        }
        let (body, check) = digits.split_at(BODY_CHARACTERS);
        let mut number: u128 = 0;
        for (index, digit) in body.iter().enumerate() {
            if index == 0 && *digit > 7 {
                return Err(Damaged::Check);
            }
            number = (number << 5) | u128::from(*digit);
        }
        let id = Self(number.to_be_bytes());
        if id.check() == *check {
            Ok(id)
        } else {
            Err(Damaged::Check)
        }
    }

    fn check(self) -> [u8; CHECK_CHARACTERS] {
        let mut remainder: u32 = 0;
        for byte in self.0 {
            // Below 1021 · 256 + 256, so neither step can overflow.
            remainder = remainder
                .wrapping_mul(256)
                .wrapping_add(u32::from(byte))
                .checked_rem(CHECK_MODULUS)
                .unwrap_or_default();
        }
        [remainder >> 5, remainder & 31].map(|digit| u8::try_from(digit).unwrap_or_default())
    }
}

impl fmt::Display for SequenceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(PREFIX)?;
        let number = u128::from_be_bytes(self.0);
        let body = (0..BODY_CHARACTERS).rev().map(|group| {
            u8::try_from((number >> group.saturating_mul(5)) & 31).unwrap_or_default()
        });
        for digit in body.chain(self.check()) {
            let character = ALPHABET.get(usize::from(digit)).copied().unwrap_or(b'0');
            fmt::Write::write_char(out, char::from(character))?;
        }
        Ok(())
    }
}

impl fmt::Debug for SequenceId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("SequenceId(hidden)")
    }
}

/// In a format for people as they see it, on the wire between the Worker and its objects as the bits alone.
impl Serialize for SequenceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(self),
            false => wire::bytes::serialize(&self.0, serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SequenceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.is_human_readable() {
            true => {
                Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
            false => wire::bytes::deserialize(deserializer).map(Self),
        }
    }
}

/// Crockford's reading: either case, and the letters that people take for digits.
fn digit(character: char) -> Option<u8> {
    let lower = match character.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    ALPHABET
        .iter()
        .position(|known| char::from(*known) == lower)
        .and_then(|index| u8::try_from(index).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{ALPHABET, Damaged, LENGTH, SequenceId};

    #[track_caller]
    fn check(text: &str, expected: Damaged) {
        assert_eq!(SequenceId::parse(text), Err(expected), "{text}");
    }

    #[test]
    fn form_is_fixed() {
        let id =
            SequenceId::new(*b"\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef");
        assert_eq!(id.to_string(), "seq_014d2pf2dbsqqg28t5cy4tqkffkn");
        assert_eq!(id.to_string().len(), LENGTH);
        assert_eq!(format!("{id:?}"), "SequenceId(hidden)");
    }

    #[test]
    fn damage_is_told_apart() {
        check("", Damaged::Prefix);
        check("sequence", Damaged::Prefix);
        check("seq_", Damaged::Length(4));
        check("seq_0123", Damaged::Length(8));
        check(
            "seq_7b0c4f0e-6e65-4b0e-9a37-8f0f5a3f4c11",
            Damaged::Length(40),
        );
        check("seq_u14d2pf2dbsqqg28t5cy4tqkffkn", Damaged::Character);
        check("seq_z14d2pf2dbsqqg28t5cy4tqkffkn", Damaged::Check);
        check("seq_014d2pf2dbsqqg28t5cy4tqkff5n", Damaged::Check);
    }

    proptest! {
        #[test]
        fn every_id_round_trips_in_any_case(bytes: [u8; 16]) {
            let id = SequenceId::new(bytes);
            let text = id.to_string();
            prop_assert_eq!(SequenceId::parse(&text), Ok(id));
            prop_assert_eq!(SequenceId::parse(&format!(" {}\n", text.to_uppercase())), Ok(id));
        }

        #[test]
        fn one_wrong_character_or_a_swap_is_noticed(bytes: [u8; 16], at in 4..LENGTH, to in 0..32_usize) {
            let text = SequenceId::new(bytes).to_string();
            let mut wrong = text.clone().into_bytes();
            wrong[at] = ALPHABET[to];
            let mut swapped = text.clone().into_bytes();
            if at + 1 < LENGTH {
                swapped.swap(at, at + 1);
            }
            for other in [wrong, swapped] {
                let other = String::from_utf8(other).unwrap();
                if other != text {
                    prop_assert!(SequenceId::parse(&other).is_err());
                }
            }
        }
    }
}
