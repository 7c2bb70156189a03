//! Seeing who is there.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::{AgentSession, Scope, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{SessionFilter, SessionPlace, SessionRow};

use super::view;
use crate::call::Call;
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List the sessions of your workspace's agents, the one heard of last first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSessions {
    /// Only sessions of this agent.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    agent_id: Option<String>,
    /// Without those that are offline.
    online_only: Option<bool>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListSessionsOutput {
    /// The sessions.
    sessions: Vec<AgentSession>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is a next page.
    #[schemars(extend("x-unlisted" = true))]
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
            // Who is online has reported lately, and did not say goodbye.
            since: if online_only { fresh_since } else { Timestamp::from_ms(0) },
            present_only: online_only,
            after: self.cursor.as_deref().map(read_cursor).transpose()?,
            limit: limit + 1,
        };
        let now = call.now();
        call.read(move |tx| {
            let mut rows = tx.sessions(&filter)?;
            let truncated = rows.len() > limit;
            rows.truncate(limit);
            let next_cursor = rows.last().filter(|_| truncated).map(cursor);
            let shown = rows.into_iter().map(|row| view::session(tx, row, (now, fresh_since)));
            Ok(ListSessionsOutput {
                sessions: shown.collect::<Result<_>>()?,
                next_cursor,
                truncated,
            })
        })
        .await
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

/// The cursor that names a session's place.
fn cursor(row: &SessionRow) -> String {
    let [agent, session] = [&row.agent, &row.session].map(|name| URL_SAFE_NO_PAD.encode(name));
    format!("{:x}.{agent}.{session}", row.heartbeat.as_ms())
}

fn read_cursor(text: &str) -> Result<SessionPlace> {
    let name = |text: &str| {
        let name = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
        validate::name(&name).ok().map(|()| name)
    };
    let place = || {
        let (ms, names) = text.split_once('.')?;
        let (agent, session) = names.split_once('.')?;
        let heartbeat = Timestamp::from_ms(i64::from_str_radix(ms, 16).ok()?);
        Some(SessionPlace { heartbeat, agent: name(agent)?, session: name(session)? })
    };
    place().ok_or_else(|| Error::invalid("cursor", "must be next_cursor of an earlier page"))
}
