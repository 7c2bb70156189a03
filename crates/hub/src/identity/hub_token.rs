//! The rules for a token that the hub itself has issued.

use protocol::{Caller, Scopes, Timestamp};

use super::algorithm::SigningAlgorithm;
use super::claims::Claims;
use super::error::IdentityError;
use super::jws::Jws;
use super::key_ring::KeyRing;

/// The type of the hub's tokens, by RFC 9068.
pub(super) const TYPE: &str = "at+jwt";

const KEY_ID_CHARS_MAX: usize = 64;

/// The caller behind a token of the hub.
pub(super) fn caller(
    jws: &Jws<'_>,
    keys: &KeyRing,
    audience: &[String],
    now: Timestamp,
) -> Result<Caller, IdentityError> {
    jws.require_algorithm(SigningAlgorithm::EdDsa)?;
    if jws.kind() != Some(TYPE) {
        return Err(IdentityError::TypeNotAllowed);
    }
    let is_ours = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let key_id = jws.require_key_id(KEY_ID_CHARS_MAX, is_ours)?;
    keys.require_signature(jws, key_id)?;

    let claims = Claims::new(jws.claims());
    claims.require_audience(audience)?;
    let life = claims.require_life(now)?;
    let agent_id = claims.agent("agent_id")?;
    if claims.text("sub")? != agent_id {
        return Err(IdentityError::malformed("sub", "must equal agent_id"));
    }
    let role = claims.text("role")?.parse().map_err(|why: protocol::caller::UnknownRole| {
        IdentityError::malformed("role", format!("is not known: {why}"))
    })?;
    Ok(Caller {
        workspace_id: claims.name("workspace_id")?,
        role,
        session_id: claims.name("session_id")?,
        scopes: Scopes::from_claim(claims.text("scope")?),
        chats: claims.chats("chats", role)?,
        toolsets: claims.toolsets()?,
        jti: claims.token_id()?,
        iat: life.iat,
        exp: life.exp,
        agent_id,
    })
}
