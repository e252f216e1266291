//! All that a call may know of clock and chance.
//!
//! A host reads its clock and draws one seed for each call; everything below derives what it needs from that,
//! so that a test can repeat a call exactly. Asking the platform for either is left to the hosts.

use std::cell::{Cell, OnceCell};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use crate::clock::Timestamp;

/// The moment of a call and its private source of random bytes.
pub struct Fresh {
    pub now: Timestamp,
    seed: [u8; 32],
    drawn: Cell<u64>,
    request_id: OnceCell<String>,
}

impl Fresh {
    /// `seed` must come from the platform's cryptographic generator and serve one call only.
    pub fn new(now: Timestamp, seed: [u8; 32]) -> Self {
        Self {
            now,
            seed,
            drawn: Cell::new(0),
            request_id: OnceCell::new(),
        }
    }

    /// The next random bytes: HMAC-SHA256 of a running count under the seed.
    pub fn draw<const N: usize>(&self) -> [u8; N] {
        let mut out = [0; N];
        for chunk in out.chunks_mut(32) {
            let count = self.drawn.get();
            self.drawn.set(count.wrapping_add(1));
            // HMAC takes a key of any length, so this arm cannot be reached.
            let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.seed) else {
                continue;
            };
            mac.update(b"durable-thinking fresh v1");
            mac.update(&count.to_be_bytes());
            for (to, from) in chunk.iter_mut().zip(mac.finalize().into_bytes()) {
                *to = from;
            }
        }
        out
    }

    /// What the logs and the caller call this request: 16 hexadecimal digits, the same whatever has been drawn.
    pub fn request_id(&self) -> String {
        self.request_id.get_or_init(|| self.name()).clone()
    }

    fn name(&self) -> String {
        let mut id = String::with_capacity(16);
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.seed) {
            mac.update(b"durable-thinking request id v1");
            for byte in mac.finalize().into_bytes().into_iter().take(8) {
                for digit in [byte >> 4, byte & 15] {
                    id.extend(char::from_digit(u32::from(digit), 16));
                }
            }
        }
        id
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
