//! One key of an outside issuer's key set: is it for signatures, and for the pinned algorithm?

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use super::algorithm::SigningAlgorithm;
use super::public_key::{PublicKey, RsaScheme};

/// A JSON web key of RFC 7517, as far as public keys go.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    x: Option<String>,
    y: Option<String>,
    n: Option<String>,
    e: Option<String>,
}

impl Jwk {
    /// The key and its id, when it can check signatures of this algorithm.
    pub(super) fn for_algorithm(&self, algorithm: SigningAlgorithm) -> Option<(String, PublicKey)> {
        let is_for_signatures = self.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && self.key_ops.as_ref().is_none_or(|all| all.iter().any(|one| one == "verify"));
        let is_for_this = self.alg.as_deref().is_none_or(|alg| alg == algorithm.name());
        if !is_for_signatures || !is_for_this {
            return None;
        }
        let key = match algorithm {
            SigningAlgorithm::EdDsa => self.ed25519(),
            SigningAlgorithm::Es256 => self.point("P-256", PublicKey::p256),
            SigningAlgorithm::Es384 => self.point("P-384", PublicKey::p384),
            SigningAlgorithm::Rs256 => self.rsa(RsaScheme::Pkcs1Sha256),
            SigningAlgorithm::Rs384 => self.rsa(RsaScheme::Pkcs1Sha384),
            SigningAlgorithm::Rs512 => self.rsa(RsaScheme::Pkcs1Sha512),
            SigningAlgorithm::Ps256 => self.rsa(RsaScheme::PssSha256),
        };
        Some((self.kid.clone()?, key?))
    }

    fn ed25519(&self) -> Option<PublicKey> {
        self.has_shape("OKP", Some("Ed25519"))
            .then(|| PublicKey::ed25519(decode(self.x.as_ref())?))?
    }

    fn point(&self, curve: &str, key: fn(&[u8], &[u8]) -> Option<PublicKey>) -> Option<PublicKey> {
        self.has_shape("EC", Some(curve))
            .then(|| key(&decode(self.x.as_ref())?, &decode(self.y.as_ref())?))?
    }

    fn rsa(&self, scheme: RsaScheme) -> Option<PublicKey> {
        let key = || PublicKey::rsa(scheme, &decode(self.n.as_ref())?, &decode(self.e.as_ref())?);
        self.has_shape("RSA", None).then(key)?
    }

    fn has_shape(&self, kind: &str, curve: Option<&str>) -> bool {
        self.kty == kind && self.crv.as_deref() == curve
    }
}

fn decode(member: Option<&String>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(member?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn fits(key: Value, algorithm: SigningAlgorithm) -> bool {
        serde_json::from_value::<Jwk>(key).unwrap().for_algorithm(algorithm).is_some()
    }

    fn with(mut key: Value, member: &str, value: Value) -> Value {
        key[member] = value;
        key
    }

    #[test]
    fn a_key_is_taken_only_for_its_own_algorithm() {
        let x32 = URL_SAFE_NO_PAD.encode([7; 32]);
        let n256 = URL_SAFE_NO_PAD.encode([0xff; 256]);
        let okp = json!({"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": x32});
        let ec = json!({"kty": "EC", "crv": "P-256", "kid": "a", "x": x32, "y": x32});
        let rsa = json!({"kty": "RSA", "kid": "a", "n": n256, "e": "AQAB"});
        assert!(fits(okp.clone(), SigningAlgorithm::EdDsa));
        assert!(fits(ec.clone(), SigningAlgorithm::Es256));
        assert!(fits(rsa.clone(), SigningAlgorithm::Ps256));
        assert!(!fits(okp.clone(), SigningAlgorithm::Es256));
        assert!(!fits(ec.clone(), SigningAlgorithm::Es384));
        assert!(!fits(rsa.clone(), SigningAlgorithm::EdDsa));
        assert!(!fits(with(okp, "crv", json!("X25519")), SigningAlgorithm::EdDsa));
        assert!(!fits(with(ec, "crv", json!("P-384")), SigningAlgorithm::Es256));
        assert!(!fits(with(rsa.clone(), "alg", json!("RS512")), SigningAlgorithm::Rs256));
        assert!(fits(with(rsa.clone(), "alg", json!("RS256")), SigningAlgorithm::Rs256));
        let short = URL_SAFE_NO_PAD.encode([0xff; 128]);
        assert!(!fits(with(rsa, "n", json!(short)), SigningAlgorithm::Rs256));
    }

    #[test]
    fn a_key_for_something_else_than_signatures_is_left_out() {
        let key = json!({"kty": "RSA", "kid": "a", "e": "AQAB",
            "n": URL_SAFE_NO_PAD.encode([0xff; 256])});
        let fits_with = |member: &str, value: Value| {
            fits(with(key.clone(), member, value), SigningAlgorithm::Rs256)
        };
        assert!(fits_with("use", json!("sig")));
        assert!(!fits_with("use", json!("enc")));
        assert!(fits_with("key_ops", json!(["verify"])));
        assert!(!fits_with("key_ops", json!(["encrypt"])));
        assert!(!fits_with("kid", Value::Null));
        assert!(!fits_with("kty", json!("oct")));
    }
}
