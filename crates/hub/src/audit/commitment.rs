//! Salted commitments to what was asked and answered, and to details. The trail proves them without
//! holding the text.

use ring::hmac;

/// A 32-byte commitment: HMAC-SHA256 under a salt of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Commitment(pub [u8; 32]);

impl Commitment {
    /// Commits to bytes under a salt; the label keeps requests, responses and details apart.
    pub fn new(salt: &[u8; 16], label: &[u8], bytes: &[u8]) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, salt);
        let mut context = hmac::Context::with_key(&key);
        context.update(label);
        context.update(&[0]);
        context.update(bytes);
        let tag = context.sign();
        let mut commitment = [0; 32];
        for (slot, byte) in commitment.iter_mut().zip(tag.as_ref()) {
            *slot = *byte;
        }
        Self(commitment)
    }

    /// To what was asked.
    pub fn request(salt: &[u8; 16], bytes: &[u8]) -> Self {
        Self::new(salt, b"request", bytes)
    }

    /// To what was answered.
    pub fn response(salt: &[u8; 16], bytes: &[u8]) -> Self {
        Self::new(salt, b"response", bytes)
    }

    /// To what an auditor may read.
    pub fn detail(salt: &[u8; 16], text: &str) -> Self {
        Self::new(salt, b"detail", text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commitment_depends_on_salt_label_and_bytes() {
        let base = Commitment::request(&[1; 16], b"x");
        assert_eq!(base, Commitment::request(&[1; 16], b"x"));
        assert_ne!(base, Commitment::request(&[2; 16], b"x"));
        assert_ne!(base, Commitment::response(&[1; 16], b"x"));
        assert_ne!(base, Commitment::request(&[1; 16], b"y"));
        assert_ne!(base, Commitment::detail(&[1; 16], "x"));
    }

    /// The vector printed in `docs/guides/audit.md`.
    #[test]
    fn the_published_vector_holds() {
        let commitment = Commitment::detail(&[0x44; 16], r#"{"reason":"approved"}"#);
        let expected = "73cad1630fa7d29b9ee04c619b28ab5f3d5094a054ee0ecb6c96134548775608";
        assert_eq!(protocol::audit::to_hex(&commitment.0), expected);
    }
}
