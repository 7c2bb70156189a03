//! Reporting that one is alive.

use protocol::{Scope, SessionStatus, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::SessionRow;

use crate::call::{Call, Change};
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::threads::rules;

/// Report that your session is alive and what it is doing. After two minutes without a report a session
/// counts as offline.
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
}

impl Operation for HeartbeatSession {
    const NAME: &'static str = "heartbeat_session";
    const ROUTE: Route = Route::post("/v1/sessions/heartbeat");
    const SCOPE: Scope = Scope::SessionsWrite;
    const EFFECT: Effect = Effect::Set;
    type Output = HeartbeatSessionOutput;

    async fn run(self, call: &Call) -> Result<HeartbeatSessionOutput> {
        let caller = call.caller();
        rules::claim("agent_id", self.agent_id.as_deref(), &caller.agent_id)?;
        rules::claim("session_id", self.session_id.as_deref(), &caller.session_id)?;
        rules::workspace(self.workspace_id.as_deref(), caller)?;
        validate::name(&self.runtime).field("runtime")?;
        if let Some(version) = &self.runtime_version {
            validate::line(version, limits::NAME_CHARS_MAX).field("runtime_version")?;
        }
        if let Some(cwd) = &self.cwd {
            validate::line(cwd, limits::PATH_CHARS_MAX).field("cwd")?;
        }
        let report = SessionRow {
            workspace: caller.workspace_id.clone(),
            agent: caller.agent_id.clone(),
            session: caller.session_id.clone(),
            runtime: self.runtime,
            runtime_version: self.runtime_version,
            cwd: self.cwd,
            managed: false,
            resumable: self.resumable.unwrap_or(false),
            status: self.status.unwrap_or(SessionStatus::Active),
            heartbeat: call.now(),
            vendor_session: None,
            host: None,
            pid: None,
            pid_started: None,
            boot_id: None,
            transcript: None,
            human: None,
            has_draft: None,
            has_dialog: None,
            parked_by: None,
            parked_until: None,
        };
        call.write(move |tx| {
            tx.record_heartbeat(&report)?;
            let output = HeartbeatSessionOutput { ok: true, recorded_at: report.heartbeat };
            Ok(Change::of(report.session.clone(), output))
        })
        .await
    }

    fn brief(output: &HeartbeatSessionOutput) -> String {
        format!("recorded at {}", output.recorded_at)
    }
}
