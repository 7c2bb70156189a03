//! What is encrypted to a receiver, and that the receiver reads it.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::agreement::{EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::rand::SystemRandom;
use serde_json::Value;

use crate::webhook::jwe::{ENCRYPTION, KEY_BITS, derive, encrypt};
use crate::webhook::recipient::{Curve, Recipient};

/// The vector of RFC 7518, Appendix C.
#[test]
fn a_key_is_derived_as_the_standard_s_example() {
    let shared = [
        158, 86, 217, 29, 129, 113, 53, 211, 114, 131, 66, 131, 191, 132, 38, 156, 251, 49, 110,
        163, 218, 128, 106, 72, 246, 218, 167, 121, 140, 254, 144, 196,
    ];
    let key = derive(&shared, "A128GCM", b"Alice", b"Bob", 128);
    assert_eq!(URL_SAFE_NO_PAD.encode(key), "VqqN6vgjbSBcIijNcacQGg");
}

/// A receiver: its private key, and what the hub is told.
fn receiver(curve: Curve) -> (EphemeralPrivateKey, Recipient) {
    let private = EphemeralPrivateKey::generate(curve.algorithm(), &SystemRandom::new()).unwrap();
    let mut key = curve.spelled(private.compute_public_key().unwrap().as_ref());
    key["kid"] = Value::from("2026-02");
    (private, Recipient::read(&key.to_string()).unwrap())
}

/// What a receiver reads.
fn decrypted(curve: Curve, private: EphemeralPrivateKey, jwe: &str) -> Option<Vec<u8>> {
    let fields: Vec<&str> = jwe.split('.').collect();
    let [header, "", nonce, sealed, tag] = fields[..] else { panic!("{jwe}") };
    let decode = |text: &str| URL_SAFE_NO_PAD.decode(text).ok();
    let spelled: Value = serde_json::from_slice(&decode(header)?).ok()?;
    assert_eq!(
        (&spelled["alg"], &spelled["enc"]),
        (&Value::from("ECDH-ES"), &Value::from(ENCRYPTION))
    );
    assert_eq!(spelled["kid"], "2026-02");
    let theirs = Recipient::read(&spelled["epk"].to_string()).ok()?;
    assert_eq!(theirs.curve, curve);
    let theirs = UnparsedPublicKey::new(curve.algorithm(), theirs.public);
    let derived = |shared: &[u8]| derive(shared, ENCRYPTION, b"", b"", KEY_BITS);
    let key = agree_ephemeral(private, &theirs, derived).ok()?;
    let key = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, &key).ok()?);
    let nonce = Nonce::try_assume_unique_for_key(&decode(nonce)?).ok()?;
    let mut body = decode(sealed)?;
    body.extend(decode(tag)?);
    let aad = Aad::from(header.as_bytes());
    Some(key.open_in_place(nonce, aad, &mut body).ok()?.to_vec())
}

#[test]
fn the_receiver_reads_what_was_encrypted_to_it() {
    for curve in [Curve::P256, Curve::X25519] {
        let (private, recipient) = receiver(curve);
        let jwe = encrypt(&recipient, b"{\"a\":1}").unwrap();
        assert_eq!(decrypted(curve, private, &jwe).unwrap(), b"{\"a\":1}");
    }
}

#[test]
fn nobody_else_reads_it_and_no_change_goes_unseen() {
    let (_, recipient) = receiver(Curve::X25519);
    let (other, _) = receiver(Curve::X25519);
    let jwe = encrypt(&recipient, b"{\"a\":1}").unwrap();
    assert_eq!(decrypted(Curve::X25519, other, &jwe), None);
    let (private, recipient) = receiver(Curve::P256);
    let jwe = encrypt(&recipient, &[b'x'; 64]).unwrap();
    let at = jwe.len() - 40;
    let other = if jwe.as_bytes()[at] == b'A' { "B" } else { "A" };
    let changed = format!("{}{other}{}", &jwe[..at], &jwe[at + 1..]);
    assert_eq!(decrypted(Curve::P256, private, &changed), None);
    assert_ne!(encrypt(&recipient, b"x").unwrap(), encrypt(&recipient, b"x").unwrap());
}

#[test]
fn what_is_no_public_key_is_refused() {
    for bad in [
        "",
        "{}",
        "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
    ] {
        assert!(Recipient::read(bad).is_err(), "{bad}");
    }
    let private = "{\"kty\":\"OKP\",\"crv\":\"X25519\",\"x\":\"3p7bfXt9wbTTW2HC7OQ1Nz-DQ8hbeGdNrfx-FG-IK08\",\"d\":\"c2VjcmV0\"}";
    let error = Recipient::read(private).unwrap_err().to_string();
    assert!(error.contains("private key") && !error.contains("c2VjcmV0"), "{error}");
}
