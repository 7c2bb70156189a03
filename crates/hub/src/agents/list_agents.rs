//! Seeing who can be reached, and how that last went.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use protocol::{Caller, Scope, SessionStatus, ThreadId, Timestamp, WakeId, WakeState, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Tx, WakeFilter, WakeRow};

use super::view;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Quota, Route};
use crate::page;
use crate::wakes::pause::Pause;

/// How often whoever waits looks by itself.
const LOOK_EVERY_MS: i64 = 2_000;
/// Between two looks.
const REST: Duration = Duration::from_millis(50);

/// List the agents of your workspace: what each is doing, how much it has not read, and how it was last
/// woken. With `unless` and `wait_ms` it waits until something of that has changed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListAgents {
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// The `version` of the answer you have: with `wait_ms`, the next one comes when it is another.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    unless: Option<String>,
    /// Milliseconds to wait for that, at most 55000.
    #[schemars(range(max = limits::WAIT_MS_MAX))]
    wait_ms: Option<u64>,
}

/// Agents, in the order of their names.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListAgentsOutput {
    /// The agents.
    agents: Vec<AgentView>,
    /// Whether there are more than were asked for.
    truncated: bool,
    /// Pass this as `unless` to wait for the next change.
    version: String,
}

/// One agent.
#[derive(Debug, Serialize, JsonSchema)]
struct AgentView {
    /// The agent.
    agent_id: String,
    /// What it is doing: the best of its sessions says so.
    status: SessionStatus,
    /// That session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The program it runs in.
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<String>,
    /// The host it runs on, or is started on.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// Whether a supervisor of the hub owns its process.
    managed: bool,
    /// When it was last heard of.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_heartbeat_at: Option<Timestamp>,
    /// The lane on which it was last woken, or would be now.
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    /// Messages of others it has not acknowledged, counted up to 1,000.
    unread: i64,
    /// How it was last woken about a thread that you may enter.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_wake: Option<LastWake>,
}

/// How an agent was last woken.
#[derive(Debug, Serialize, JsonSchema)]
struct LastWake {
    /// The wake.
    wake_id: WakeId,
    /// The thread it was about.
    thread_id: ThreadId,
    /// How far it came.
    state: WakeState,
    /// The lane it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    /// What it was for.
    reason: String,
    /// Why it waits, failed or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// While it waits: not before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    /// How long it took from the request to the turn, or to the program, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<i64>,
}

impl Operation for ListAgents {
    const NAME: &'static str = "list_agents";
    const ROUTE: Route = Route::get("/v1/agents");
    const SCOPE: Scope = Scope::SessionsRead;
    const EFFECT: Effect = Effect::Read;
    // Few models have a need of it, and their list of tools is short; those who do ask for the set.
    const TOOLSET: &'static str = "wakes";
    const QUOTA: Quota = Quota::Waits;
    type Output = ListAgentsOutput;

    async fn run(self, call: &Call) -> Result<ListAgentsOutput> {
        let limit = page::size(self.limit)?;
        let wait_ms = self.wait_ms.unwrap_or(0);
        if wait_ms > limits::WAIT_MS_MAX {
            let reason = format_args!("must be at most {}", limits::WAIT_MS_MAX);
            return Err(Error::invalid("wait_ms", reason));
        }
        if let Some(known) = &self.unless {
            let is_short = known.chars().count() <= limits::NAME_CHARS_MAX;
            let reason = format_args!("must have at most {} characters", limits::NAME_CHARS_MAX);
            is_short.then_some(()).ok_or_else(|| Error::invalid("unless", reason))?;
        }
        // Listening comes before looking: what happens meanwhile is heard.
        let bell = call.hub.wakes.bell_of_all(&call.caller().workspace_id);
        let mut pause = Pause::new(&call.hub, Duration::from_millis(wait_ms));
        loop {
            let listed = list(call, limit).await?;
            let is_known = self.unless.as_ref() == Some(&listed.version);
            // Nobody rings for what is merely read or posted, or for a session that falls silent.
            if wait_ms == 0 || !is_known || !pause.until(&bell, Some(LOOK_EVERY_MS)).await {
                return Ok(listed);
            }
            // In a flood of reports many are looked at together.
            tokio::time::sleep(REST).await;
        }
    }

    fn brief(output: &ListAgentsOutput) -> String {
        if output.agents.is_empty() {
            return "no agents".to_owned();
        }
        let line = |agent: &AgentView| {
            let status = view::status_name(agent.status);
            let woken = agent
                .last_wake
                .as_ref()
                .map_or_else(String::new, |wake| format!(", last wake {}", wake.state));
            format!("{} {status}, {} unread{woken}", agent.agent_id, agent.unread)
        };
        output.agents.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Every agent, as it is now.
async fn list(call: &Call, limit: usize) -> Result<ListAgentsOutput> {
    let caller = call.shared_caller();
    let now = call.hub.now();
    let fresh_since = now.plus_ms(-call.hub.settings.session_fresh_ms);
    call.read(move |tx| {
        let mut names = tx.agents(&caller.workspace_id, limit + 1)?;
        let truncated = names.len() > limit;
        names.truncate(limit);
        let mut agents = Vec::with_capacity(names.len());
        for agent in names {
            agents.push(look(tx, &caller, agent, (now, fresh_since))?);
        }
        let version = version(&agents)?;
        Ok(ListAgentsOutput { agents, truncated, version })
    })
    .await
}

/// A word that is another one when anything but the time of a report is.
fn version(agents: &[AgentView]) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    for agent in agents {
        let mut shown =
            serde_json::to_value(agent).map_err(|error| Error::Internal(Box::new(error)))?;
        if let Some(fields) = shown.as_object_mut() {
            fields.remove("last_heartbeat_at");
        }
        shown.to_string().hash(&mut hasher);
    }
    Ok(format!("{:016x}", hasher.finish()))
}

fn look(
    tx: &mut Tx<'_>,
    caller: &Caller,
    agent: String,
    (now, fresh_since): (Timestamp, Timestamp),
) -> Result<AgentView> {
    let workspace = caller.workspace_id.as_str();
    let best = tx.sessions_of(workspace, &agent, 1)?.pop();
    let best = match best {
        Some(row) => Some(view::session(tx, row, (now, fresh_since))?),
        None => None,
    };
    let profile = tx.profile(workspace, &agent)?;
    let filter = WakeFilter {
        workspace: workspace.to_owned(),
        member: sight(caller),
        agent: agent.clone(),
        limit: 1,
        ..WakeFilter::default()
    };
    let last_wake = tx.wakes(&filter)?.pop().map(LastWake::of);
    let unread = tx.unread_of(workspace, &agent, limits::UNREAD_COUNT_MAX)?;
    let profile = profile.as_ref();
    Ok(AgentView {
        agent_id: agent,
        status: best.as_ref().map_or(SessionStatus::Offline, |session| session.status),
        session_id: best.as_ref().map(|session| session.session_id.clone()),
        runtime: best
            .as_ref()
            .map(|session| session.runtime.clone())
            .or_else(|| profile.map(|profile| profile.runtime.clone())),
        host: best
            .as_ref()
            .and_then(|session| session.host.clone())
            .or_else(|| profile.map(|profile| profile.host.clone())),
        managed: best.as_ref().is_some_and(view::is_managed),
        last_heartbeat_at: best.as_ref().map(|session| session.last_heartbeat_at),
        lane: best
            .and_then(|session| session.lane)
            .or_else(|| last_wake.as_ref().and_then(|wake| wake.lane.clone())),
        unread,
        last_wake,
    })
}

/// Whose threads a wake must be about; empty for all.
fn sight(caller: &Caller) -> String {
    if caller.role.has_authority() { String::new() } else { caller.agent_id.clone() }
}

impl LastWake {
    fn of(wake: WakeRow) -> Self {
        let arrived = wake.turn.or(wake.handed);
        Self {
            wake_id: wake.id,
            thread_id: wake.thread_id,
            state: wake.state,
            lane: wake.lane,
            reason: wake.reason,
            why: wake.why,
            due_at: (wake.state < WakeState::HandedToHost).then_some(wake.due),
            latency_ms: arrived.map(|arrived| arrived.ms_since(wake.requested)),
        }
    }
}
