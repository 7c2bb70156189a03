//! The words of `outbox`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct OutboxArgs {
    #[command(subcommand)]
    pub(crate) command: Option<OutboxCommand>,
    #[command(flatten)]
    pub(crate) list: OutboxListArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OutboxCommand {
    /// List actions, the newest first.
    List(OutboxListArgs),
    /// Show one action: what is sent where, how far it came, and what the service said.
    Show {
        /// The action.
        id: String,
    },
    /// Try an action again that was given up, or one that waits, now.
    Redrive {
        /// The actions.
        #[arg(required = true)]
        ids: Vec<String>,
        /// You have looked at the service and it did not arrive: it is sent again without asking.
        #[arg(long)]
        not_arrived: bool,
    },
    /// Take an action back before it leaves.
    Cancel {
        /// The actions.
        #[arg(required = true)]
        ids: Vec<String>,
    },
}

/// Which actions.
#[derive(Debug, Args)]
pub(crate) struct OutboxListArgs {
    /// Only actions that have come so far: waiting, sending, sent, dead or cancelled.
    #[arg(long)]
    pub(crate) state: Option<String>,
    /// Only actions through this link.
    #[arg(long)]
    pub(crate) link: Option<String>,
    /// How many.
    #[arg(long)]
    pub(crate) limit: Option<u32>,
}
