//! Who the hub is at GitHub: an app that signs for itself and fetches a token for each installation, or
//! an account with a token.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use connector_api::{ConnectorError, LinkSettings, Result};
use protocol::Secret;
use protocol::limits::outbound as limits;
use ring::rand::SystemRandom;
use ring::signature::{RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::moment::this_second;

/// Who the hub is.
#[derive(Debug)]
pub(super) enum Auth {
    /// An account.
    Token(Secret<String>),
    /// An app.
    App(Box<App>),
    /// Nobody: the link only listens.
    None,
}

/// An app.
pub(super) struct App {
    /// Its client id or app id.
    pub(super) id: String,
    key: RsaKeyPair,
    /// By repository, the installation that reaches it.
    pub(super) installations: parking_lot::Mutex<HashMap<String, i64>>,
    /// By installation. Whoever holds this lock fetches a token, and the others wait for it.
    pub(super) tokens: Mutex<HashMap<i64, Token>>,
}

/// A token of an installation.
pub(super) struct Token {
    pub(super) text: Secret<String>,
    /// From then on another one is fetched.
    pub(super) until: Instant,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "App {{ id: {} }}", self.id)
    }
}

impl Auth {
    /// Reads the settings of a link.
    pub(super) fn read(settings: &LinkSettings) -> Result<Self> {
        let token = settings.secret("token").trim();
        let id = settings.text("app_id").trim();
        if !id.is_empty() {
            let key = private_key(settings.secret("private_key"))?;
            let app = App::new(id, key);
            return Ok(Self::App(Box::new(app)));
        }
        if token.is_empty() {
            return Ok(Self::None);
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConnectorError::Setting {
                field: "token".to_owned(),
                reason: "begins with github_pat_ or ghp_, without blanks".to_owned(),
            });
        }
        Ok(Self::Token(Secret::new(token.to_owned())))
    }
}

impl App {
    fn new(id: &str, key: RsaKeyPair) -> Self {
        let (installations, tokens) = (parking_lot::Mutex::default(), Mutex::default());
        Self { id: id.to_owned(), key, installations, tokens }
    }

    /// What the app says of itself, signed: RS256, for some minutes.
    pub(super) fn signed(&self) -> Result<Secret<String>> {
        self.signed_at(this_second())
    }

    fn signed_at(&self, now_seconds: i64) -> Result<Secret<String>> {
        let header = json!({"alg": "RS256", "typ": "JWT"}).to_string();
        let claims = json!({
            "iat": now_seconds - limits::GITHUB_JWT_SKEW_SECONDS,
            "exp": now_seconds + limits::GITHUB_JWT_SECONDS,
            "iss": self.id,
        });
        let encode = |text: String| URL_SAFE_NO_PAD.encode(text);
        let content = format!("{}.{}", encode(header), encode(claims.to_string()));
        let mut signature = vec![0; self.key.public().modulus_len()];
        self.key
            .sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), content.as_bytes(), &mut signature)
            .map_err(|_| wrong_key())?;
        Ok(Secret::new(format!("{content}.{}", URL_SAFE_NO_PAD.encode(signature))))
    }
}

/// Reads a key as GitHub gives it, PKCS#1, or as others keep it, PKCS#8.
fn private_key(pem: &str) -> Result<RsaKeyPair> {
    // A key that went through a variable often has its line breaks spelled out.
    let pem = pem.replace("\\n", "\n");
    let pkcs1 = body(&pem, "RSA PRIVATE KEY").map(|der| RsaKeyPair::from_der(&der));
    let key = pkcs1.or_else(|| body(&pem, "PRIVATE KEY").map(|der| RsaKeyPair::from_pkcs8(&der)));
    match key {
        Some(Ok(key)) => Ok(key),
        Some(Err(_)) | None => Err(wrong_key()),
    }
}

fn body(pem: &str, label: &str) -> Option<Vec<u8>> {
    let (_, rest) = pem.split_once(&format!("-----BEGIN {label}-----"))?;
    let (text, _) = rest.split_once(&format!("-----END {label}-----"))?;
    let text: String = text.split_whitespace().collect();
    STANDARD.decode(text).ok()
}

fn wrong_key() -> ConnectorError {
    ConnectorError::Setting {
        field: "private_key".to_owned(),
        reason:
            "is the app's RSA key of 2048 bits or more, as PEM: the whole file that GitHub gives \
                 you under Private keys"
                .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    use testkit::fakes::github;

    use super::*;

    fn app(pem: &str) -> Result<App> {
        let key = private_key(pem)?;
        Ok(App::new("Iv23x", key))
    }

    #[test]
    fn both_spellings_of_a_key_sign_alike() {
        let first = app(github::PRIVATE_KEY_PKCS1).unwrap().signed_at(1_771_329_600).unwrap();
        let second = app(github::PRIVATE_KEY_PKCS8).unwrap().signed_at(1_771_329_600).unwrap();
        assert_eq!(first.expose(), second.expose());
        let (content, signature) = first.expose().rsplit_once('.').unwrap();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        let public = app(github::PRIVATE_KEY_PKCS1).unwrap();
        let public = public.key.public().as_ref().to_vec();
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
            .verify(content.as_bytes(), &signature)
            .unwrap();
        let claims = URL_SAFE_NO_PAD.decode(content.split('.').nth(1).unwrap()).unwrap();
        let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(claims["iat"], 1_771_329_540);
        assert_eq!(claims["iss"], "Iv23x");
        assert!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap() <= 600);
    }

    #[test]
    fn a_key_whose_breaks_are_spelled_out_is_read() {
        assert!(app(&github::PRIVATE_KEY_PKCS1.replace('\n', "\\n")).is_ok());
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_said() {
        let wrong = "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----";
        let error = app(wrong).unwrap_err().to_string();
        assert!(error.contains("private_key") && !error.contains("c2VjcmV0"), "{error}");
    }
}
