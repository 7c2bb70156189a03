//! How an agent's program is started.

use std::path::PathBuf;
use std::process::Command;

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
