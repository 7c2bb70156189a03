//! A hub's identity with a signing key that tests can misuse.

use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::id::TokenId;
use protocol::{Caller, Role, Timestamp};
use ring::signature::Ed25519KeyPair;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use waystation_hub::identity::{
    IdentityConfig, IdentityError, IssuedToken, KeyRing, NewToken, Revocations, Verifier,
};

pub(crate) const NOW: Timestamp = Timestamp::from_ms(1_771_329_600_000);
pub(crate) const NOW_SECONDS: i64 = 1_771_329_600;
pub(crate) const ISSUER: &str = "https://hub.example.org";
pub(crate) const AUDIENCE: &str = "https://hub.example.org/mcp";

/// Asserts that a result is this error.
macro_rules! assert_refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {{
        let result = $result;
        assert!(matches!(&result, Err($pattern) $(if $guard)?), "{result:?}");
    }};
}
pub(crate) use assert_refused;

/// Asserts that a result refuses this claim as malformed.
macro_rules! assert_malformed {
    ($result:expr, $name:expr) => {{
        let result = $result;
        let named = match &result {
            Err(IdentityError::ClaimMalformed { claim, .. }) => Some(claim.as_str()),
            _ => None,
        };
        assert_eq!(named, Some($name), "{result:?}");
    }};
}
pub(crate) use assert_malformed;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) keys: Arc<KeyRing>,
    pub(crate) revocations: Arc<Revocations>,
    pub(crate) verifier: Verifier,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(&config())
    }

    pub(crate) fn with(config: &IdentityConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let authority = config.authority().unwrap();
        let keys = KeyRing::open(&folder.path().join("keys"), authority, NOW).unwrap();
        let keys = Arc::new(keys);
        let revocations = Arc::new(Revocations::default());
        let verifier = Verifier::new(config, Arc::clone(&keys), Arc::clone(&revocations)).unwrap();
        Self { folder, keys, revocations, verifier }
    }

    pub(crate) async fn verify(&self, token: &str) -> Result<Arc<Caller>, IdentityError> {
        self.verify_at(token, NOW).await
    }

    pub(crate) async fn verify_at(
        &self,
        token: &str,
        now: Timestamp,
    ) -> Result<Arc<Caller>, IdentityError> {
        let result = self.verifier.verify(token, now).await;
        if let Err(error) = &result {
            let is_away = matches!(error, IdentityError::IssuerKeysUnavailable(_));
            let code = if is_away { "UNAVAILABLE" } else { "UNAUTHORIZED" };
            assert_eq!((error.code().name(), error.code().is_retryable()), (code, is_away));
            assert!(error.to_string().len() < 200, "an error is a sentence: {error}");
        }
        result
    }

    pub(crate) fn issue(&self, random: u8) -> IssuedToken {
        self.keys.issue(&new_token(random), NOW).unwrap()
    }

    pub(crate) fn key_path(&self) -> std::path::PathBuf {
        self.folder.path().join(format!("keys/token-{}.pk8", self.keys.signing_key_id()))
    }

    pub(crate) fn key(&self) -> Ed25519KeyPair {
        read_key(&self.key_path())
    }

    /// The header of a good token.
    pub(crate) fn header(&self) -> Value {
        json!({"alg": "EdDSA", "typ": "at+jwt", "kid": self.keys.signing_key_id()})
    }

    /// Signs any header and payload with the hub's own key.
    pub(crate) fn sign(&self, header: &str, payload: &str) -> String {
        let message = format!("{}.{}", encode(header), encode(payload));
        let signature = self.key().sign(message.as_bytes());
        format!("{message}.{}", encode(signature))
    }

    /// A token with good claims under this header.
    pub(crate) fn with_header(&self, header: &Value) -> String {
        self.sign(&header.to_string(), &Value::Object(claims()).to_string())
    }

    /// A token with a good header and these claims.
    pub(crate) fn with_claims(&self, claims: Map<String, Value>) -> String {
        self.sign(&self.header().to_string(), &Value::Object(claims).to_string())
    }

    /// A token that is good but for one claim.
    pub(crate) fn with_claim(&self, claim: &str, value: Value) -> String {
        let mut claims = claims();
        claims.insert(claim.to_owned(), value);
        self.with_claims(claims)
    }

    /// A token that is good but for a claim that is not there.
    pub(crate) fn without_claim(&self, claim: &str) -> String {
        let mut claims = claims();
        claims.remove(claim).unwrap();
        self.with_claims(claims)
    }
}

pub(crate) fn config() -> IdentityConfig {
    IdentityConfig {
        issuer: ISSUER.to_owned(),
        audience: vec![AUDIENCE.to_owned(), "waystation".to_owned()],
        ..IdentityConfig::default()
    }
}

pub(crate) fn new_token(random: u8) -> NewToken {
    NewToken {
        chats: None,
        toolsets: None,
        jti: TokenId::new(NOW, [random; 10]),
        agent_id: "reviewer".to_owned(),
        workspace_id: "acme".to_owned(),
        role: Role::Worker,
        session_id: "session-1".to_owned(),
        scopes: Role::Worker.default_scopes(),
        ttl_seconds: None,
    }
}

/// The claims of a good token.
pub(crate) fn claims() -> Map<String, Value> {
    let claims = json!({
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "reviewer",
        "agent_id": "reviewer",
        "workspace_id": "acme",
        "role": "worker",
        "session_id": "session-1",
        "scope": "threads:read threads:write",
        "iat": NOW_SECONDS,
        "exp": NOW_SECONDS + 600,
        "jti": "jti_1",
    });
    claims.as_object().unwrap().clone()
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(crate) fn read_key(path: &Path) -> Ed25519KeyPair {
    Ed25519KeyPair::from_pkcs8(&std::fs::read(path).unwrap()).unwrap()
}
