//! Words for running agents in terminals.

use clap::Args;

/// Which agent to run, and how.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The agent's name.
    pub(crate) name: String,
    /// Start another session although one of that agent runs.
    #[arg(long, conflicts_with = "restart")]
    pub(crate) new: bool,
    /// Run without showing it here; Claude Code then runs without a terminal at all.
    #[arg(long, conflicts_with = "restart")]
    pub(crate) headless: bool,
    /// End that agent's program and start it anew where it runs.
    #[arg(long)]
    pub(crate) restart: bool,
    /// What the agent may do: worker or orchestrator.
    #[arg(long, default_value = "worker")]
    pub(crate) role: String,
    /// The program and its arguments.
    #[arg(last = true, required_unless_present = "restart", value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Which agent to watch.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// The agent's name, or its session; not needed when only one runs.
    pub(crate) name: Option<String>,
}
