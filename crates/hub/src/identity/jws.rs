//! A signed token taken apart: three canonical segments, a header of three fields, unique keys.
//!
//! Nothing here is trusted yet. Reading the claims before the signature is checked serves one
//! purpose, to find out by `iss` whose key has to fit.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::limits;
use serde_json::{Map, Value};

use super::algorithm::SigningAlgorithm;
use super::error::IdentityError;
use super::json;
use super::public_key::PublicKey;

/// A token in the compact form of RFC 7515.
pub(super) struct Jws<'a> {
    algorithm: String,
    kind: Option<String>,
    key_id: Option<String>,
    claims: Map<String, Value>,
    signed: &'a str,
    signature: Vec<u8>,
}

impl<'a> Jws<'a> {
    /// Takes a token apart, or says which rule it breaks.
    pub(super) fn parse(token: &'a str) -> Result<Self, IdentityError> {
        if token.len() > limits::TOKEN_BYTES_MAX {
            return Err(IdentityError::TooLong);
        }
        let (signed, signature) = token.rsplit_once('.').ok_or(IdentityError::Malformed)?;
        let (header, payload) = signed.split_once('.').ok_or(IdentityError::Malformed)?;
        if payload.contains('.') {
            return Err(IdentityError::Malformed);
        }
        let header = json::object(&decode(header)?).ok_or(IdentityError::HeaderMalformed)?;
        if header.keys().any(|key| !matches!(key.as_str(), "alg" | "typ" | "kid")) {
            return Err(IdentityError::HeaderNotAllowed);
        }
        Ok(Self {
            algorithm: text(&header, "alg")?.ok_or(IdentityError::AlgorithmNotAllowed)?,
            kind: text(&header, "typ")?,
            key_id: text(&header, "kid")?,
            claims: json::object(&decode(payload)?).ok_or(IdentityError::ClaimsMalformed)?,
            signature: decode(signature)?,
            signed,
        })
    }

    /// The claims, which are worth nothing before [`Self::require_signature`].
    pub(super) fn claims(&self) -> &Map<String, Value> {
        &self.claims
    }

    /// What the signature covers. Unlike the whole token it has one spelling only.
    pub(super) fn signed(&self) -> &'a str {
        self.signed
    }

    /// The `typ`, if the header has one.
    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// Refuses every algorithm but one.
    pub(super) fn require_algorithm(&self, only: SigningAlgorithm) -> Result<(), IdentityError> {
        if self.algorithm == only.name() {
            return Ok(());
        }
        Err(IdentityError::AlgorithmNotAllowed)
    }

    /// The `kid`, if it has at most so many characters, all of them allowed.
    pub(super) fn require_key_id(
        &self,
        chars_max: usize,
        allowed: impl Fn(char) -> bool,
    ) -> Result<&str, IdentityError> {
        match self.key_id.as_deref() {
            Some(id) if !id.is_empty() && id.len() <= chars_max && id.chars().all(allowed) => {
                Ok(id)
            }
            _ => Err(IdentityError::KeyIdMalformed),
        }
    }

    /// Refuses the token unless the key has signed it.
    pub(super) fn require_signature(&self, key: &PublicKey) -> Result<(), IdentityError> {
        if key.has_signed(self.signed.as_bytes(), &self.signature) {
            return Ok(());
        }
        Err(IdentityError::SignatureInvalid)
    }
}

/// Decodes canonical base64url: no padding, no stray bits, not empty.
fn decode(segment: &str) -> Result<Vec<u8>, IdentityError> {
    match URL_SAFE_NO_PAD.decode(segment) {
        Ok(bytes) if !bytes.is_empty() => Ok(bytes),
        _ => Err(IdentityError::Malformed),
    }
}

fn text(header: &Map<String, Value>, key: &str) -> Result<Option<String>, IdentityError> {
    match header.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(IdentityError::HeaderMalformed),
    }
}
