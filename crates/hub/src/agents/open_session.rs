//! A host opens a session for an agent that it starts, and renews its token.

use protocol::id::TokenId;
use protocol::limits::wake as wake_limits;
use protocol::{Caller, Role, Scope, SessionStatus, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ProfileRow, SessionRow, TokenRow, Tx};

use super::process::{self, ProcessFacts};
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::identity::{IssuedToken, NewToken};
use crate::operation::{Effect, Operation, Route};
use crate::wakes::look;

/// Open a session for an agent that you run on a host, and get a token for it that lives a few minutes.
/// With `session_id` the session is known already and gets a fresh token. How the agent was started is
/// remembered for starting it again.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenSession {
    /// The agent.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    agent_id: String,
    /// The program it runs in, such as `codex_cli` or `claude_code`.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    runtime: String,
    /// That program's version.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX))]
    runtime_version: Option<String>,
    /// The folder it works in.
    #[schemars(length(min = 1, max = limits::PATH_CHARS_MAX))]
    cwd: Option<String>,
    /// The host.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    host: String,
    /// The process.
    #[schemars(range(min = 1))]
    pid: Option<i64>,
    /// When it started, in ticks of the host.
    #[schemars(range(min = 0))]
    pid_started: Option<i64>,
    /// Which boot of the host that was.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    boot_id: Option<String>,
    /// The command that starts it, and its arguments.
    #[schemars(length(max = wake_limits::AGENT_COMMAND_PARTS_MAX), inner(length(max = limits::PATH_CHARS_MAX)))]
    command: Option<Vec<String>>,
    /// Its role: `worker` (the default) or `orchestrator`.
    role: Option<AgentRole>,
    /// A session that was opened before.
    #[schemars(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    session_id: Option<String>,
}

/// The roles of agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum AgentRole {
    /// An agent that works.
    Worker,
    /// An agent that steers others.
    Orchestrator,
}

/// The session and its token.
#[derive(Serialize, JsonSchema)]
pub struct OpenSessionOutput {
    /// The session.
    session_id: String,
    /// The token. Keep it safe: it is not shown again.
    token: String,
    /// When it ends; renew it before.
    expires_at: Timestamp,
}

impl Operation for OpenSession {
    const NAME: &'static str = "open_session";
    const ROUTE: Route = Route::post("/v1/sessions");
    const SCOPE: Scope = Scope::AgentsHost;
    const EFFECT: Effect = Effect::Write;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = OpenSessionOutput;

    async fn run(self, call: &Call) -> Result<OpenSessionOutput> {
        self.check(call.caller())?;
        let session_id =
            self.session_id.clone().unwrap_or_else(|| format!("sess_{}", call.new_uid()));
        let new = self.token(call, &session_id);
        let issued = call
            .hub
            .keys
            .issue(&new, call.now())
            .map_err(|error| Error::Internal(Box::new(error)))?;
        let row = token_row(&new, &issued, call);
        let token = issued.token.expose().clone();
        let (workspace, now) = (call.caller().workspace_id.clone(), call.now());
        let (agent, means) = (self.agent_id.clone(), call.hub.wake_means());
        let output = call
            .write(move |tx| {
                let place = (workspace.as_str(), session_id.as_str());
                let is_new = tx.session(&workspace, &self.agent_id, &session_id)?.is_none();
                self.record(tx, place, now)?;
                if is_new {
                    look::arrived(tx, (&workspace, &self.agent_id), now, &means)?;
                }
                tx.forget_ended_tokens(&workspace, &self.agent_id, &session_id, now)?;
                tx.insert_token(&row)?;
                let output = OpenSessionOutput {
                    session_id: session_id.clone(),
                    token: token.clone(),
                    expires_at: row.expires,
                };
                let detail = serde_json::json!({
                    "agent_id": self.agent_id, "role": row.role, "host": self.host,
                    "runtime": self.runtime, "expires_at": row.expires, "jti": row.jti,
                });
                Ok(Change::of(session_id.clone(), output).with_detail(detail.to_string()))
            })
            .await?;
        // There is a way to the agent now.
        call.hub.wakes.ring(&call.caller().workspace_id, &agent);
        Ok(output)
    }

    fn brief(output: &OpenSessionOutput) -> String {
        output.session_id.clone()
    }
}

impl OpenSession {
    fn check(&self, caller: &Caller) -> Result<()> {
        validate::agent_id(&self.agent_id).field("agent_id")?;
        process::check(&ProcessFacts {
            runtime: &self.runtime,
            runtime_version: self.runtime_version.as_deref(),
            cwd: self.cwd.as_deref(),
            host: Some(&self.host),
            pid: self.pid,
            pid_started: self.pid_started,
            boot_id: self.boot_id.as_deref(),
        })?;
        let command = self.command.as_deref().unwrap_or_default();
        if command.len() > wake_limits::AGENT_COMMAND_PARTS_MAX {
            let reason =
                format_args!("must have at most {} parts", wake_limits::AGENT_COMMAND_PARTS_MAX);
            return Err(Error::invalid("command", reason));
        }
        for (index, part) in command.iter().enumerate() {
            let field = format!("command[{index}]");
            if part.chars().count() > limits::PATH_CHARS_MAX {
                let reason =
                    format_args!("must have at most {} characters", limits::PATH_CHARS_MAX);
                return Err(Error::invalid(field, reason));
            }
            validate::without_nul(part).field(&field)?;
        }
        if let Some(session) = &self.session_id {
            validate::name(session).field("session_id")?;
        }
        // Whoever runs agents hands out no more authority than it has.
        if self.role == Some(AgentRole::Orchestrator) && !caller.role.has_authority() {
            return Err(Error::InsufficientAuthority(
                "only an operator or orchestrator may start an orchestrator".to_owned(),
            ));
        }
        Ok(())
    }

    fn token(&self, call: &Call, session_id: &str) -> NewToken {
        let role = match self.role {
            Some(AgentRole::Orchestrator) => Role::Orchestrator,
            _ => Role::Worker,
        };
        NewToken {
            jti: TokenId(call.new_uid()),
            agent_id: self.agent_id.clone(),
            workspace_id: call.caller().workspace_id.clone(),
            role,
            session_id: session_id.to_owned(),
            scopes: role.default_scopes(),
            chats: None,
            toolsets: None,
            ttl_seconds: Some((call.hub.settings.wake.session_token_ms / 1_000).max(1)),
        }
    }

    /// Writes down the session, and how its agent is started.
    fn record(
        &self,
        tx: &mut Tx<'_>,
        (workspace, name): (&str, &str),
        now: Timestamp,
    ) -> Result<()> {
        let known = tx.session(workspace, &self.agent_id, name)?;
        let is_renewal = self.session_id.is_some() && known.is_some();
        let mut session = known.unwrap_or_else(|| self.fresh(workspace, name, now));
        if is_renewal {
            // What a renewal leaves out stays as it was.
            session.managed = true;
            session.host = Some(self.host.clone());
            session.pid = self.pid.or(session.pid);
            session.pid_started = self.pid_started.or(session.pid_started);
            session.boot_id = self.boot_id.clone().or(session.boot_id);
        }
        tx.open_session(&session)?;
        if is_renewal && self.command.is_none() {
            return Ok(());
        }
        let before = tx.profile(workspace, &self.agent_id)?;
        let command = match &self.command {
            Some(command) => serde_json::json!(command).to_string(),
            None => before
                .filter(|before| before.runtime == self.runtime)
                .map_or_else(|| "[]".to_owned(), |before| before.command),
        };
        Ok(tx.set_profile(&ProfileRow {
            workspace: workspace.to_owned(),
            agent: self.agent_id.clone(),
            runtime: self.runtime.clone(),
            cwd: self.cwd.clone(),
            host: self.host.clone(),
            command,
            updated: now,
        })?)
    }

    fn fresh(&self, workspace: &str, name: &str, now: Timestamp) -> SessionRow {
        SessionRow {
            workspace: workspace.to_owned(),
            agent: self.agent_id.clone(),
            session: name.to_owned(),
            runtime: self.runtime.clone(),
            runtime_version: self.runtime_version.clone(),
            cwd: self.cwd.clone(),
            managed: true,
            // Until its program's own name for it is known there is nothing to resume.
            resumable: false,
            status: SessionStatus::Idle,
            heartbeat: now,
            vendor_session: None,
            host: Some(self.host.clone()),
            pid: self.pid,
            pid_started: self.pid_started,
            boot_id: self.boot_id.clone(),
            transcript: None,
            human: None,
            has_draft: None,
            has_dialog: None,
            parked_by: None,
            parked_until: None,
        }
    }
}

fn token_row(new: &NewToken, issued: &IssuedToken, call: &Call) -> TokenRow {
    TokenRow {
        jti: new.jti.to_string(),
        workspace: new.workspace_id.clone(),
        agent: new.agent_id.clone(),
        role: new.role.to_string(),
        scopes: new.scopes.to_string(),
        session: new.session_id.clone(),
        issued_by: call.caller().agent_id.clone(),
        issued: call.now(),
        expires: issued.exp,
        revoked: None,
        chats: None,
    }
}
