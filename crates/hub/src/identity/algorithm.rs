//! The signature algorithms an issuer can be pinned to. There is no `none` and nothing symmetric.

use schemars::JsonSchema;
use serde::Deserialize;

/// A signature algorithm, by its JOSE name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
pub enum SigningAlgorithm {
    /// Ed25519, which the hub signs with.
    #[serde(rename = "EdDSA")]
    EdDsa,
    /// RSA PKCS#1 v1.5 with SHA-256.
    #[serde(rename = "RS256")]
    Rs256,
    /// RSA PKCS#1 v1.5 with SHA-384.
    #[serde(rename = "RS384")]
    Rs384,
    /// RSA PKCS#1 v1.5 with SHA-512.
    #[serde(rename = "RS512")]
    Rs512,
    /// ECDSA on P-256 with SHA-256.
    #[serde(rename = "ES256")]
    Es256,
    /// ECDSA on P-384 with SHA-384.
    #[serde(rename = "ES384")]
    Es384,
    /// RSA-PSS with SHA-256.
    #[serde(rename = "PS256")]
    Ps256,
}

impl SigningAlgorithm {
    /// The name in a token's header.
    pub const fn name(self) -> &'static str {
        match self {
            Self::EdDsa => "EdDSA",
            Self::Rs256 => "RS256",
            Self::Rs384 => "RS384",
            Self::Rs512 => "RS512",
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Ps256 => "PS256",
        }
    }
}
