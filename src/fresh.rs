//! All that a call may know of clock and chance.
//!
//! A host reads its clock and draws one seed for each call; everything below derives what it needs from that,
//! so that a test can repeat a call exactly. Asking the platform for either is left to the hosts.

use std::cell::RefCell;

use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher};

use crate::clock::Timestamp;

/// The moment of a call and its private source of random bytes.
pub struct Fresh {
    pub now: Timestamp,
    /// What the request is called, as a number.
    name: u64,
    bytes: RefCell<ChaCha20>,
}

impl Fresh {
    /// `seed` must come from the platform's cryptographic generator and serve one call only.
    pub fn new(now: Timestamp, seed: [u8; 32]) -> Self {
        let mut bytes = ChaCha20::new(&seed.into(), &[0; 12].into());
        let mut name = [0; 8];
        bytes.apply_keystream(&mut name);
        Self {
            now,
            name: u64::from_be_bytes(name),
            bytes: RefCell::new(bytes),
        }
    }

    /// The next random bytes: the keystream of ChaCha20 (RFC 8439) under the seed, each byte of it once.
    pub fn draw<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        self.bytes.borrow_mut().apply_keystream(&mut out);
        out
    }

    /// What the logs and the caller call this request: 16 hexadecimal digits, the same whatever has been drawn.
    pub fn request_id(&self) -> String {
        format!("{:016x}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Fresh;
    use crate::clock::Timestamp;

    #[test]
    fn draws_never_repeat_and_depend_on_the_seed_alone() {
        let now = Timestamp::from_milliseconds(1);
        let (one, same, other) = (
            Fresh::new(now, [1; 32]),
            Fresh::new(now, [1; 32]),
            Fresh::new(now, [2; 32]),
        );
        let mut seen = HashSet::new();
        for _ in 0..100 {
            let bytes: [u8; 24] = one.draw();
            assert_eq!(bytes, same.draw());
            assert!(seen.insert(bytes) && seen.insert(other.draw()));
        }
        let long: [u8; 72] = one.draw();
        assert_ne!(long[..32], long[32..64]);
        assert_eq!(one.request_id(), same.request_id());
        assert_ne!(one.request_id(), other.request_id());
        assert_eq!(one.request_id().len(), 16);
    }
}
