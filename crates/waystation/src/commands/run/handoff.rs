//! What a keeper is told when it is started: on its stdin, for it holds a secret.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use supervisor::keeper::Pace;

/// Everything a keeper needs to know.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Handoff {
    /// The hub's name for the session.
    pub(super) session_id: String,
    /// The agent.
    pub(super) agent: String,
    /// The workspace it belongs to.
    pub(super) workspace: String,
    /// The sort of agent.
    pub(super) runtime: String,
    /// What the agent may do.
    pub(super) role: String,
    /// This machine.
    pub(super) host: String,
    /// The session's first token.
    pub(super) token: String,
    /// The program's file.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) args: Vec<String>,
    /// Its folder.
    pub(super) cwd: PathBuf,
    /// Whether nobody watches from the start.
    pub(super) headless: bool,
    /// How patient the keeper is with the program.
    #[serde(default)]
    pub(super) pace: Pace,
}

impl std::fmt::Debug for Handoff {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handoff").field("session_id", &self.session_id).finish_non_exhaustive()
    }
}

/// What a keeper says on its stdout once it can be reached.
pub(super) const READY: &str = "ready";
