//! The words of `work`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct WorkArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WorkCommand>,
    #[command(flatten)]
    pub(crate) list: WorkListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// List work, the newest first.
    List(WorkListArgs),
    /// Show one piece of work: what it is about, who had it, and why it stands where it does.
    Show {
        /// The work.
        id: String,
    },
    /// Give work out again that was given up or is parked, as if it had never been tried.
    Retry {
        /// The work.
        #[arg(required = true)]
        ids: Vec<String>,
        /// The queue it goes to, if not the one it stood in.
        #[arg(long)]
        queue: Option<String>,
    },
}

/// Which work.
#[derive(Debug, Args)]
pub(crate) struct WorkListArgs {
    /// Only work that has come so far: ready, leased, behind, parked, done or dead.
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Only work of this queue.
    #[arg(long)]
    pub(crate) queue: Option<String>,
    /// Only work about this thread.
    #[arg(long)]
    pub(crate) thread: Option<String>,
    /// How many.
    #[arg(long)]
    pub(crate) limit: Option<u32>,
}
