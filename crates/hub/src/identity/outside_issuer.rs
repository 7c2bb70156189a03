//! The rules for tokens of an issuer outside the hub, and how their claims become a caller.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use connector_api::toolkit::{Destination, HttpClient, HttpError};
use protocol::caller::UnknownRole;
use protocol::{Caller, Role, Scope, Scopes, Timestamp, validate};
use ring::digest;

use super::algorithm::SigningAlgorithm;
use super::claims::Claims;
use super::config::{ClaimMap, ClaimSource, IssuerConfig, ScopeList};
use super::error::IdentityError;
use super::jwks::Jwks;
use super::jws::Jws;

/// Types that mean an access token; many issuers write plain `JWT` or nothing.
const TYPES: [&str; 3] = ["at+jwt", "application/at+jwt", "JWT"];
const KEY_ID_CHARS_MAX: usize = 128;

/// An issuer that the configuration trusts.
pub(super) struct OutsideIssuer {
    algorithm: SigningAlgorithm,
    audience: Vec<String>,
    claims: ClaimMap,
    scope_map: BTreeMap<String, ScopeList>,
    base_scopes: Scopes,
    keys: Jwks,
}

impl OutsideIssuer {
    /// Where an issuer's keys are, if its settings hold together; `path` names them in errors.
    pub(super) fn destination(
        config: &IssuerConfig,
        path: &str,
    ) -> Result<Destination, IdentityError> {
        let wrong = |field: &str, problem: String| {
            Err(IdentityError::config(format!("{path}.{field}"), problem))
        };
        if config.issuer.is_empty() {
            return wrong("issuer", "must be the `iss` of its tokens".to_owned());
        }
        if config.audience.iter().any(String::is_empty) {
            return wrong("audience", "must not hold an empty name".to_owned());
        }
        if let ClaimSource::Value(workspace) = &config.claims.workspace_id
            && let Err(why) = validate::name(workspace)
        {
            return wrong("claims.workspace_id", why.to_string());
        }
        Destination::configured(&config.jwks_url).or_else(|why| match why {
            HttpError::AddressRefused(problem) => {
                wrong("jwks_url", format!("is not allowed: {problem}"))
            }
            other => Err(other.into()),
        })
    }

    /// Prepares to verify; keys are fetched with the first token.
    pub(super) fn new(
        config: &IssuerConfig,
        hub_audience: &[String],
        http: HttpClient,
        from: Destination,
    ) -> Self {
        let own = config.audience.as_slice();
        Self {
            algorithm: config.algorithm,
            audience: if own.is_empty() { hub_audience } else { own }.to_vec(),
            claims: config.claims.clone(),
            scope_map: config.scope_map.clone(),
            base_scopes: config.base_scopes.0,
            keys: Jwks::new(http, from, config.algorithm),
        }
    }

    /// The caller behind a token of this issuer.
    pub(super) async fn caller(
        &self,
        jws: &Jws<'_>,
        now: Timestamp,
    ) -> Result<Caller, IdentityError> {
        jws.require_algorithm(self.algorithm)?;
        let is_access_token =
            |kind: &str| TYPES.iter().any(|known| known.eq_ignore_ascii_case(kind));
        if !jws.kind().is_none_or(is_access_token) {
            return Err(IdentityError::TypeNotAllowed);
        }
        // Issuers put base64, thumbprints and addresses into it. It is compared with those of the
        // issuer's keys, and names nothing else.
        let key_id = jws.require_key_id(KEY_ID_CHARS_MAX, |c| c.is_ascii_graphic())?;
        let key = self.keys.key(key_id, now).await?;
        jws.require_signature(&key)?;

        let claims = Claims::new(jws.claims());
        claims.require_audience(&self.audience)?;
        let life = claims.require_life(now)?;
        let agent_id = claims.agent(&self.claims.agent_id)?;
        let role = self.role(claims)?;
        Ok(Caller {
            workspace_id: self.workspace(claims)?,
            role,
            session_id: self.session(claims, &agent_id)?,
            scopes: self.scopes(claims, role)?,
            chats: match &self.claims.chats {
                Some(claim) => claims.chats(claim, role)?,
                None => role.default_chats(),
            },
            toolsets: claims.toolsets()?,
            jti: token_id(jws, claims)?,
            iat: life.iat,
            exp: life.exp,
            agent_id,
        })
    }

    fn workspace(&self, claims: Claims<'_>) -> Result<String, IdentityError> {
        match &self.claims.workspace_id {
            ClaimSource::Claim(claim) => claims.name(claim),
            ClaimSource::Value(workspace) => Ok(workspace.clone()),
        }
    }

    fn role(&self, claims: Claims<'_>) -> Result<Role, IdentityError> {
        match &self.claims.role {
            ClaimSource::Value(role) => Ok(*role),
            ClaimSource::Claim(claim) => claims.text(claim)?.parse().map_err(|why: UnknownRole| {
                IdentityError::malformed(claim, format!("is not known: {why}"))
            }),
        }
    }

    fn session(&self, claims: Claims<'_>, agent_id: &str) -> Result<String, IdentityError> {
        match &self.claims.session_id {
            Some(claim) => claims.name(claim),
            None if claims.get("jti").is_some() => claims.name("jti"),
            None => Ok(agent_id.to_owned()),
        }
    }

    /// Scopes that the configuration maps, plus names of ours within what the role carries anyway:
    /// an issuer's `admin` may mean something else, so it has to be mapped to count.
    fn scopes(&self, claims: Claims<'_>, role: Role) -> Result<Scopes, IdentityError> {
        let mut scopes = self.base_scopes;
        for word in claims.words(&self.claims.scope)? {
            scopes = match (self.scope_map.get(word), word.parse::<Scope>()) {
                (Some(mapped), _) => union(scopes, mapped.0),
                (None, Ok(scope)) if role.default_scopes().has(scope) => scopes.with(scope),
                _ => scopes,
            };
        }
        Ok(scopes)
    }
}

fn union(one: Scopes, other: Scopes) -> Scopes {
    Scope::ALL.into_iter().filter(|scope| other.has(*scope)).fold(one, Scopes::with)
}

/// The token's `jti`, or a hash for tokens without one, such as Auth0's for machines.
///
/// The hash leaves out the signature: an ECDSA signature can be rewritten into another valid one,
/// and the rewritten token must not escape a revocation.
fn token_id(jws: &Jws<'_>, claims: Claims<'_>) -> Result<String, IdentityError> {
    if claims.get("jti").is_some() {
        return claims.token_id();
    }
    let hash = digest::digest(&digest::SHA256, jws.signed().as_bytes());
    Ok(format!("sha256-{}", URL_SAFE_NO_PAD.encode(hash)))
}
