//! Reporting that one is alive.

use protocol::{
    Caller, HumanInput, Scope, SessionStatus, Timestamp, WakeLane, WakeState, limits, validate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{SessionRow, Tx};

use super::process::{self, ProcessFacts};
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;
use crate::wakes::request::Means;
use crate::wakes::{life, look};

/// Report that your session is alive and what it does. After two minutes without a report it counts as
/// offline.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatSession {
    /// The program you run in, such as `codex_cli` or `claude_code`.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    runtime: String,
    /// That program's version.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX))]
    runtime_version: Option<String>,
    /// The folder you work in.
    #[schemars(length(min = 1, max = limits::PATH_CHARS_MAX))]
    cwd: Option<String>,
    /// Whether your session can be resumed after it ended.
    resumable: Option<bool>,
    /// `active` while in a turn (the default), `idle` while waiting, `offline` when leaving.
    status: Option<SessionStatus>,
    /// That program's own id of the session.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    #[schemars(extend("x-unlisted" = true))]
    vendor_session_id: Option<String>,
    /// The host you run on.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    #[schemars(extend("x-unlisted" = true))]
    host: Option<String>,
    /// Your process there.
    #[schemars(range(min = 1))]
    #[schemars(extend("x-unlisted" = true))]
    pid: Option<i64>,
    /// When it started, in ticks.
    #[schemars(range(min = 0))]
    #[schemars(extend("x-unlisted" = true))]
    pid_started: Option<i64>,
    /// Which boot of the host that was.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    #[schemars(extend("x-unlisted" = true))]
    boot_id: Option<String>,
    /// What your human does.
    #[schemars(extend("x-unlisted" = true))]
    #[serde(default, deserialize_with = "protocol::object::optional")]
    human_input: Option<HumanInput>,
    /// The file of what is said.
    #[schemars(length(min = 1, max = limits::PATH_CHARS_MAX))]
    #[schemars(extend("x-unlisted" = true))]
    transcript: Option<String>,
    /// Optional: must match your token.
    agent_id: Option<String>,
    /// Optional: must match your token.
    workspace_id: Option<String>,
    /// Optional: must match your token.
    session_id: Option<String>,
}

/// The report was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HeartbeatSessionOutput {
    /// Always true.
    ok: bool,
    /// When.
    recorded_at: Timestamp,
    #[serde(skip)]
    agent: String,
}

impl Operation for HeartbeatSession {
    const NAME: &'static str = "heartbeat_session";
    const ROUTE: Route = Route::post("/v1/sessions/heartbeat");
    const SCOPE: Scope = Scope::SessionsWrite;
    const OTHER_SCOPE: Option<Scope> = Some(Scope::AgentsHost);
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    type Output = HeartbeatSessionOutput;

    async fn run(self, call: &Call) -> Result<HeartbeatSessionOutput> {
        self.check(call.caller())?;
        let (caller, now, means) = (call.shared_caller(), call.now(), call.hub.wake_means());
        let output = call
            .write(move |tx| {
                let report = self.report(tx, &caller, now)?;
                let who = (report.workspace.as_str(), report.agent.as_str());
                let is_new = tx.session(who.0, who.1, &report.session)?.is_none();
                tx.record_heartbeat(&report)?;
                tell_wakes(tx, &report, &means)?;
                if is_new {
                    look::arrived(tx, who, now, &means)?;
                }
                let agent = report.agent;
                let output = HeartbeatSessionOutput { ok: true, recorded_at: now, agent };
                Ok(Change::of(report.session, output))
            })
            .await?;
        // A turn that ended, or a human who paused, is what a wake waits for.
        call.hub.wakes.ring(&call.caller().workspace_id, &output.agent);
        Ok(output)
    }

    fn brief(output: &HeartbeatSessionOutput) -> String {
        format!("recorded at {}", output.recorded_at)
    }
}

impl HeartbeatSession {
    fn check(&self, caller: &Caller) -> Result<()> {
        rules::workspace(self.workspace_id.as_deref(), caller)?;
        if self.is_of_host(caller) {
            // A host reports for the agents that it runs.
            self.agent_id.as_deref().map_or(Ok(()), validate::agent_id).field("agent_id")?;
            self.session_id.as_deref().map_or(Ok(()), validate::name).field("session_id")?;
        } else {
            rules::claim("agent_id", self.agent_id.as_deref(), &caller.agent_id)?;
            rules::claim("session_id", self.session_id.as_deref(), &caller.session_id)?;
        }
        process::check(&ProcessFacts {
            runtime: &self.runtime,
            runtime_version: self.runtime_version.as_deref(),
            cwd: self.cwd.as_deref(),
            host: self.host.as_deref(),
            pid: self.pid,
            pid_started: self.pid_started,
            boot_id: self.boot_id.as_deref(),
        })?;
        if let Some(vendor) = &self.vendor_session_id {
            process::check_vendor_session(vendor)?;
        }
        if let Some(transcript) = &self.transcript {
            validate::line(transcript, limits::PATH_CHARS_MAX).field("transcript")?;
        }
        Ok(())
    }

    /// Whether a host speaks, which says that it is one: a person who may run agents does not thereby
    /// speak for them.
    fn is_of_host(&self, caller: &Caller) -> bool {
        self.host.is_some() && caller.scopes.has(Scope::AgentsHost)
    }

    /// What the session looks like after this report.
    fn report(&self, tx: &mut Tx<'_>, caller: &Caller, now: Timestamp) -> Result<SessionRow> {
        let agent = self.agent_id.as_ref().unwrap_or(&caller.agent_id);
        let session = self.session_id.as_ref().unwrap_or(&caller.session_id);
        let known = tx.session(&caller.workspace_id, agent, session)?;
        let is_own = *agent == caller.agent_id && *session == caller.session_id;
        let other_host = known.as_ref().and_then(|known| known.host.as_deref());
        if !is_own && other_host.is_some_and(|host| self.host.as_deref() != Some(host)) {
            return Err(Error::ClaimMismatch { field: "host" });
        }
        // Who only tells what the human does says nothing of the turn.
        let of_human = known.as_ref().filter(|_| self.human_input.is_some());
        let status = self.status.or_else(|| of_human.map(|known| known.status));
        let resumable = self.resumable.or_else(|| known.as_ref().map(|known| known.resumable));
        let human = self.human_input;
        Ok(SessionRow {
            workspace: caller.workspace_id.clone(),
            agent: agent.clone(),
            session: session.clone(),
            runtime: self.runtime.clone(),
            runtime_version: self.runtime_version.clone(),
            cwd: self.cwd.clone(),
            managed: false,
            resumable: resumable.unwrap_or(false),
            status: status.unwrap_or(SessionStatus::Active),
            heartbeat: now,
            vendor_session: self.vendor_session_id.clone(),
            host: self.host.clone(),
            pid: self.pid,
            pid_started: self.pid_started,
            boot_id: self.boot_id.clone(),
            transcript: self.transcript.clone(),
            human: human.and_then(|human| human.last_key_at),
            has_draft: human.map(|human| human.draft),
            has_dialog: human.map(|human| human.dialog),
            parked_by: None,
            parked_until: None,
        })
    }
}

/// What a report means for the wakes of its agent.
fn tell_wakes(tx: &mut Tx<'_>, report: &SessionRow, means: &Means) -> Result<()> {
    let who = (report.workspace.as_str(), report.agent.as_str());
    if report.status != SessionStatus::Offline {
        life::returned(tx, who, report.heartbeat)?;
    }
    match report.status {
        // What ends beside a session and starts its turn is seen by nobody else.
        SessionStatus::Active => {
            let open = tx.lock_open_wakes_of(who.0, who.1, limits::wake::WAKES_OPEN_MAX)?;
            let lane = WakeLane::ClaudeRewake.name();
            for mut wake in open {
                let is_told = wake.state == WakeState::HandedToHost
                    && wake.lane.as_deref() == Some(lane)
                    && wake.session.as_deref() == Some(&report.session);
                if is_told {
                    life::start_turn(&mut wake, report.heartbeat);
                    tx.update_wake(&wake)?;
                }
            }
        }
        SessionStatus::Idle | SessionStatus::Offline => {
            life::turn_ended(tx, who, report.heartbeat, means)?;
        }
    }
    Ok(())
}
