//! Seeing who is there.

use protocol::{AgentSession, ManagementMode, Scope, SessionStatus, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{SessionFilter, SessionRow};

use crate::call::Call;
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;

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
    type Output = ListSessionsOutput;

    async fn run(self, call: &Call) -> Result<ListSessionsOutput> {
        let agent = self.agent_id.unwrap_or_default();
        if !agent.is_empty() {
            validate::name(&agent).field("agent_id")?;
        }
        let limit = rules::page_size(self.limit)?;
        let fresh_since = call.now().plus_ms(-call.hub.settings.session_fresh_ms);
        let online_only = self.online_only.unwrap_or(false);
        let filter = SessionFilter {
            workspace: call.caller().workspace_id.clone(),
            agent,
            since: if online_only { fresh_since } else { Timestamp::from_ms(0) },
            limit: limits::PAGE_MAX + 1,
        };
        let rows = call.read(move |tx| Ok(tx.sessions(&filter)?)).await?;
        let mut sessions: Vec<AgentSession> = rows
            .into_iter()
            .map(|row| shown(row, fresh_since))
            .filter(|session| !(online_only && session.status == SessionStatus::Offline))
            .collect();
        let truncated = sessions.len() > limit;
        sessions.truncate(limit);
        Ok(ListSessionsOutput { sessions, truncated })
    }

    fn brief(output: &ListSessionsOutput) -> String {
        if output.sessions.is_empty() {
            return "no sessions".to_owned();
        }
        let line = |session: &AgentSession| {
            let status = match session.status {
                SessionStatus::Active => "active",
                SessionStatus::Idle => "idle",
                SessionStatus::Offline => "offline",
            };
            format!(
                "{} {status} in {} (session {}, last heard {})",
                session.agent_id, session.runtime, session.session_id, session.last_heartbeat_at
            )
        };
        output.sessions.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// What a session reported holds while the report is fresh; age makes it offline.
fn shown(row: SessionRow, fresh_since: Timestamp) -> AgentSession {
    AgentSession {
        agent_id: row.agent,
        workspace_id: row.workspace,
        session_id: row.session,
        runtime: row.runtime,
        runtime_version: row.runtime_version,
        cwd: row.cwd,
        management_mode: if row.managed {
            ManagementMode::Managed
        } else {
            ManagementMode::Unmanaged
        },
        resumable: row.resumable,
        last_heartbeat_at: row.heartbeat,
        status: if row.heartbeat >= fresh_since { row.status } else { SessionStatus::Offline },
    }
}
