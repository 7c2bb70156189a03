//! Listing issued tokens.

use protocol::chat::ChatLists;
use protocol::{Scope, Timestamp, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List the tokens the hub has issued in your workspace, the newest first; never the tokens themselves.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
}

/// Issued tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListTokensOutput {
    /// The tokens.
    tokens: Vec<TokenLine>,
}

/// One issued token.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TokenLine {
    /// Its id, for `revoke_token`.
    jti: String,
    /// The agent it is for.
    agent_id: String,
    /// The role it carries.
    role: String,
    /// The scopes it carries.
    scopes: String,
    /// The chats it gives, where it says so itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    chats: Option<ChatLists>,
    /// The session it names.
    session_id: String,
    /// Who issued it.
    issued_by: String,
    /// When.
    issued_at: Timestamp,
    /// When it ends.
    expires_at: Timestamp,
    /// When it was revoked.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Timestamp>,
    /// `good`, `expired` or `revoked`.
    state: &'static str,
}

impl Operation for ListTokens {
    const NAME: &'static str = "list_tokens";
    const ROUTE: Route = Route::get("/v1/tokens");
    const SCOPE: Scope = Scope::Admin;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = "admin";
    type Output = ListTokensOutput;

    async fn run(self, call: &Call) -> Result<ListTokensOutput> {
        let limit = page::size(self.limit)?;
        let (workspace, now) = (call.caller().workspace_id.clone(), call.now());
        let rows = call.read(move |tx| Ok(tx.tokens(&workspace, limit)?)).await?;
        let tokens = rows.into_iter().map(|row| TokenLine {
            state: match row.revoked {
                Some(_) => "revoked",
                None if row.expires <= now => "expired",
                None => "good",
            },
            jti: row.jti,
            agent_id: row.agent,
            role: row.role,
            scopes: row.scopes,
            chats: row.chats.as_deref().and_then(|text| serde_json::from_str(text).ok()),
            session_id: row.session,
            issued_by: row.issued_by,
            issued_at: row.issued,
            expires_at: row.expires,
            revoked_at: row.revoked,
        });
        Ok(ListTokensOutput { tokens: tokens.collect() })
    }

    fn brief(output: &ListTokensOutput) -> String {
        if output.tokens.is_empty() {
            return "no tokens have been issued".to_owned();
        }
        let line = |token: &TokenLine| {
            format!(
                "{}  {:<8} {:<12} {}  until {}",
                token.jti, token.state, token.role, token.agent_id, token.expires_at
            )
        };
        output.tokens.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
