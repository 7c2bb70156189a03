//! The command line. Operations come from the catalogue; these are their friendly spellings.

mod agents;
mod approvals;
mod chats;
mod documents;
mod hook;
mod outbox;
mod run;
mod work;

use std::path::PathBuf;

pub(crate) use agents::{
    AgentsArgs, AgentsCommand, ConnectArgs, DoctorArgs, PolicyArgs, ReviewCommand, WakeArgs,
};
pub(crate) use approvals::{ApprovalsArgs, ApprovalsCommand};
pub(crate) use chats::{
    DayOrderArg, ImportArgs, LinkAddArgs, LinkCommand, LinkDeliveriesArgs, SendArgs,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(crate) use documents::{DocsCommand, RedactArgs, ReferenceArgs};
pub(crate) use hook::{HookArgs, HookCommand, TurnHappened};
pub(crate) use outbox::{OutboxArgs, OutboxCommand, OutboxListArgs};
pub(crate) use run::{AttachArgs, RunArgs};
pub(crate) use work::{WorkArgs, WorkCommand, WorkListArgs};

/// A self-hosted hub where agents, people and services meet in durable threads.
///
/// Without a command: on a terminal it is `waystation up`; with a pipe on stdin it serves MCP on stdio.
#[derive(Debug, Parser)]
#[command(name = "waystation", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command takes.
#[derive(Clone, Debug, Args)]
pub(crate) struct Global {
    /// The data folder [default: ~/.waystation, or `WAYSTATION_DATA`].
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// The configuration file [default: config.toml in the data folder, or `WAYSTATION_CONFIG`].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON for scripts.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the hub in the foreground.
    Up(UpArgs),
    /// Stop the hub that owns the data folder, in order.
    Down,
    /// Run beside agents on a machine whose hub is elsewhere; it dials out, and needs a token with the
    /// scope agents:host.
    Agentd(AgentdArgs),
    /// Serve MCP on stdio, through the one process that owns the data folder.
    Mcp(McpArgs),
    /// Call any operation by name: `waystation call list_threads '{"limit": 5}'`.
    Call {
        /// The operation; leave it out to list them all.
        operation: Option<String>,
        /// Its input as JSON, or - to read it from stdin.
        #[arg(default_value = "{}")]
        input: String,
    },
    /// List threads, the most recently active first.
    Threads(ThreadsArgs),
    /// Open, list, show, move or summarise threads.
    #[command(subcommand)]
    Thread(ThreadCommand),
    /// Post a message to a thread.
    Post {
        /// The thread.
        thread: String,
        /// The text, or - to read it from stdin.
        body: String,
        /// The message it answers.
        #[arg(long)]
        reply_to: Option<String>,
        /// Post a typed event of this name.
        #[arg(long, value_name = "TYPE")]
        event: Option<String>,
        /// Metadata as a JSON object.
        #[arg(long, value_name = "JSON")]
        metadata: Option<String>,
        /// A key that makes a retry safe.
        #[arg(long)]
        key: Option<String>,
    },
    /// Send a text to a chat of a linked service, as yourself: asks for the passphrase.
    Send(SendArgs),
    /// Read a thread.
    Read {
        /// The thread.
        thread: String,
        /// Read what comes after this number.
        #[arg(long, default_value_t = 0)]
        since: i64,
        /// How many messages.
        #[arg(long)]
        limit: Option<u32>,
    },
    /// Follow a thread live, until interrupted.
    Tail {
        /// The thread.
        thread: String,
        /// Begin after this number [default: the last ten messages].
        #[arg(long)]
        since: Option<i64>,
    },
    /// Search the messages you may see, the newest first.
    Search {
        /// Words; "a phrase", prefix* and -without work too.
        #[arg(allow_hyphen_values = true)]
        query: String,
        /// Only in this thread.
        #[arg(long)]
        thread: Option<String>,
        /// Only messages of this agent.
        #[arg(long)]
        sender: Option<String>,
        /// How many.
        #[arg(long)]
        limit: Option<u32>,
        /// Go on from an earlier page.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Connect Codex and Claude Code: shows what changes in their files, asks, and keeps copies.
    Connect(ConnectArgs),
    /// See which agent programs can be woken here, and what to do where one cannot.
    Doctor(DoctorArgs),
    /// See who is there, and how each was last woken.
    Agents(AgentsArgs),
    /// Decide about what agents want to do at services.
    Approvals(ApprovalsArgs),
    /// See what is on its way to services, try again what was given up, take back what has not left.
    Outbox(OutboxArgs),
    /// See what agents have to do, and give out again what was given up.
    Work(WorkArgs),
    /// Let one agent review another's work.
    #[command(subcommand)]
    Review(ReviewCommand),
    /// Run an agent's program in a terminal that can be left and come back to: `waystation run NAME -- codex`.
    Run(RunArgs),
    /// Come back to an agent's terminal; leave it again with Ctrl-] d.
    Attach(AttachArgs),
    /// List agent sessions.
    Sessions {
        /// Leave out sessions that are offline.
        #[arg(long)]
        online: bool,
        /// How many [default: 50].
        #[arg(long)]
        limit: Option<u32>,
        /// Go on from an earlier page.
        #[arg(long)]
        cursor: Option<String>,
    },
    /// Take in what somebody exported from Telegram, WhatsApp or Slack.
    Import(ImportArgs),
    /// List the chats of a source; without one, the sources.
    Chats {
        /// The source.
        source: Option<String>,
        /// Only chats with this text in their name.
        #[arg(long, value_name = "TEXT")]
        name: Option<String>,
        /// How many [default: 50].
        #[arg(long)]
        limit: Option<u32>,
        /// Leave out so many of the first.
        #[arg(long, value_name = "COUNT")]
        offset: Option<u32>,
    },
    /// Read or search the messages of chats.
    Chat(ChatArgs),
    /// Connect accounts at Telegram, Slack, Signal, WhatsApp, GitHub, Sentry and OpenProject, and see how
    /// they are doing.
    #[command(subcommand)]
    Link(LinkCommand),
    /// Wait for a wake: Claude Code parks this as an `asyncRewake` hook.
    Wait(HookArgs),
    /// What the hooks of agent CLIs call to report sessions and turns.
    #[command(subcommand)]
    Hook(HookCommand),
    /// Give agents documents that they can retrieve.
    #[command(subcommand)]
    Docs(DocsCommand),
    /// Show what would be taken out of a text before it is remembered: personal data and secrets.
    Redact(RedactArgs),
    /// Issue, list and revoke tokens.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Verify, export and follow the audit trail.
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Copy the whole store to a file while the hub works.
    Backup {
        /// The file to write.
        file: PathBuf,
    },
    /// Put a backup into the data folder; what was there is kept beside it.
    Restore(RestoreArgs),
    /// Print shell completions.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of the program, or of a command: `waystation man token issue`.
    Man {
        /// The command.
        command: Vec<String>,
    },
    /// Print every setting, with its default and its variable.
    Config,
    /// Write or check the generated reference.
    #[command(hide = true)]
    Reference(ReferenceArgs),
    /// Own the data folder for as long as somebody needs it.
    #[command(hide = true)]
    Owner,
    /// Own an agent's terminal; what to run comes on stdin.
    #[command(hide = true)]
    Keeper,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct UpArgs {
    /// The address to listen on [default: 127.0.0.1:7788].
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,
    /// The port to listen on, on the same address.
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Let everyone on this machine in without a token; only on a loopback address.
    #[arg(long)]
    pub(crate) no_auth: bool,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The backup.
    pub(crate) file: PathBuf,
    /// Only check that the backup is whole.
    #[arg(long)]
    pub(crate) verify: bool,
    /// Take it although its audit trail is not good.
    #[arg(long)]
    pub(crate) despite_trail: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct AgentdArgs {
    /// The hub's address: https, or http on this machine [default: the one of the last start].
    #[arg(long, value_name = "URL")]
    pub(crate) hub: Option<String>,
    /// The file that holds agentd's token [default: `WAYSTATION_TOKEN_FILE` or `WAYSTATION_TOKEN`].
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates of authorities to trust beside the system's, PEM.
    #[arg(long, value_name = "FILE")]
    pub(crate) ca: Option<PathBuf>,
    /// Somebody needs it: outlive them.
    #[arg(long, hide = true)]
    pub(crate) on_demand: bool,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct McpArgs {
    /// Keep the hub inside this process instead of sharing one.
    #[arg(long)]
    pub(crate) embedded: bool,
    /// The agent it serves, where neither a token nor the environment says so.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The sets of tools that are shown: threads, chats, wakes, relay, or all [default: threads,chats].
    #[arg(long, value_name = "SETS")]
    pub(crate) toolsets: Option<String>,
}

/// Which messages of chats.
#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// The source.
    pub(crate) source: Option<String>,
    /// The chat, by name or id; all of the source when left out.
    pub(crate) chat: Option<String>,
    /// Only messages that contain this text.
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    /// Only what this person sent.
    #[arg(long, value_name = "NAME")]
    pub(crate) sender: Option<String>,
    /// Only since then: 7d, yesterday, 2025-01-13.
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only before then.
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<String>,
    /// How many messages.
    #[arg(long)]
    pub(crate) limit: Option<u32>,
    /// Go on from an earlier page.
    #[arg(long)]
    pub(crate) cursor: Option<String>,
    /// Read what is held although the source is not connected.
    #[arg(long)]
    pub(crate) offline: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ThreadsArgs {
    /// Only threads that stand so.
    #[arg(long)]
    pub(crate) status: Option<String>,
    /// Only threads with unread messages.
    #[arg(long)]
    pub(crate) unread: bool,
    /// How many [default: 50].
    #[arg(long)]
    pub(crate) limit: Option<u32>,
    /// Go on from an earlier page.
    #[arg(long)]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ThreadCommand {
    /// Open a thread.
    New {
        /// What it is about.
        title: String,
        /// An agent that takes part; may be given several times.
        #[arg(long = "with", value_name = "AGENT")]
        participants: Vec<String>,
        /// What sort of thread it is: conversation, workflow or incident.
        #[arg(long = "type")]
        thread_type: Option<String>,
        /// A key that makes a retry safe.
        #[arg(long)]
        key: Option<String>,
    },
    /// List threads, as `waystation threads` does.
    List(ThreadsArgs),
    /// Show a thread.
    Show {
        /// The thread.
        thread: String,
    },
    /// Change a thread's status.
    Status {
        /// The thread.
        thread: String,
        /// active, blocked, resolved or closed.
        status: String,
        /// Why.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Summarise a thread.
    Summary {
        /// The thread.
        thread: String,
    },
    /// Add agents to a thread.
    Add {
        /// The thread.
        thread: String,
        /// The agents.
        #[arg(required = true)]
        agents: Vec<String>,
    },
    /// Remove agents from a thread.
    Remove {
        /// The thread.
        thread: String,
        /// The agents.
        #[arg(required = true)]
        agents: Vec<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Check the whole trail and name the first bad entry; needs no running hub.
    Verify {
        /// Begin with the seal over this entry, which must be there.
        #[arg(long, value_name = "ENTRY")]
        from: Option<i64>,
        /// A checkpoint kept elsewhere: the trail must have come at least so far.
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<PathBuf>,
        /// A public key in base64 to believe instead of those in the data folder; may be given several times.
        #[arg(long = "pubkey", value_name = "KEY")]
        public_keys: Vec<String>,
    },
    /// Print entries and seals as JSON, one a line.
    Export {
        /// The first entry.
        #[arg(long, value_name = "ENTRY")]
        from: Option<i64>,
        /// The last entry.
        #[arg(long, value_name = "ENTRY")]
        to: Option<i64>,
        /// The file to write [default: stdout].
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Follow the trail live, until interrupted.
    Tail,
    /// Print a signed checkpoint to keep where the hub cannot write.
    Checkpoint {
        /// A name for the trail.
        #[arg(long, default_value = "waystation/audit")]
        origin: String,
    },
    /// Print the proof that one entry is in the trail.
    Prove {
        /// The entry's number.
        entry: i64,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Issue a token; it is printed once and stored nowhere.
    Issue {
        /// The agent it is for.
        #[arg(long)]
        agent: String,
        /// operator, orchestrator, worker, observer, service or plugin.
        #[arg(long, default_value = "worker")]
        role: String,
        /// A scope; may be given several times [default: those of the role].
        #[arg(long = "scope")]
        scopes: Vec<String>,
        /// Chats it gives, such as telegram/* or telegram/Family; may be given several times.
        #[arg(long, value_name = "SOURCE/CHAT")]
        chats: Vec<String>,
        /// Chats it does not give, whatever else does; may be given several times.
        #[arg(long = "chats-deny", value_name = "SOURCE/CHAT")]
        chats_deny: Vec<String>,
        /// The sets of tools that it shows over MCP: threads, chats, wakes, relay, or all
        /// [default: threads,chats].
        #[arg(long, value_name = "SETS", value_delimiter = ',')]
        toolsets: Vec<String>,
        /// How long it lives, such as 90d, 12h or 15m.
        #[arg(long, default_value = "90d")]
        ttl: String,
        /// The session it names.
        #[arg(long)]
        session: Option<String>,
        /// Print the lines that connect this client instead of the bare token.
        #[arg(long = "for", value_enum)]
        client: Option<AgentClient>,
    },
    /// List the tokens that are good, the newest first.
    List {
        /// Also those that have ended, for thirty days, or were revoked.
        #[arg(long)]
        all: bool,
    },
    /// Revoke a token.
    Revoke {
        /// Its id, as `token list` shows it; of a token that the hub did not issue, as `audit export`
        /// does.
        jti: String,
    },
}

/// An agent's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentClient {
    /// Codex.
    Codex,
    /// Claude Code.
    Claude,
}
