//! Issuing a token: a JWT of RFC 9068, signed with the newest key.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::chat::ChatLists;
use protocol::id::TokenId;
use protocol::{Role, Scopes, Timestamp, Toolsets, limits, validate};
use serde::Serialize;

use super::algorithm::SigningAlgorithm;
use super::error::IdentityError;
use super::hub_token;
use super::key_ring::KeyRing;
use protocol::Secret;

/// Whom a token is for.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Its id, by which it can be revoked.
    pub jti: TokenId,
    /// The agent.
    pub agent_id: String,
    /// The agent's workspace.
    pub workspace_id: String,
    /// What the agent may do.
    pub role: Role,
    /// The session it is for.
    pub session_id: String,
    /// The scopes it carries.
    pub scopes: Scopes,
    /// The chats it gives; those of the role unless set.
    pub chats: Option<ChatLists>,
    /// The tools that its owner is shown over MCP; the default ones unless set.
    pub toolsets: Option<Toolsets>,
    /// How long it lives; ninety days unless set.
    pub ttl_seconds: Option<i64>,
}

/// A token that was just signed.
#[derive(Clone, Debug)]
pub struct IssuedToken {
    /// The token. It is shown once and stored nowhere.
    pub token: Secret<String>,
    /// Its id.
    pub jti: TokenId,
    /// When it ends.
    pub exp: Timestamp,
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    typ: &'static str,
    kid: &'a str,
}

#[derive(Serialize)]
struct Payload<'a> {
    iss: &'a str,
    aud: &'a str,
    sub: &'a str,
    agent_id: &'a str,
    workspace_id: &'a str,
    role: Role,
    session_id: &'a str,
    scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    chats: Option<&'a ChatLists>,
    #[serde(skip_serializing_if = "Option::is_none")]
    toolsets: Option<String>,
    iat: i64,
    exp: i64,
    jti: TokenId,
}

impl KeyRing {
    /// Signs a token that is valid from now on.
    pub fn issue(&self, claims: &NewToken, now: Timestamp) -> Result<IssuedToken, IdentityError> {
        for (claim, text) in [
            ("agent_id", &claims.agent_id),
            ("workspace_id", &claims.workspace_id),
            ("session_id", &claims.session_id),
        ] {
            validate::name(text).map_err(|why| IdentityError::malformed(claim, why.to_string()))?;
        }
        validate::agent_id(&claims.agent_id)
            .map_err(|why| IdentityError::malformed("agent_id", why.to_string()))?;
        let ttl_seconds = claims.ttl_seconds.unwrap_or(limits::TOKEN_TTL_SECONDS_DEFAULT);
        if !(1..=limits::TOKEN_TTL_SECONDS_MAX).contains(&ttl_seconds) {
            return Err(IdentityError::LifeOutOfRange);
        }
        let iat = now.as_seconds();
        let exp = iat.saturating_add(ttl_seconds);
        let payload = Payload {
            iss: &self.authority().issuer,
            aud: &self.authority().audience,
            sub: &claims.agent_id,
            agent_id: &claims.agent_id,
            workspace_id: &claims.workspace_id,
            role: claims.role,
            session_id: &claims.session_id,
            scope: claims.scopes.to_string(),
            chats: claims.chats.as_ref(),
            toolsets: claims.toolsets.map(|sets| sets.to_string()),
            iat,
            exp,
            jti: claims.jti,
        };
        let token = self.sign(|key_id| {
            let header =
                Header { alg: SigningAlgorithm::EdDsa.name(), typ: hub_token::TYPE, kid: key_id };
            format!("{}.{}", segment(&header), segment(&payload))
        });
        let exp = Timestamp::from_ms(exp.saturating_mul(1000));
        Ok(IssuedToken { token: Secret::new(token), jti: claims.jti, exp })
    }
}

fn segment(part: &impl Serialize) -> String {
    let json = serde_json::to_vec(part).expect("a struct of texts and numbers is always JSON");
    URL_SAFE_NO_PAD.encode(json)
}
