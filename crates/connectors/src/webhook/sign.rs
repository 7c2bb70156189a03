//! Signatures as Standard Webhooks define them: HMAC-SHA256 (`v1`) and ed25519 (`v1a`), over the id, the
//! moment and the very bytes of the body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use connector_api::{ConnectorError, Result};
use protocol::limits::outbound as limits;
use ring::hmac;
use ring::signature::{Ed25519KeyPair, KeyPair as _};

/// What signs. Several secrets sign side by side while one of them is replaced.
pub(super) struct Signer {
    secrets: Vec<hmac::Key>,
    keys: Vec<Ed25519KeyPair>,
}

impl std::fmt::Debug for Signer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Signer {{ secrets: {}, keys: {} }}", self.secrets.len(), self.keys.len())
    }
}

impl Signer {
    /// Reads `whsec_…` and `whsk_…`, each as many as there are, with blanks between them.
    pub(super) fn read(secrets: &str, keys: &str) -> Result<Self> {
        let secrets = secrets.split_whitespace().map(secret).collect::<Result<Vec<_>>>()?;
        let keys = keys.split_whitespace().map(key).collect::<Result<Vec<_>>>()?;
        if secrets.is_empty() && keys.is_empty() {
            return Err(wrong("secret", "or signing_key is needed: nothing leaves unsigned"));
        }
        Ok(Self { secrets, keys })
    }

    /// The header `webhook-signature`.
    pub(super) fn sign(&self, id: &str, at_seconds: i64, body: &[u8]) -> String {
        let mut content = format!("{id}.{at_seconds}.").into_bytes();
        content.extend_from_slice(body);
        let by_secret = self
            .secrets
            .iter()
            .map(|secret| format!("v1,{}", STANDARD.encode(hmac::sign(secret, &content))));
        let by_key =
            self.keys.iter().map(|key| format!("v1a,{}", STANDARD.encode(key.sign(&content))));
        by_secret.chain(by_key).collect::<Vec<_>>().join(" ")
    }

    /// The public halves of its keys, for the receivers.
    pub(super) fn public_keys(&self) -> Vec<String> {
        let public = |key: &Ed25519KeyPair| STANDARD.encode(key.public_key());
        self.keys.iter().map(|key| format!("whpk_{}", public(key))).collect()
    }
}

fn secret(text: &str) -> Result<hmac::Key> {
    let bytes = text.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
    let is_fitting = |bytes: &Vec<u8>| {
        (limits::WEBHOOK_SECRET_BYTES_MIN..=limits::WEBHOOK_SECRET_BYTES_MAX).contains(&bytes.len())
    };
    let bytes = bytes
        .filter(is_fitting)
        .ok_or_else(|| wrong("secret", "is whsec_ and the base64 of 24 to 64 random bytes"))?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
}

/// A key is its seed, or the seed with its public half behind.
fn key(text: &str) -> Result<Ed25519KeyPair> {
    let refused =
        || wrong("signing_key", "is whsk_ and the base64 of an ed25519 key of 32 or 64 bytes");
    let bytes = text.strip_prefix("whsk_").and_then(|text| STANDARD.decode(text).ok());
    let bytes = bytes.ok_or_else(refused)?;
    let pair = match bytes.split_at_checked(32) {
        Some((seed, [])) => Ed25519KeyPair::from_seed_unchecked(seed),
        Some((seed, public)) => Ed25519KeyPair::from_seed_and_public_key(seed, public),
        None => return Err(refused()),
    };
    pair.map_err(|_| refused())
}

fn wrong(field: &str, reason: &str) -> ConnectorError {
    ConnectorError::Setting { field: field.to_owned(), reason: reason.to_owned() }
}
