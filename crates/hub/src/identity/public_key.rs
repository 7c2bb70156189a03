//! A public key together with the one algorithm it may be used with.

use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

/// The smallest modulus that is trusted.
const RSA_BITS_MIN: usize = 2048;
/// The largest modulus; a larger one only costs time.
const RSA_BITS_MAX: usize = 8192;
/// The first byte of an uncompressed point.
const UNCOMPRESSED: u8 = 4;

/// A key that checks signatures.
#[derive(Debug)]
pub(super) struct PublicKey(Material);

#[derive(Debug)]
enum Material {
    Plain { algorithm: &'static dyn VerificationAlgorithm, bytes: Vec<u8> },
    Rsa { parameters: &'static RsaParameters, modulus: Vec<u8>, exponent: Vec<u8> },
}

impl PublicKey {
    /// An Ed25519 key; `None` unless it has 32 bytes.
    pub(super) fn ed25519(bytes: Vec<u8>) -> Option<Self> {
        (bytes.len() == 32).then_some(Self(Material::Plain { algorithm: &ED25519, bytes }))
    }

    /// A point on P-256; `None` unless both coordinates have 32 bytes.
    pub(super) fn p256(x: &[u8], y: &[u8]) -> Option<Self> {
        Self::point(&ECDSA_P256_SHA256_FIXED, 32, x, y)
    }

    /// A point on P-384; `None` unless both coordinates have 48 bytes.
    pub(super) fn p384(x: &[u8], y: &[u8]) -> Option<Self> {
        Self::point(&ECDSA_P384_SHA384_FIXED, 48, x, y)
    }

    fn point(
        algorithm: &'static dyn VerificationAlgorithm,
        coordinate_bytes: usize,
        x: &[u8],
        y: &[u8],
    ) -> Option<Self> {
        if x.len() != coordinate_bytes || y.len() != coordinate_bytes {
            return None;
        }
        let bytes = [&[UNCOMPRESSED], x, y].concat();
        Some(Self(Material::Plain { algorithm, bytes }))
    }

    /// An RSA key; `None` unless the modulus has 2048 to 8192 bits.
    pub(super) fn rsa(scheme: RsaScheme, modulus: &[u8], exponent: &[u8]) -> Option<Self> {
        let modulus = without_leading_zeros(modulus);
        let first = modulus.first()?;
        let bits = modulus.len() * 8 - usize::try_from(first.leading_zeros()).ok()?;
        if !(RSA_BITS_MIN..=RSA_BITS_MAX).contains(&bits) {
            return None;
        }
        let exponent = without_leading_zeros(exponent).to_vec();
        let modulus = modulus.to_vec();
        Some(Self(Material::Rsa { parameters: scheme.parameters(), modulus, exponent }))
    }

    /// Whether the signature is this key's over the message.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        match &self.0 {
            Material::Plain { algorithm, bytes } => {
                UnparsedPublicKey::new(*algorithm, bytes).verify(message, signature).is_ok()
            }
            Material::Rsa { parameters, modulus, exponent } => {
                let key = RsaPublicKeyComponents { n: modulus, e: exponent };
                key.verify(parameters, message, signature).is_ok()
            }
        }
    }
}

/// How an RSA key signs.
#[derive(Clone, Copy, Debug)]
pub(super) enum RsaScheme {
    Pkcs1Sha256,
    Pkcs1Sha384,
    Pkcs1Sha512,
    PssSha256,
}

impl RsaScheme {
    const fn parameters(self) -> &'static RsaParameters {
        match self {
            Self::Pkcs1Sha256 => &RSA_PKCS1_2048_8192_SHA256,
            Self::Pkcs1Sha384 => &RSA_PKCS1_2048_8192_SHA384,
            Self::Pkcs1Sha512 => &RSA_PKCS1_2048_8192_SHA512,
            Self::PssSha256 => &RSA_PSS_2048_8192_SHA256,
        }
    }
}

fn without_leading_zeros(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    bytes.get(zeros..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rsa(bits: usize) -> Option<PublicKey> {
        let mut modulus = vec![0xff; bits.div_ceil(8)];
        if !bits.is_multiple_of(8) {
            modulus[0] = 0xff >> (8 - bits % 8);
        }
        PublicKey::rsa(RsaScheme::Pkcs1Sha256, &modulus, &[1, 0, 1])
    }

    #[test]
    fn short_rsa_keys_are_refused() {
        assert!(rsa(1024).is_none());
        assert!(rsa(2047).is_none());
        assert!(rsa(2048).is_some());
        assert!(rsa(8192).is_some());
        assert!(rsa(8193).is_none());
        assert!(PublicKey::rsa(RsaScheme::PssSha256, &[0; 256], &[3]).is_none());
    }

    #[test]
    fn coordinates_have_the_size_of_their_curve() {
        assert!(PublicKey::p256(&[1; 32], &[1; 32]).is_some());
        assert!(PublicKey::p256(&[1; 31], &[1; 32]).is_none());
        assert!(PublicKey::p384(&[1; 48], &[1; 32]).is_none());
        assert!(PublicKey::ed25519(vec![1; 33]).is_none());
    }
}
