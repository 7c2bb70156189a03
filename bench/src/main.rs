//! Measures Waystation beside what it is compared with, in the same run, and says where it stands.
//!
//! Every measurement is a file; each makes its own servers and folders and leaves nothing running.

mod append;
mod bare;
mod chats;
mod crowd;
mod do_nothing;
mod drive;
mod file;
mod grown;
mod growth;
mod http;
mod mcp;
mod peer;
mod place;
mod post;
mod process;
mod redis;
mod relay;
mod rig;
mod rounds;
mod search;
mod server;
mod stats;
mod table;
mod terminal;
mod waiters;
mod wake;

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::{Parser, ValueEnum};

use crate::place::Place;

/// Measure Waystation beside what it is compared with.
#[derive(Debug, Parser)]
struct Args {
    /// What to measure; everything when left out.
    #[arg(value_enum)]
    what: Vec<What>,
    /// Small databases and short rounds, for a first look.
    #[arg(long)]
    quick: bool,
    /// How many interleaved rounds.
    #[arg(long)]
    rounds: Option<usize>,
    /// How long one measurement of a round takes, in seconds.
    #[arg(long)]
    seconds: Option<f64>,
    /// Where a server that is compared with listens.
    #[arg(long, hide = true)]
    port: Option<u16>,
    /// What it serves.
    #[arg(long, hide = true)]
    folder: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Rows 1: a durable append, one client.
    One,
    /// Rows 2, 3 and 5: sixty-four clients, REST, Redis.
    Many,
    /// Row 4: posts over MCP.
    Mcp,
    /// Row 6: a `FastMCP` peer.
    Peer,
    /// Row 7: appends when there is much already.
    Growth,
    /// Row 8: reads when there is much already.
    Reads,
    /// Row 9: search.
    Search,
    /// Rows 10: live readers.
    Waiters,
    /// Rows 11: memory, start and size.
    Process,
    /// Rows 13 to 15: finding messages in chats.
    Chats,
    /// Rows 12: importing an export.
    Import,
    /// Row 16: from a service to a subscriber.
    Stream,
    /// Rows 17 to 19: waking real agent CLIs.
    Wake,
    /// Rows 20 and 21: a terminal that is kept.
    Terminal,
    /// Rows 22 to 29: webhooks in, work for agents, personal data, and recalling memories.
    Relay,
    /// Rows 22 alone: webhooks in.
    Intake,
    /// Rows 23 alone: work for agents.
    Queue,
    /// Rows 26 to 28 alone: personal data.
    Pii,
    /// No row: writes the labelled set of row 26 as lines of JSON.
    PiiSet,
    /// No row: the program in that terminal.
    #[value(hide = true)]
    TerminalChild,
    /// No row: the store alone with sixty-four clients, for a profiler.
    Profile,
    /// No row: posts over REST alone, for a profiler.
    Rest,
    /// No row: the server that row 4 is compared with.
    DoNothing,
    /// No row: the server of row 3 that only appends.
    Bare,
}

const ALL: [What; 15] = [
    What::One,
    What::Many,
    What::Mcp,
    What::Peer,
    // Search first: it waits for the index, which would disturb the others.
    What::Search,
    What::Reads,
    What::Growth,
    What::Waiters,
    What::Process,
    What::Import,
    What::Chats,
    What::Stream,
    What::Wake,
    What::Terminal,
    What::Relay,
];

/// The program's own, so that what runs in this process is compared like with like.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let args = Args::parse();
    if args.what == [What::TerminalChild] {
        return terminal::child();
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let place = Place {
        root: root.parent().context("the bench has a repository around it")?.to_owned(),
        rounds: args.rounds.unwrap_or(if args.quick { 3 } else { 5 }),
        seconds: args.seconds.unwrap_or(if args.quick { 1.0 } else { 3.0 }),
        quick: args.quick,
    };
    let what = if args.what.is_empty() { ALL.to_vec() } else { args.what };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(&place, &what, (args.port, args.folder)))
}

async fn run(
    place: &Place,
    what: &[What],
    (port, folder): (Option<u16>, Option<PathBuf>),
) -> Result<()> {
    let load_before = stats::load_average();
    let mut rows = Vec::new();
    for one in what {
        table::say(&format!("{one:?}:"));
        rows.extend(match one {
            What::One => append::one_client(place).await?,
            What::Many => append::many_clients(place).await?,
            What::Mcp => mcp::measure(place).await?,
            What::Peer => peer::measure(place).await?,
            What::Growth => growth::appends(place).await?,
            What::Reads => growth::reads(place).await?,
            What::Search => search::measure(place).await?,
            What::Waiters => waiters::measure(place).await?,
            What::Process => process::measure(place).await?,
            What::Chats => chats::find(place).await?,
            What::Import => chats::import(place).await?,
            What::Stream => chats::stream(place).await?,
            What::Wake => wake::measure(place).await?,
            What::Terminal => terminal::measure(place)?,
            What::Relay => relay::measure(place).await?,
            What::Intake => relay::intake::measure(place).await?,
            What::Queue => relay::queue::measure(place).await?,
            What::Pii => relay::pii::measure(place)?,
            What::PiiSet => {
                relay::pii::publish(place)?;
                Vec::new()
            }
            What::Profile => append::profile(place).await?,
            What::Rest => append::profile_rest(place).await?,
            What::TerminalChild => bail!("this program has a terminal to itself"),
            What::DoNothing => {
                do_nothing::serve(port.context("--port is missing")?).await?;
                Vec::new()
            }
            What::Bare => {
                let folder = folder.as_deref().context("--folder is missing")?;
                bare::serve(folder, port.context("--port is missing")?).await?;
                Vec::new()
            }
        });
    }
    table::say("");
    table::print(&rows)?;
    let facts = serde_json::json!({
        "load_average": { "before": load_before, "after": stats::load_average() },
        "rounds": place.rounds,
        "seconds": place.seconds,
        "quick": place.quick,
        "server_limits": server::LIMITS,
    });
    table::say(&format!("load average {load_before} → {}", stats::load_average()));
    let path = place.kept()?.join("results.json");
    table::keep(&path, &rows, &facts)
}
