//! How an agent's program is started.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{ECHO_STILL, ENTER_AFTER, STILL};

/// How patient a keeper is with its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pace {
    /// How long nothing may have been printed before the program counts as waiting.
    pub still: Duration,
    /// How long after the last letter Enter comes at the earliest.
    pub enter_after: Duration,
    /// How long nothing may have been printed after the echo before Enter comes.
    pub echo_still: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self { still: STILL, enter_after: ENTER_AFTER, echo_still: ECHO_STILL }
    }
}

/// What stands between a keeper and its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A terminal.
    Terminal,
    /// Pipes with a line of JSON for everything that is said.
    Stream,
}

/// How to start the program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its file.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its folder.
    pub cwd: PathBuf,
    /// What is added to its environment.
    pub env: Vec<(String, String)>,
    /// How it is spoken with.
    pub kind: Kind,
    /// Whether it starts only when somebody watches, for a moment at least.
    pub awaits_watcher: bool,
    /// How patient its keeper is.
    pub pace: Pace,
    /// The session's folder.
    pub folder: PathBuf,
}

impl Plan {
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.cwd);
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }
}
