//! Proof Key for Code Exchange, RFC 7636, S256 only.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::oauth::keys::sha256;

const CHALLENGE_LENGTH: usize = 43;

/// The challenge of a verifier (RFC 7636 §4.2).
pub fn s256(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(sha256(verifier.as_bytes()))
}

/// RFC 7636 §4.1: 43 to 128 unreserved characters.
pub fn is_verifier(text: &str) -> bool {
    (43..=128).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'))
}

/// What S256 can produce: exactly 43 characters of base64url, no padding.
pub fn is_challenge(text: &str) -> bool {
    text.len() == CHALLENGE_LENGTH && URL_SAFE_NO_PAD.decode(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::{is_challenge, is_verifier, s256};

    #[test]
    fn the_pair_of_rfc_7636_appendix_b() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert!(is_verifier(verifier));
        assert_eq!(
            s256(verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn shapes() {
        for (length, good) in [(42, false), (43, true), (128, true), (129, false)] {
            assert_eq!(is_verifier(&"a".repeat(length)), good, "{length}");
        }
        for text in ["+", "/", "=", " ", "é", "%"] {
            assert!(!is_verifier(&format!("{}{text}", "a".repeat(43))));
            assert!(!is_challenge(&format!("{}{text}", "a".repeat(42))));
        }
        assert!(is_challenge(&s256("x")) && !is_challenge(&format!("{}=", s256("x"))));
    }
}
