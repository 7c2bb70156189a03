//! The envelope: one shape for whatever passes the relay, from wherever it came.
//!
//! Fields that are not known here are kept and come out again as they went in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The known channels; a configured link's name is one too, and others round-trip.
pub mod channel {
    /// Slack.
    pub const SLACK: &str = "slack";
    /// GitHub.
    pub const GITHUB: &str = "github";
    /// Sentry.
    pub const SENTRY: &str = "sentry";
    /// `OpenProject`.
    pub const OPENPROJECT: &str = "openproject";
    /// The hub itself, its agents and its people.
    pub const INTERNAL: &str = "internal";

    /// A plain webhook.
    pub const WEBHOOK: &str = "webhook";

    /// Services whose links offer no chats.
    pub const WITHOUT_CHATS: [&str; 4] = [GITHUB, SENTRY, OPENPROJECT, WEBHOOK];
    /// Those of the specification.
    pub const ALL: [&str; 5] = [SLACK, GITHUB, SENTRY, OPENPROJECT, INTERNAL];
}

/// The known roles; others round-trip.
pub mod envelope_role {
    /// Whoever asks, at a service.
    pub const USER: &str = "user";
    /// An agent.
    pub const ASSISTANT: &str = "assistant";
    /// What a tool answered.
    pub const TOOL: &str = "tool";
    /// The hub.
    pub const SYSTEM: &str = "system";
    /// A person with authority.
    pub const HUMAN: &str = "human";

    /// Those of the specification, and the hub's own.
    pub const ALL: [&str; 5] = [USER, ASSISTANT, TOOL, SYSTEM, HUMAN];
}

/// One message of the relay.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "MCPMessage")]
pub struct Envelope {
    /// UUID v4
    pub id: String,
    /// When it was said, as RFC 3339.
    #[schemars(extend("format" = "date-time"))]
    pub timestamp: String,
    /// Where it comes from or goes to: `slack`, `github`, `sentry`, `openproject`, `internal`, or the
    /// name of a link.
    pub channel: String,
    /// Who speaks: `user`, `assistant`, `tool`, `system` or `human`.
    pub role: String,
    /// The layers around the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// Natural-language payload.
    pub content: String,
    /// A tool to be run, or what it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call: Option<ToolCall>,
    /// Something to be remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_update: Option<MemoryUpdate>,
    /// Documents this turn was given; the content cites each as `[[ref:id]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub retrieval_refs: Vec<String>,
    /// `mcp_version`, `thread_id`, `task_id`, `parent_id`, `budget`, and whatever the sender adds.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// The layers around the content. The live one is the envelope itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Context {
    /// High-level policy or guardrails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<String>,
    /// Conversation/thread summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Short-lived task description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Layers that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A tool to be run, or what it answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// What it is given.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// What it answered; null until then. A failure stands in `error`.
    #[serde(default)]
    pub result: Option<Map<String, Value>>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Something to be remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUpdate {
    /// Where.
    pub kind: MemoryKind,
    /// What.
    #[serde(default)]
    pub data: Map<String, Value>,
    /// Seconds until expiry (optional).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<i64>,
    /// Fields that are not known here.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// Where something is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryKind {
    /// With its thread.
    Episodic,
    /// For every thread of the workspace, without personal data.
    LongTerm,
}
