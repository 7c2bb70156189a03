//! The tags with which services sign what they send: HMAC over the very bytes, as hexadecimal digits.

use std::fmt::Write as _;

use protocol::Secret;
use ring::{digest, hmac};

/// The secrets of a link's way in: one, or two while the old one is being replaced.
#[derive(Debug)]
pub(crate) struct Seal {
    algorithm: hmac::Algorithm,
    secrets: Vec<Secret<String>>,
}

impl Seal {
    /// Made of secrets, the current one first; empty ones do not count.
    pub(crate) fn new<const N: usize>(algorithm: hmac::Algorithm, secrets: [&str; N]) -> Self {
        let given = secrets.into_iter().map(str::trim).filter(|secret| !secret.is_empty());
        let secrets = given.map(|secret| Secret::new(secret.to_owned())).collect();
        Self { algorithm, secrets }
    }

    /// Whether there is a secret at all. Without one anybody could sign.
    pub(crate) fn is_there(&self) -> bool {
        !self.secrets.is_empty()
    }

    /// Whether one of the secrets made this tag of these bytes. The comparison takes the same time
    /// wherever the tags differ.
    pub(crate) fn has_made(&self, tag: &str, bytes: &[u8]) -> bool {
        // Services write small digits; another spelling is not what they signed with.
        let is_small = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        let Some(tag) = from_hex(tag).filter(|_| tag.bytes().all(is_small)) else { return false };
        self.secrets.iter().any(|secret| {
            let key = hmac::Key::new(self.algorithm, secret.expose().as_bytes());
            hmac::verify(&key, bytes, &tag).is_ok()
        })
    }

    /// The tag of these bytes under the current secret; nothing where there is none.
    pub(crate) fn make(&self, bytes: &[u8]) -> Option<String> {
        let secret = self.secrets.first()?;
        let key = hmac::Key::new(self.algorithm, secret.expose().as_bytes());
        Some(to_hex(hmac::sign(&key, bytes).as_ref()))
    }
}

/// The digest of a body, by which it is known again where the service gives deliveries no id.
pub(crate) fn body_key(body: &[u8]) -> String {
    format!("sha256:{}", to_hex(digest::digest(&digest::SHA256, body).as_ref()))
}

/// Bytes as hexadecimal digits.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes whatever is written");
        text
    })
}

/// Bytes written as hexadecimal digits.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_bytes() {
        assert_eq!(from_hex("00fFa5"), Some(vec![0, 255, 165]));
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("zz"), None);
        assert_eq!(from_hex("é"), None);
    }

    #[test]
    fn the_second_case_of_rfc_4231_is_right() {
        let seal = Seal::new(hmac::HMAC_SHA256, ["Jefe"]);
        let tag = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        let body = b"what do ya want for nothing?";
        assert!(seal.has_made(tag, body));
        assert_eq!(seal.make(body).as_deref(), Some(tag));
        assert!(!seal.has_made(&tag[..62], body));
        assert!(!seal.has_made(&tag.to_uppercase(), body));
        assert!(!seal.has_made("", body));
        assert!(!seal.has_made("é", body));
    }

    #[test]
    fn the_second_case_of_rfc_2202_is_right() {
        let seal = Seal::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, ["Jefe"]);
        let tag = "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79";
        assert!(seal.has_made(tag, b"what do ya want for nothing?"));
    }

    #[test]
    fn either_secret_signs_while_one_replaces_the_other() {
        let old = Seal::new(hmac::HMAC_SHA256, ["old"]);
        let both = Seal::new(hmac::HMAC_SHA256, ["new", "old"]);
        let tag = old.make(b"x").unwrap();
        assert!(both.has_made(&tag, b"x"));
        assert_ne!(both.make(b"x").unwrap(), tag);
    }

    #[test]
    fn an_empty_secret_signs_nothing() {
        let none = Seal::new(hmac::HMAC_SHA256, ["", " "]);
        assert!(!none.is_there());
        assert_eq!(none.make(b"x"), None);
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"");
        let tag = to_hex(hmac::sign(&key, b"x").as_ref());
        assert!(!none.has_made(&tag, b"x"));
    }
}
