//! The words of `waystation link` and `waystation import`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum LinkCommand {
    /// Connect an account at a service; asks for what it needs and tries it first.
    Add(LinkAddArgs),
    /// List links and how each is doing.
    List,
    /// Ask a service now whether a link's credentials work.
    Check {
        /// The link, as `link list` shows it.
        name: String,
    },
    /// List what a service said through a link, and what became of it.
    Deliveries(LinkDeliveriesArgs),
    /// Read something again that a service said, from the bytes that were kept.
    Replay {
        /// The delivery, as `link deliveries` shows it.
        id: String,
        /// Take it in once more, though it is known: a message, and work where it asks for some.
        #[arg(long)]
        again: bool,
    },
    /// Send a recorded delivery through a link's whole way in; it makes work like any.
    Test {
        /// The link, as `link list` shows it.
        name: String,
    },
    /// Forget a link's credentials; what it brought stays as an archive.
    Remove {
        /// The link, as `link list` shows it.
        name: String,
        /// Delete its chats and messages too; they cannot be brought back.
        #[arg(long)]
        purge: bool,
        /// Do not ask whether you are sure.
        #[arg(long)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LinkDeliveriesArgs {
    /// The link, as `link list` shows it.
    pub(crate) name: String,
    /// Only those of which this became: work, noted, control, own, private or dropped.
    #[arg(long)]
    pub(crate) outcome: Option<String>,
    /// How many, at most 200.
    #[arg(long)]
    pub(crate) limit: Option<u32>,
    /// Where an earlier page ended.
    #[arg(long)]
    pub(crate) cursor: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LinkAddArgs {
    /// The service.
    #[arg(value_parser = services())]
    pub(crate) service: String,
    /// The source's id, such as slack-work [default: the service].
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// A setting; may be given several times, and without a VALUE to take away what was kept. Secrets
    /// are refused here: others can see them.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) settings: Vec<String>,
    /// Read this secret from stdin; given several times, one line for each, in their order.
    #[arg(long = "secret-stdin", value_name = "KEY")]
    pub(crate) secrets: Vec<String>,
    /// Store the link even if its credentials do not work now.
    #[arg(long)]
    pub(crate) force: bool,
    /// Only print how to get what the service asks for.
    #[arg(long)]
    pub(crate) guide: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The export: a file, an archive or a folder.
    pub(crate) path: PathBuf,
    /// The source to put it into, which is made if it is new [default: the service].
    #[arg(long)]
    pub(crate) source: Option<String>,
    /// The zone of times that name none, such as Europe/Berlin [default: this machine's].
    #[arg(long)]
    pub(crate) zone: Option<String>,
    /// Whether 3/4 is in April (dmy) or in March (mdy), where the file cannot tell.
    #[arg(long, value_enum)]
    pub(crate) day_order: Option<DayOrderArg>,
    /// The chat's name, where the file does not say.
    #[arg(long)]
    pub(crate) chat_name: Option<String>,
    /// The service it was exported from, where that cannot be told.
    #[arg(long, value_parser = services())]
    pub(crate) service: Option<String>,
    /// Only say what would be taken.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// In which order a date names day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DayOrderArg {
    /// 31/12
    Dmy,
    /// 12/31
    Mdy,
}

fn services() -> PossibleValuesParser {
    PossibleValuesParser::new(connectors::ALL.iter().map(|kind| kind.service()))
}

/// What is sent, and where.
#[derive(Debug, Args)]
pub(crate) struct SendArgs {
    /// The source, such as telegram; `waystation chats` lists them.
    pub(crate) source: String,
    /// The chat, by its id or name.
    pub(crate) chat: String,
    /// The text, or - to read it from stdin.
    #[arg(default_value = "-", allow_hyphen_values = true)]
    pub(crate) text: String,
    /// The message it answers.
    #[arg(long)]
    pub(crate) reply_to: Option<String>,
    /// A key that makes a retry safe.
    #[arg(long)]
    pub(crate) key: Option<String>,
}
