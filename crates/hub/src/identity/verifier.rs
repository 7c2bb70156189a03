//! The one place where a bearer token becomes a caller.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use connector_api::toolkit::{HttpClient, HttpSettings};
use protocol::{Caller, Timestamp, limits};

use super::cache::TokenCache;
use super::certificates::{CertificateNames, Certificates};
use super::claims::Claims;
use super::config::IdentityConfig;
use super::error::IdentityError;
use super::hub_token;
use super::jws::Jws;
use super::key_ring::{Authority, KeyRing};
use super::outside_issuer::OutsideIssuer;
use super::revocations::Revocations;
use super::static_tokens::StaticTokens;

/// Verifies bearer tokens of every kind.
pub struct Verifier {
    keys: Arc<KeyRing>,
    audience: Vec<String>,
    static_tokens: StaticTokens,
    certificates: Certificates,
    issuers: HashMap<String, OutsideIssuer>,
    cache: TokenCache,
    revocations: Arc<Revocations>,
}

impl IdentityConfig {
    /// What the hub writes into the tokens it signs.
    pub fn authority(&self) -> Result<Authority, IdentityError> {
        if self.issuer.is_empty() {
            return Err(IdentityError::config("issuer", "must be the name of the hub"));
        }
        match self.audience.first() {
            Some(first) if self.audience.iter().all(|name| !name.is_empty()) => {
                Ok(Authority { issuer: self.issuer.clone(), audience: first.clone() })
            }
            _ => Err(IdentityError::config("audience", "must hold at least one name, none empty")),
        }
    }
}

impl Verifier {
    /// Checks the settings and prepares every kind of token. Nothing is fetched yet.
    pub fn new(
        config: &IdentityConfig,
        keys: Arc<KeyRing>,
        revocations: Arc<Revocations>,
    ) -> Result<Self, IdentityError> {
        config.authority()?;
        Ok(Self {
            keys,
            audience: config.audience.clone(),
            static_tokens: StaticTokens::new(&config.static_tokens)?,
            certificates: Certificates::new(&config.client_certificates)?,
            issuers: outside_issuers(config)?,
            cache: TokenCache::new(),
            revocations,
        })
    }

    /// The caller behind a request's token and the certificate of its connection, or why there is
    /// none; `None` when it brought neither.
    ///
    /// A token decides. Beside it, a certificate that stands for an agent must stand for the same one.
    pub async fn verify_both(
        &self,
        bearer: Option<&str>,
        certificate: Option<&CertificateNames>,
        now: Timestamp,
    ) -> Result<Option<Arc<Caller>>, IdentityError> {
        let certified = certificate.map(|names| self.certificates.find(names)).transpose()?;
        let Some(bearer) = bearer else {
            return match certified {
                None => Ok(None),
                Some(None) => Err(IdentityError::CertificateUnknown),
                Some(Some(caller)) => self.unless_revoked(Arc::clone(caller)).map(Some),
            };
        };
        let caller = self.verify(bearer, now).await?;
        match certified.flatten() {
            Some(other)
                if (&other.workspace_id, &other.agent_id)
                    != (&caller.workspace_id, &caller.agent_id) =>
            {
                Err(IdentityError::CertificateDisagrees)
            }
            _ => Ok(Some(caller)),
        }
    }

    /// The caller behind a token, or why there is none.
    ///
    /// A token that was verified lately costs one hash and one comparison. Any other is looked up
    /// among the static tokens, then checked as a JWT of the hub or of the issuer it names.
    pub async fn verify(&self, bearer: &str, now: Timestamp) -> Result<Arc<Caller>, IdentityError> {
        if let Some(caller) = self.cache.get(bearer, now) {
            return self.unless_revoked(caller);
        }
        if bearer.is_empty() {
            return Err(IdentityError::Missing);
        }
        if bearer.len() > limits::TOKEN_BYTES_MAX {
            return Err(IdentityError::TooLong);
        }
        if let Some(caller) = self.static_tokens.find(bearer) {
            return self.unless_revoked(Arc::clone(caller));
        }
        Box::pin(self.verify_jwt(bearer, now)).await
    }

    async fn verify_jwt(&self, bearer: &str, now: Timestamp) -> Result<Arc<Caller>, IdentityError> {
        let jws = Jws::parse(bearer)?;
        let issuer = Claims::new(jws.claims()).text("iss")?;
        let caller = if issuer == self.keys.authority().issuer {
            hub_token::caller(&jws, &self.keys, &self.audience, now)?
        } else {
            let issuer = self.issuers.get(issuer).ok_or(IdentityError::IssuerUnknown)?;
            issuer.caller(&jws, now).await?
        };
        let caller = self.unless_revoked(Arc::new(caller))?;
        // Not for the whole life of the token, so that a key that was withdrawn stops counting.
        let fresh_ms = i64::try_from(limits::JWKS_FRESH.as_millis()).unwrap_or(i64::MAX);
        self.cache.insert(bearer, &caller, caller.exp.min(now.plus_ms(fresh_ms)), now);
        Ok(caller)
    }

    fn unless_revoked(&self, caller: Arc<Caller>) -> Result<Arc<Caller>, IdentityError> {
        if self.revocations.has(&caller) {
            return Err(IdentityError::Revoked);
        }
        Ok(caller)
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier").field("audience", &self.audience).finish_non_exhaustive()
    }
}

/// Prepares the issuers. Without any there is no HTTP client, and no certificates are read.
fn outside_issuers(
    config: &IdentityConfig,
) -> Result<HashMap<String, OutsideIssuer>, IdentityError> {
    let mut issuers = HashMap::new();
    if config.issuers.is_empty() {
        return Ok(issuers);
    }
    let mut settings = HttpSettings { ca_file: config.ca_file.clone(), ..HttpSettings::default() };
    let mut destinations = Vec::new();
    for (index, issuer) in config.issuers.iter().enumerate() {
        let path = format!("issuers[{index}]");
        let from = OutsideIssuer::destination(issuer, &path)?;
        if issuer.allow_private_address {
            settings.private_hosts.insert(from.host().to_owned());
        }
        destinations.push((path, issuer, from));
    }
    let http = HttpClient::new(&settings)?;
    for (path, issuer, from) in destinations {
        let is_taken = issuers.contains_key(&issuer.issuer) || issuer.issuer == config.issuer;
        if is_taken {
            let problem = "must differ from the hub's and from every other issuer";
            return Err(IdentityError::config(format!("{path}.issuer"), problem));
        }
        let outside = OutsideIssuer::new(issuer, &config.audience, http.clone(), from);
        issuers.insert(issuer.issuer.clone(), outside);
    }
    Ok(issuers)
}
