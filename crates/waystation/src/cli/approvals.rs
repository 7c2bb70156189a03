//! The words of `approvals`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ApprovalsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<ApprovalsCommand>,
    /// Those that were decided too.
    #[arg(long)]
    pub(crate) all: bool,
    /// How many.
    #[arg(long)]
    pub(crate) limit: Option<u32>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// Show a draft, what changed since the one before, where it would go and why.
    Show {
        /// The proposal.
        id: String,
    },
    /// Approve a draft: exactly this is sent.
    Approve {
        /// The proposal.
        id: String,
        #[command(flatten)]
        about: About,
    },
    /// Change a draft in your editor, and approve that.
    Edit {
        /// The proposal.
        id: String,
        /// What you have to say about it, for the thread.
        #[arg(long)]
        comment: Option<String>,
    },
    /// Send a draft back to its agent with a remark.
    Respond {
        /// The proposal.
        id: String,
        /// The remark.
        text: String,
        /// The draft you mean, as `show` numbers it; without it you are shown what stands and asked.
        #[arg(long, value_name = "NUMBER")]
        draft: Option<i64>,
    },
    /// Say no: it is never sent.
    Reject {
        /// The proposal.
        id: String,
        #[command(flatten)]
        about: About,
    },
    /// Set or change the passphrase that deciding asks for.
    Passphrase,
}

/// Which draft, and what is said about it.
#[derive(Debug, Args)]
pub(crate) struct About {
    /// The draft you mean, as `show` numbers it; without it you are shown what stands and asked.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) draft: Option<i64>,
    /// What you have to say about it, for the thread.
    #[arg(long)]
    pub(crate) comment: Option<String>,
}
