//! Which program each runtime is, and the supervisor's lanes to it.

use std::path::PathBuf;
use std::time::Duration;

use supervisor::{
    Activity, AgentCli, Handed, Human, Lane, LaneError, Notice, Program, Runtime, Seen, Session,
};

use crate::config::HostConfig;

/// Gives a host the agent CLIs of its machine.
pub(crate) trait Clis: Send + Sync + 'static {
    /// What it gives.
    type Cli: AgentCli;

    /// The CLI of a runtime. What it starts gets this environment and writes its log there.
    fn of(&self, runtime: &Runtime, env: Vec<(String, String)>, log_folder: PathBuf) -> Self::Cli;

    /// The lane on which a new session of a runtime is started, if there is one.
    fn lane_of_new(&self, runtime: &Runtime) -> Option<Lane> {
        match runtime {
            Runtime::Codex => Some(Lane::CodexNew),
            Runtime::Claude => Some(Lane::ClaudeNew),
            Runtime::Other(_) => None,
        }
    }
}

/// The CLIs that the configuration names.
pub(crate) struct Installed {
    config: HostConfig,
}

impl Installed {
    /// Those of this configuration.
    pub(crate) fn new(config: HostConfig) -> Self {
        Self { config }
    }

    fn program(&self, runtime: &Runtime, env: Vec<(String, String)>, log_folder: PathBuf) -> Program {
        let (file, args) = match runtime {
            Runtime::Codex => (self.config.codex.as_str(), self.config.codex_args.clone()),
            Runtime::Claude => (self.config.claude.as_str(), self.config.claude_args.clone()),
            Runtime::Other(name) => (name.as_str(), Vec::new()),
        };
        Program { file: PathBuf::from(file), args, env, log_folder }
    }
}
