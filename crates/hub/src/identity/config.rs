//! The settings of identity: what the hub calls itself, static tokens, trusted issuers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use protocol::chat::ChatLists;
use protocol::{Role, Scope, Scopes};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::algorithm::SigningAlgorithm;
use protocol::Secret;

/// Who the hub is to tokens, and which tokens it believes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IdentityConfig {
    /// The name under which the hub issues tokens (`iss`). Its public URL is a good one.
    pub issuer: String,
    /// The names by which a token may address the hub (`aud`), to the letter. The first goes into
    /// tokens that the hub issues. Clients of MCP send the URL of the endpoint.
    pub audience: Vec<String>,
    /// Tokens that never change, for clients that can do nothing better.
    pub static_tokens: Vec<StaticToken>,
    /// Agents that are known by the certificate they connect with; `tls.client_ca` says which count.
    pub client_certificates: Vec<ClientCertificate>,
    /// Issuers outside the hub whose tokens count.
    pub issuers: Vec<IssuerConfig>,
    /// A PEM file of certificates to trust beside the system's when key sets are fetched.
    pub ca_file: Option<PathBuf>,
}

impl Default for IdentityConfig {
    fn default() -> Self {
        Self {
            issuer: "waystation".to_owned(),
            audience: vec!["waystation".to_owned()],
            static_tokens: Vec::new(),
            client_certificates: Vec::new(),
            issuers: Vec::new(),
            ca_file: None,
        }
    }
}

impl IdentityConfig {
    /// Whether tokens count that the hub did not issue.
    pub(super) fn has_other_tokens(&self) -> bool {
        !(self.static_tokens.is_empty()
            && self.client_certificates.is_empty()
            && self.issuers.is_empty())
    }
}

/// A token that stands in the configuration. It has no end; revoke it by its id, or remove it and start
/// the hub again, to take it back.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaticToken {
    /// The SHA-256 of the token in hexadecimal, so that the file holds no secret. Give this or
    /// `token`.
    #[serde(default)]
    pub token_sha256: Option<Secret<String>>,
    /// The token itself, of at least 8 characters; take a long random one.
    #[serde(default)]
    pub token: Option<Secret<String>>,
    /// The id by which it stands in the audit trail and is revoked. Unless set, it is made of workspace,
    /// agent and role. What was revoked stays so: a new token in its place needs another id.
    #[serde(default)]
    pub id: Option<String>,
    /// The agent that holds it.
    pub agent_id: String,
    /// The workspace of that agent.
    pub workspace_id: String,
    /// What it may do: operator, orchestrator, worker, observer, service or plugin.
    pub role: Role,
    /// The scopes it carries, separated by spaces. Those of the role unless set.
    #[serde(default)]
    pub scopes: Option<ScopeList>,
    /// The chats it may see: `{ allow = ["telegram/*"], deny = [] }`. An operator sees all, everybody
    /// else none, unless set.
    #[serde(default)]
    pub chats: Option<ChatLists>,
}

/// A name in client certificates, and the agent it stands for. One of `uri`, `dns` and `cn` is the name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientCertificate {
    /// An alternative name that is a URI, to the letter: `spiffe://acme/reviewer`.
    #[serde(default)]
    pub uri: Option<String>,
    /// An alternative name that is a host name.
    #[serde(default)]
    pub dns: Option<String>,
    /// The subject's common name, to the letter.
    #[serde(default)]
    pub cn: Option<String>,
    /// The agent that holds it.
    pub agent_id: String,
    /// The workspace of that agent.
    pub workspace_id: String,
    /// What it may do: operator, orchestrator, worker, observer, service or plugin.
    pub role: Role,
    /// The scopes it carries, separated by spaces. Those of the role unless set.
    #[serde(default)]
    pub scopes: Option<ScopeList>,
    /// The chats it may see: `{ allow = ["telegram/*"], deny = [] }`. An operator sees all, everybody
    /// else none, unless set.
    #[serde(default)]
    pub chats: Option<ChatLists>,
}

/// An issuer outside the hub, such as Auth0 or Keycloak, whose access tokens count here.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssuerConfig {
    /// The `iss` of its tokens, to the letter; Auth0's ends in a slash.
    pub issuer: String,
    /// Where its keys are published. Must be https, or http to a loopback address.
    pub jwks_url: String,
    /// The one algorithm its tokens are signed with: `EdDSA`, RS256, RS384, RS512, ES256, ES384 or
    /// PS256.
    pub algorithm: SigningAlgorithm,
    /// The `aud` its tokens must name, to the letter. Those of the hub unless set.
    #[serde(default)]
    pub audience: Vec<String>,
    /// Which of its claims say who the caller is.
    pub claims: ClaimMap,
    /// What its scopes mean here: its name on the left, our names on the right, separated by
    /// spaces. A name that is not listed counts only if it is one of ours and the caller's role
    /// carries it anyway.
    #[serde(default)]
    pub scope_map: BTreeMap<String, ScopeList>,
    /// Scopes that every token of this issuer carries, whatever its `scope` says. None unless set.
    #[serde(default)]
    pub base_scopes: ScopeList,
    /// Whether the host of `jwks_url` may resolve to a private address. A private address written
    /// as such in `jwks_url` needs no leave.
    #[serde(default)]
    pub allow_private_address: bool,
}

/// Which claims of an outside token say who the caller is.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimMap {
    /// The claim that names the agent. `sub` unless set; where that holds characters that no name
    /// may have, such as `auth0|123`, take `azp` or a claim of your own.
    #[serde(default = "sub")]
    pub agent_id: String,
    /// The workspace: `{ claim = "org_id" }` or `{ value = "acme" }`.
    pub workspace_id: ClaimSource<String>,
    /// The role: `{ claim = "https://example.org/role" }` or `{ value = "worker" }`.
    pub role: ClaimSource<Role>,
    /// The claim that names the session. Unless set it is the token's `jti`, and for a token
    /// without one (Auth0 for machines) the agent's name.
    #[serde(default)]
    pub session_id: Option<String>,
    /// The claim that lists scopes, as a text with spaces or as a list. `scope` unless set.
    #[serde(default = "scope")]
    pub scope: String,
    /// The claim that gives chats: an object with `allow` and `deny`, lists such as `["telegram/*"]`.
    /// Unless set, only operators see chats.
    #[serde(default)]
    pub chats: Option<String>,
}

/// A property of the caller that is read from a claim or the same for all tokens of an issuer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClaimSource<T> {
    /// The name of the claim to read.
    Claim(String),
    /// The value that always holds.
    Value(T),
}

/// Names of scopes in a setting, separated by spaces. A name that does not exist is an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScopeList(pub Scopes);

impl JsonSchema for ScopeList {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ScopeList".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string" })
    }
}

impl<'de> Deserialize<'de> for ScopeList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = String::deserialize(deserializer)?;
        let mut scopes = Scopes::default();
        for name in names.split_ascii_whitespace() {
            scopes = scopes.with(name.parse::<Scope>().map_err(serde::de::Error::custom)?);
        }
        Ok(Self(scopes))
    }
}

fn sub() -> String {
    "sub".to_owned()
}

fn scope() -> String {
    "scope".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUER: &str = r#"{
        "issuer": "https://tenant.auth0.com/",
        "jwks_url": "https://tenant.auth0.com/.well-known/jwks.json",
        "algorithm": "RS256",
        "claims": { "workspace_id": { "value": "acme" }, "role": { "claim": "role" } },
        "scope_map": { "invoice.read": "threads:read sessions:read" }
    }"#;

    #[test]
    fn an_issuer_needs_only_what_cannot_be_guessed() {
        let issuer: IssuerConfig = serde_json::from_str(ISSUER).unwrap();
        assert_eq!(issuer.claims.agent_id, "sub");
        assert_eq!(issuer.claims.scope, "scope");
        assert_eq!(issuer.claims.workspace_id, ClaimSource::Value("acme".to_owned()));
        assert_eq!(issuer.scope_map["invoice.read"].0.to_string(), "threads:read sessions:read");
    }

    #[test]
    fn a_mistyped_setting_is_an_error() {
        for (from, to) in [
            ("\"RS256\"", "\"none\""),
            ("\"RS256\"", "\"HS256\""),
            ("threads:read", "thread:read"),
            ("\"scope_map\"", "\"scopes\""),
            ("\"claim\": \"role\"", "\"value\": \"root\""),
        ] {
            let wrong = ISSUER.replace(from, to);
            assert!(serde_json::from_str::<IssuerConfig>(&wrong).is_err(), "{to}");
        }
    }

    #[test]
    fn a_static_token_does_not_print_its_secret() {
        let text = r#"{"token":"correct horse battery","agent_id":"a","workspace_id":"w",
            "role":"worker"}"#;
        let token: StaticToken = serde_json::from_str(text).unwrap();
        assert!(!format!("{token:?}").contains("horse"));
    }
}
