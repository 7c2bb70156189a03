//! Seeing who is there.

use protocol::{AgentSession, Scope, SessionStatus, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::SessionFilter;

use super::view;
use crate::call::Call;
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List the sessions of your workspace's agents, the one heard of last first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSessions {
    /// Only sessions of this agent.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    agent_id: Option<String>,
    /// Leave out sessions that are offline.
    online_only: Option<bool>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
}

/// Sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListSessionsOutput {
    /// The sessions.
    sessions: Vec<AgentSession>,
    /// Whether there are more than were asked for.
    truncated: bool,
}

impl Operation for ListSessions {
    const NAME: &'static str = "list_sessions";
    const ROUTE: Route = Route::get("/v1/sessions");
    const SCOPE: Scope = Scope::SessionsRead;
    const EFFECT: Effect = Effect::Read;
    const IS_BRIEF: bool = true;
    type Output = ListSessionsOutput;

    async fn run(self, call: &Call) -> Result<ListSessionsOutput> {
        let agent = self.agent_id.unwrap_or_default();
        if !agent.is_empty() {
            validate::name(&agent).field("agent_id")?;
        }
        let limit = page::size(self.limit)?;
        let fresh_since = call.now().plus_ms(-call.hub.settings.session_fresh_ms);
        let online_only = self.online_only.unwrap_or(false);
        let filter = SessionFilter {
            workspace: call.caller().workspace_id.clone(),
            agent,
            since: if online_only { fresh_since } else { Timestamp::from_ms(0) },
            limit: limits::PAGE_MAX + 1,
        };
        let now = call.now();
        let mut sessions: Vec<AgentSession> = call
            .read(move |tx| {
                let rows = tx.sessions(&filter)?.into_iter();
                rows.map(|row| view::session(tx, row, (now, fresh_since))).collect()
            })
            .await?;
        sessions.retain(|session| !(online_only && session.status == SessionStatus::Offline));
        let truncated = sessions.len() > limit;
        sessions.truncate(limit);
        Ok(ListSessionsOutput { sessions, truncated })
    }

    fn brief(output: &ListSessionsOutput) -> String {
        if output.sessions.is_empty() {
            return "no sessions".to_owned();
        }
        let line = |session: &AgentSession| {
            let status = view::status_name(session.status);
            format!(
                "{} {status} in {} (session {}, last heard {})",
                session.agent_id, session.runtime, session.session_id, session.last_heartbeat_at
            )
        };
        output.sessions.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
