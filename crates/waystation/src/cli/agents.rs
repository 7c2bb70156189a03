//! The words of `connect`, `doctor`, `agents` and `review`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::AgentClient;

#[derive(Debug, Args)]
pub(crate) struct ConnectArgs {
    /// Which programs [default: those that are installed].
    #[arg(value_enum, value_name = "PROGRAM")]
    pub(crate) clients: Vec<AgentClient>,
    /// The agent's name, where `waystation run` gives it none [default: codex or claude].
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Do not ask; without a terminal nothing is changed unless you say so.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Take out what connect put in, and nothing else.
    #[arg(long)]
    pub(crate) undo: bool,
    /// Connect this project alone, instead of everything you do.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Which programs [default: those that are installed].
    #[arg(value_enum, value_name = "PROGRAM")]
    pub(crate) clients: Vec<AgentClient>,
    /// Really wake a session of each without asking: one short turn each, which costs a little.
    #[arg(long)]
    pub(crate) yes: bool,
    /// Only look; wake nobody.
    #[arg(long, conflicts_with = "yes")]
    pub(crate) no_wake: bool,
    /// How long a session may take to start, and again to be woken, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 90, value_parser = clap::value_parser!(u64).range(5..=600))]
    pub(crate) patience: u64,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AgentsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<AgentsCommand>,
    /// Keep the table on the screen as things change, until interrupted.
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentsCommand {
    /// List wakes, the newest first.
    Wakes {
        /// Only those that have not ended.
        #[arg(long)]
        open: bool,
        /// Only of this agent.
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
        /// Only in this thread.
        #[arg(long)]
        thread: Option<String>,
        /// How many.
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Wake an agent now.
    Wake(WakeArgs),
    /// Take a wake back.
    Cancel {
        /// The wake, as `agents wakes` shows it.
        wake: String,
    },
    /// Show, or change, when an agent is woken.
    Policy(PolicyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WakeArgs {
    /// The agent.
    pub(crate) agent: String,
    /// The thread it is to read.
    #[arg(long)]
    pub(crate) thread: String,
    /// A sentence of yours to hand over with the notice.
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// Why, for the audit trail.
    #[arg(long, default_value = "asked_by_operator")]
    pub(crate) reason: String,
    /// Wake it through quiet hours, budgets and a human's pause. Say what for: it is audited.
    #[arg(long, value_name = "INTENT")]
    pub(crate) force: Option<String>,
    /// Fail instead of waiting when a human is typing.
    #[arg(long)]
    pub(crate) or_fail: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PolicyArgs {
    /// The agent.
    pub(crate) agent: String,
    /// Only in this thread.
    #[arg(long)]
    pub(crate) thread: Option<String>,
    /// Forget what was set, so that what holds for everybody holds again.
    #[arg(long)]
    pub(crate) reset: bool,
    /// Whether posts wake it at all.
    #[arg(long, value_name = "BOOL", action = clap::ArgAction::Set)]
    pub(crate) enabled: Option<bool>,
    /// What wakes it; may be given several times.
    #[arg(long = "on", value_enum)]
    pub(crate) on: Vec<WakeOnArg>,
    /// Hours in which nothing does, such as 22:00-07:00; `none` for no such hours.
    #[arg(long, value_name = "FROM-TO")]
    pub(crate) quiet: Option<String>,
    /// The zone of those hours, such as Europe/Berlin [default: this machine's].
    #[arg(long, requires = "quiet")]
    pub(crate) zone: Option<String>,
    /// Wakes an hour.
    #[arg(long, value_name = "COUNT")]
    pub(crate) per_hour: Option<u32>,
    /// Changes of speaker between agents without a human; 0 for no end.
    #[arg(long, value_name = "COUNT")]
    pub(crate) hops: Option<u32>,
    /// Whether a session that ended may be resumed.
    #[arg(long, value_enum)]
    pub(crate) resume: Option<ConsentArg>,
    /// Whether a new session may be started.
    #[arg(long, value_enum)]
    pub(crate) new_session: Option<ConsentArg>,
}

/// When a step that costs something may be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ConsentArg {
    /// Whenever a wake needs it.
    Always,
    /// Only when somebody asked for the wake.
    WhenAsked,
    /// Not at all.
    Never,
}

/// What wakes an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum WakeOnArg {
    /// Any message of somebody else.
    Unread,
    /// A message that names it.
    Mention,
    /// A thread of it changes its status.
    Status,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ReviewCommand {
    /// Open a review: a thread with both agents, told how to work, and woken as the work moves.
    Start {
        /// What is reviewed.
        title: String,
        /// The agent that writes and fixes.
        #[arg(long, value_name = "AGENT")]
        author: String,
        /// The agent that looks for mistakes.
        #[arg(long, value_name = "AGENT")]
        reviewer: String,
        /// The task: an id, or what is to be done.
        #[arg(long)]
        task: Option<String>,
    },
    /// Show how a review stands: summary, open items, wakes.
    Show {
        /// The thread.
        thread: String,
    },
}
