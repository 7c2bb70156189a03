//! Sessions: where an agent runs, who supervises it, and when it was last heard of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// One running (or once running) agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AgentSession {
    /// The agent.
    pub agent_id: String,
    /// Its workspace.
    pub workspace_id: String,
    /// The session.
    pub session_id: String,
    /// The program it runs in, such as `codex_cli`.
    pub runtime: String,
    /// That program's version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_version: Option<String>,
    /// The folder it works in; a session can only be resumed there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether a supervisor of the hub owns the process.
    pub management_mode: ManagementMode,
    /// Whether the session can be resumed after it ended.
    pub resumable: bool,
    /// When it last reported.
    pub last_heartbeat_at: Timestamp,
    /// What it reported, or `offline` when that is too long ago.
    pub status: SessionStatus,
    /// The program's own name for the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vendor_session_id: Option<String>,
    /// The host it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The process it runs in, on that host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i64>,
    /// What its human was last seen doing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub human_input: Option<HumanInput>,
    /// The lane on which it was last woken, or would be now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<String>,
}

/// What the human at a session was last seen doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HumanInput {
    /// When a key was last pressed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_key_at: Option<Timestamp>,
    /// Whether something stands unsent in the line.
    #[serde(default)]
    pub draft: bool,
    /// Whether the program asks its human something.
    #[serde(default)]
    pub dialog: bool,
}

/// Who owns an agent's process. Set by the hub, never by a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ManagementMode {
    /// A supervisor of the hub started it.
    Managed,
    /// Somebody else did.
    Unmanaged,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// In a turn.
    Active,
    /// Waiting for one.
    Idle,
    /// Gone, or not heard of for too long.
    Offline,
}
