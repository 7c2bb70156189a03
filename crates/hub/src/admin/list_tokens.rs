//! Listing issued tokens.

use protocol::chat::ChatLists;
use protocol::id::TokenId;
use protocol::{Scope, Timestamp, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::TokenFilter;

use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List the tokens the hub has issued in your workspace that are good, the newest first; never the tokens
/// themselves. Thirty days after its end a token is forgotten.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListTokens {
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Also tokens that have ended or were revoked.
    all: Option<bool>,
}

/// Issued tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListTokensOutput {
    /// The tokens.
    tokens: Vec<TokenLine>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there are more than are listed here.
    truncated: bool,
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
        let now = call.now();
        let before: Option<TokenId> = page::begin_by_id(self.cursor.as_deref())?;
        let filter = TokenFilter {
            workspace: call.caller().workspace_id.clone(),
            good_at: (self.all != Some(true)).then_some(now),
            before: before.map(|id| id.to_string()),
            limit: limit + 1,
        };
        let mut rows = call.read(move |tx| Ok(tx.tokens(&filter)?)).await?;
        let next_cursor = page::cut_by_id(&mut rows, limit, |row| row.jti.clone());
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
        let truncated = next_cursor.is_some();
        Ok(ListTokensOutput { tokens: tokens.collect(), next_cursor, truncated })
    }

    fn brief(output: &ListTokensOutput) -> String {
        if output.tokens.is_empty() {
            return "no such tokens".to_owned();
        }
        let line = |token: &TokenLine| {
            format!(
                "{}  {:<8} {:<12} {}  until {}",
                token.jti, token.state, token.role, token.agent_id, token.expires_at
            )
        };
        let mut lines: Vec<String> = output.tokens.iter().map(line).collect();
        if output.truncated {
            lines.push("(there are more: pass next_cursor as cursor)".to_owned());
        }
        lines.join("\n")
    }
}
