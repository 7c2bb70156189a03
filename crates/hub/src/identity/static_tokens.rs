//! Tokens named in the configuration, kept as hashes and compared in constant time.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::chat::ChatGrant;
use protocol::id::TokenId;
use protocol::{Caller, Timestamp, validate};
use ring::digest::{Context, Digest, SHA256, digest};
use subtle::ConstantTimeEq;

use super::claims::NEVER;
use super::config::StaticToken;
use super::error::IdentityError;

const TOKEN_CHARS_MIN: usize = 8;

/// All static tokens.
pub(super) struct StaticTokens(Vec<Entry>);

struct Entry {
    sha256: Vec<u8>,
    caller: Arc<Caller>,
}

impl StaticTokens {
    /// Checks the settings and hashes what is not hashed yet.
    pub(super) fn new(settings: &[StaticToken]) -> Result<Self, IdentityError> {
        let entry = |(index, setting)| {
            let path = format!("static_tokens[{index}]");
            Ok(Entry { sha256: sha256(setting, &path)?, caller: caller(setting, &path)? })
        };
        settings.iter().enumerate().map(entry).collect::<Result<_, _>>().map(Self)
    }

    /// The caller behind a static token. How long it takes does not depend on which one fits.
    pub(super) fn find(&self, bearer: &str) -> Option<&Arc<Caller>> {
        if self.0.is_empty() {
            return None;
        }
        let sha256 = digest(&SHA256, bearer.as_bytes());
        let mut found = None;
        for entry in &self.0 {
            if bool::from(entry.sha256.as_slice().ct_eq(sha256.as_ref())) {
                found = Some(&entry.caller);
            }
        }
        found
    }
}

fn sha256(setting: &StaticToken, path: &str) -> Result<Vec<u8>, IdentityError> {
    match (&setting.token, &setting.token_sha256) {
        (Some(token), None) if token.expose().chars().count() >= TOKEN_CHARS_MIN => {
            Ok(digest(&SHA256, token.expose().as_bytes()).as_ref().to_vec())
        }
        (Some(_), None) => {
            Err(IdentityError::config(format!("{path}.token"), "must have at least 8 characters"))
        }
        (None, Some(hash)) => from_hex(hash.expose()).ok_or_else(|| {
            IdentityError::config(format!("{path}.token_sha256"), "must be 64 hexadecimal digits")
        }),
        _ => Err(IdentityError::config(path, "must have either token_sha256 or token")),
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..64).step_by(2).map(byte).collect()
}

fn caller(setting: &StaticToken, path: &str) -> Result<Arc<Caller>, IdentityError> {
    for (field, checked) in [
        ("agent_id", validate::agent_id(&setting.agent_id)),
        ("workspace_id", validate::name(&setting.workspace_id)),
    ] {
        checked.map_err(|why| IdentityError::config(format!("{path}.{field}"), why.to_string()))?;
    }
    let jti = token_id(setting, path)?;
    Ok(Arc::new(Caller {
        agent_id: setting.agent_id.clone(),
        workspace_id: setting.workspace_id.clone(),
        role: setting.role,
        session_id: jti.clone(),
        scopes: setting.scopes.map_or(setting.role.default_scopes(), |list| list.0),
        chats: setting.chats.clone().map_or(setting.role.default_chats(), ChatGrant::Lists),
        toolsets: None,
        jti,
        iat: Timestamp::from_ms(0),
        exp: NEVER,
    }))
}

/// The id that was chosen, or one made of whom the token is for. It stands in the audit trail, so nothing
/// of the secret, which may be short enough to guess, goes into it.
fn token_id(setting: &StaticToken, path: &str) -> Result<String, IdentityError> {
    if let Some(id) = &setting.id {
        let wrong = |problem: String| Err(IdentityError::config(format!("{path}.id"), problem));
        return match validate::name(id) {
            Err(why) => wrong(why.to_string()),
            Ok(()) if id.starts_with(TokenId::PREFIX) => {
                wrong(format!("must not begin with {}, as the hub's own do", TokenId::PREFIX))
            }
            Ok(()) => Ok(id.clone()),
        };
    }
    let mut context = Context::new(&SHA256);
    for part in [setting.workspace_id.as_str(), &setting.agent_id, setting.role.name()] {
        context.update(part.as_bytes());
        context.update(&[0]);
    }
    let hash: Digest = context.finish();
    let short = hash.as_ref().get(..12).unwrap_or_default();
    Ok(format!("static-{}", URL_SAFE_NO_PAD.encode(short)))
}

#[cfg(test)]
mod tests {
    use protocol::{Role, Scope};

    use super::*;

    fn setting(secret: &str) -> StaticToken {
        let text = format!(
            r#"{{{secret},"agent_id":"ci","workspace_id":"acme","role":"service",
                "scopes":"threads:read"}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_static_token_is_found_by_text_or_hash() {
        // The SHA-256 of "0123456789abcdef".
        let hash = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f";
        for secret in [
            r#""token":"0123456789abcdef""#.to_owned(),
            format!(r#""token_sha256":"{hash}""#),
            format!(r#""token_sha256":"{}""#, hash.to_uppercase()),
        ] {
            let tokens = StaticTokens::new(&[setting(&secret)]).unwrap();
            let caller = tokens.find("0123456789abcdef").unwrap();
            assert_eq!((caller.agent_id.as_str(), caller.role), ("ci", Role::Service));
            assert!(
                caller.scopes.has(Scope::ThreadsRead) && !caller.scopes.has(Scope::ThreadsWrite)
            );
            assert!(tokens.find("0123456789abcdeF").is_none());
            assert!(tokens.find(hash).is_none());
        }
    }

    #[test]
    fn a_static_token_has_the_id_it_was_given() {
        let id = |more: &str| {
            let setting = setting(&format!(r#""token":"0123456789abcdef"{more}"#));
            let tokens = StaticTokens::new(&[setting]).unwrap();
            tokens.find("0123456789abcdef").unwrap().jti.clone()
        };
        assert_eq!(id(r#","id":"ci-2""#), "ci-2");
        assert!(id("").starts_with("static-"));
        assert_eq!(id(""), id(r#","id":null"#));
    }

    #[test]
    fn a_wrong_setting_names_its_field() {
        for (secret, field) in [
            (r#""token":"0123456789abcdef","id":"a b""#, "static_tokens[0].id`"),
            (r#""token":"0123456789abcdef","id":"jti_1""#, "static_tokens[0].id`"),
            (r#""token":"short""#, "static_tokens[0].token`"),
            (r#""token_sha256":"abc""#, "static_tokens[0].token_sha256`"),
            (r#""token_sha256":null"#, "either token_sha256 or token"),
            (r#""token":"0123456789abcdef","token_sha256":"00""#, "either token_sha256 or token"),
        ] {
            let error = StaticTokens::new(&[setting(secret)]).err().unwrap().to_string();
            assert!(error.contains(field), "{error}");
            assert!(!error.contains("short") && !error.contains("0123456789"), "{error}");
        }
    }
}
