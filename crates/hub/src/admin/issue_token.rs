//! Issuing a token.

use protocol::chat::ChatLists;
use protocol::id::TokenId;
use protocol::toolsets::UnknownToolset;
use protocol::{Role, Scope, Scopes, Timestamp, Toolsets, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::TokenRow;

use crate::audit::Object;
use crate::call::{Call, Change};
use crate::chats;
use crate::error::{Checked, Error, Result};
use crate::identity::NewToken;
use crate::operation::{Effect, Operation, Route};

/// Issue a token that says who an agent is. It is shown once and stored nowhere.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueToken {
    /// The agent the token is for.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    agent_id: String,
    /// Its role, `worker` unless you say otherwise.
    role: Option<Role>,
    /// Its scopes; those of the role unless you say otherwise. A token cannot exceed its role, save
    /// that `audit:read` and `chats:send` may be added to any, and `relay:decide` to an operator's, at
    /// the operator's own terminal.
    #[schemars(with = "Option<Vec<Scope>>")]
    scopes: Option<Vec<String>>,
    /// The chats it gives: `{"allow": ["telegram/*"], "deny": []}`. An operator's token gives all, any
    /// other none, unless you say otherwise. Names of chats are turned into ids.
    #[serde(default, deserialize_with = "protocol::object::optional")]
    chats: Option<ChatLists>,
    /// The sets of tools that it shows over MCP: `threads`, `chats`, `wakes`, `relay`, or `all`; the first
    /// two unless you say otherwise. What may be called depends on its scopes alone.
    toolsets: Option<Vec<String>>,
    /// How long it lives in seconds; ninety days unless you say otherwise.
    #[schemars(range(min = 1, max = limits::TOKEN_TTL_SECONDS_MAX))]
    ttl_seconds: Option<i64>,
    /// The session it names; a fresh one unless you say otherwise.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    session_id: Option<String>,
}

/// The new token.
#[derive(Serialize, JsonSchema)]
pub struct IssueTokenOutput {
    /// The token. Keep it safe: it is not shown again.
    token: String,
    /// Its id, for `revoke_token`.
    jti: String,
    /// The agent it is for.
    agent_id: String,
    /// The workspace it is for.
    workspace_id: String,
    /// The role it carries.
    role: Role,
    /// The scopes it carries.
    scopes: Vec<&'static str>,
    /// When it ends.
    expires_at: Timestamp,
}

impl Operation for IssueToken {
    const NAME: &'static str = "issue_token";
    const ROUTE: Route = Route::post("/v1/tokens");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Write;
    const TOOLSET: &'static str = "admin";
    type Output = IssueTokenOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.agent_id)
    }

    async fn run(self, call: &Call) -> Result<IssueTokenOutput> {
        validate::agent_id(&self.agent_id).field("agent_id")?;
        let role = self.role.unwrap_or(Role::Worker);
        let scopes = given_scopes(call, role, self.scopes.as_deref())?;
        let ttl = chosen_ttl(self.ttl_seconds)?;
        let chats = match self.chats {
            Some(lists) => Some(chats::grant::resolved(call, lists).await?),
            None => None,
        };
        let toolsets = self.toolsets.as_deref().map(chosen_toolsets).transpose()?;
        let jti = TokenId(call.new_uid());
        let session_id = self.session_id.unwrap_or_else(|| format!("sess_{}", call.new_uid()));
        validate::name(&session_id).field("session_id")?;
        let new = NewToken {
            jti,
            agent_id: self.agent_id,
            workspace_id: call.caller().workspace_id.clone(),
            role,
            session_id,
            scopes,
            chats: chats.clone(),
            toolsets,
            ttl_seconds: Some(ttl),
        };
        let issued = call
            .hub
            .keys
            .issue(&new, call.now())
            .map_err(|error| Error::Internal(Box::new(error)))?;
        let row = TokenRow {
            jti: jti.to_string(),
            workspace: new.workspace_id,
            agent: new.agent_id,
            role: role.to_string(),
            scopes: scopes.to_string(),
            session: new.session_id,
            issued_by: call.caller().agent_id.clone(),
            issued: call.now(),
            expires: issued.exp,
            revoked: None,
            chats: chats.as_ref().map(|lists| serde_json::json!(lists).to_string()),
        };
        let token = issued.token.expose().clone();
        call.write(move |tx| {
            tx.insert_token(&row)?;
            let output = IssueTokenOutput {
                token: token.clone(),
                jti: row.jti.clone(),
                agent_id: row.agent.clone(),
                workspace_id: row.workspace.clone(),
                role,
                scopes: scopes.names(),
                expires_at: row.expires,
            };
            let detail = serde_json::json!({
                "agent_id": row.agent, "role": role, "scopes": row.scopes, "expires_at": row.expires,
                "chats": chats,
            });
            Ok(Change::of(row.jti.clone(), output).with_detail(detail.to_string()))
        })
        .await
    }

    fn brief(output: &IssueTokenOutput) -> String {
        output.token.clone()
    }
}

/// The scopes that a token is given, if the caller may give them.
fn given_scopes(call: &Call, role: Role, names: Option<&[String]>) -> Result<Scopes> {
    let scopes = match names {
        None => role.default_scopes(),
        Some(names) => chosen_scopes(role, names)?,
    };
    if scopes.has(Scope::RelayDecide) {
        require_terminal(call)?;
    }
    Ok(scopes)
}

/// Any program of the same user may call itself the operator; whoever gives away the right to decide
/// must have shown that they are.
fn require_terminal(call: &Call) -> Result<()> {
    if call.hub.approvals.is_at_terminal(call.caller(), call.now()) {
        return Ok(());
    }
    Err(Error::InsufficientAuthority(
        "a token with relay:decide is issued behind the operator's passphrase: type `waystation \
         token issue --role operator --scope relay:decide …` at the prompt of your own terminal"
            .to_owned(),
    ))
}

fn chosen_ttl(asked: Option<i64>) -> Result<i64> {
    let ttl = asked.unwrap_or(limits::TOKEN_TTL_SECONDS_DEFAULT);
    if (1..=limits::TOKEN_TTL_SECONDS_MAX).contains(&ttl) {
        return Ok(ttl);
    }
    let reason = format_args!("must be from 1 to {}", limits::TOKEN_TTL_SECONDS_MAX);
    Err(Error::invalid("ttl_seconds", reason))
}

fn chosen_toolsets(names: &[String]) -> Result<Toolsets> {
    let parsed = names.join(",").parse();
    parsed.map_err(|error: UnknownToolset| Error::invalid("toolsets", error))
}

fn chosen_scopes(role: Role, names: &[String]) -> Result<Scopes> {
    let mut scopes = Scopes::default();
    for (index, name) in names.iter().enumerate() {
        let field = format!("scopes[{index}]");
        let scope: Scope = name.parse().map_err(|error| Error::invalid(&field, error))?;
        let may_be_added = matches!(scope, Scope::AuditRead | Scope::ChatsSend | Scope::AgentsHost)
            || (scope == Scope::RelayDecide && role.is_human());
        if !may_be_added && !role.default_scopes().has(scope) {
            return Err(Error::invalid(
                &field,
                format_args!("{scope} is more than the role {role} may carry"),
            ));
        }
        scopes = scopes.with(scope);
    }
    Ok(scopes)
}
