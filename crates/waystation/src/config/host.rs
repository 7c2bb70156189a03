//! How a machine runs agents.

use schemars::JsonSchema;
use serde::Deserialize;

/// How this machine runs agents.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct HostConfig {
    /// Whether agents on this machine are woken by this process.
    pub(crate) enabled: bool,
    /// The program of Codex: a file, or a name to look up.
    pub(crate) codex: String,
    /// What Codex is started with when it is resumed or started anew.
    pub(crate) codex_args: Vec<String>,
    /// The program of Claude Code: a file, or a name to look up.
    pub(crate) claude: String,
    /// What Claude Code is started with when it is resumed or started anew.
    pub(crate) claude_args: Vec<String>,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            enabled: true,
            codex: "codex".to_owned(),
            codex_args: Vec::new(),
            claude: "claude".to_owned(),
            claude_args: vec!["--allowedTools".to_owned(), "mcp__waystation".to_owned()],
        }
    }
}
