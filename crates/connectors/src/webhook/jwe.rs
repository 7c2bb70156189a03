//! Encryption to a receiver: JWE in its compact form, ECDH-ES with A256GCM (RFC 7516, RFC 7518).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use connector_api::{ConnectorError, Result};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::recipient::Recipient;

/// The name of the encryption.
pub(super) const ENCRYPTION: &str = "A256GCM";
/// The bits of its key.
pub(super) const KEY_BITS: u32 = 256;

/// Encrypts a body for a receiver, with a key of its own.
pub(super) fn encrypt(recipient: &Recipient, body: &[u8]) -> Result<String> {
    let random = SystemRandom::new();
    let failed = |_| ConnectorError::Setting {
        field: "encrypt_to".to_owned(),
        reason: "is no key that can be agreed with; ask the receiver for another".to_owned(),
    };
    let algorithm = recipient.curve.algorithm();
    let own = EphemeralPrivateKey::generate(algorithm, &random).map_err(failed)?;
    let public = own.compute_public_key().map_err(failed)?;
    let mut header = json!({
        "alg": "ECDH-ES", "enc": ENCRYPTION, "cty": "application/json",
        "epk": recipient.curve.spelled(public.as_ref()),
    });
    if let (Some(key_id), Some(fields)) = (&recipient.key_id, header.as_object_mut()) {
        fields.insert("kid".to_owned(), json!(key_id));
    }
    let header = URL_SAFE_NO_PAD.encode(header.to_string());
    let theirs = UnparsedPublicKey::new(algorithm, &recipient.public);
    let key =
        agree_ephemeral(own, &theirs, |shared| derive(shared, ENCRYPTION, b"", b"", KEY_BITS))
            .map_err(failed)?;
    let key = UnboundKey::new(&AES_256_GCM, &key).map_err(failed)?;
    let mut nonce = [0; NONCE_LEN];
    random.fill(&mut nonce).map_err(failed)?;
    let mut sealed = body.to_vec();
    let tag = LessSafeKey::new(key)
        .seal_in_place_separate_tag(
            Nonce::assume_unique_for_key(nonce),
            Aad::from(header.as_bytes()),
            &mut sealed,
        )
        .map_err(failed)?;
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    // The second field is empty: the key is agreed upon, not sent.
    Ok(format!("{header}..{}.{}.{}", encode(&nonce), encode(&sealed), encode(tag.as_ref())))
}

/// A key out of a shared secret: the Concat KDF of RFC 7518, section 4.6.2. One round of SHA-256 gives as
/// much as any key here needs.
pub(super) fn derive(
    shared: &[u8],
    encryption: &str,
    from: &[u8],
    to: &[u8],
    key_bits: u32,
) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(1_u32.to_be_bytes());
    hash.update(shared);
    for part in [encryption.as_bytes(), from, to] {
        hash.update(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.update(key_bits.to_be_bytes());
    let mut key = hash.finalize().to_vec();
    key.truncate(usize::try_from(key_bits / 8).unwrap_or(usize::MAX));
    key
}
