//! How numbers and texts become bytes before they are hashed, and how hashes are shown to people.

use std::fmt::Write;

/// Collects the bytes that are hashed: no two lists of fields give the same bytes.
pub(super) struct Encoder(Vec<u8>);

impl Encoder {
    /// Begins with the name of what follows, which ends with a zero byte.
    pub(super) fn new(domain: &str) -> Self {
        let mut bytes = Vec::with_capacity(512);
        bytes.extend_from_slice(domain.as_bytes());
        bytes.push(0);
        Self(bytes)
    }

    /// A number: 8 bytes, the highest first, two's complement.
    pub(super) fn number(mut self, value: i64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    /// A text or bytes: the length as 8 bytes, the highest first, then the bytes.
    pub(super) fn bytes(mut self, value: &[u8]) -> Self {
        self.0.extend_from_slice(&(value.len() as u64).to_be_bytes());
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// Bytes from hexadecimal digits; `None` when they are not that.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_goes_there_and_back() {
        assert_eq!(to_hex(&[0, 15, 16, 255]), "000f10ff");
        assert_eq!(from_hex("000f10FF"), Some(vec![0, 15, 16, 255]));
        assert_eq!(from_hex("0"), None);
        assert_eq!(from_hex("0g"), None);
        assert_eq!(from_hex("é"), None);
    }
}
