//! MCP on stdio: a thin bridge to the owner, or the hub itself with `--embedded`.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};
use edge::local::{Bridge, Connect, Connection, Greeting};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::sync::CancellationToken;

use crate::cli::McpArgs;
use crate::owner::{self, Reached};
use crate::paths::Place;
use crate::{logs, reach};

/// How long we say who we are to a hub that cannot tell: it asks an issuer that is away every half
/// minute.
const PATIENCE: Duration = Duration::from_secs(90);
/// The first pause; it doubles.
const PAUSE_MIN: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

pub(crate) async fn run(place: &Place, args: &McpArgs) -> Result<()> {
    if args.embedded {
        let mut greeting = reach::agent_as(&place.environment, args.agent.as_deref())?;
        greeting.toolsets.clone_from(&args.toolsets);
        return embedded(place, &greeting).await;
    }
    let config = place.config()?;
    logs::start(&config.log)?;
    let agent = args.agent.clone();
    let toolsets = args.toolsets.clone();
    let owner = Owner { place: place.clone(), agent, toolsets, workspace: config.workspace };
    let input = BufReader::new(tokio::io::stdin());
    let bridge = Bridge::new(input, tokio::io::stdout()).run(owner);
    tokio::select! {
        ended = bridge => ended.map_err(anyhow::Error::msg),
        () = owner::asked_to_stop() => Ok(()),
    }
}

struct Owner {
    place: Place,
    agent: Option<String>,
    toolsets: Option<String>,
    workspace: String,
}

impl Connect for Owner {
    type Read = BufReader<OwnedReadHalf>;
    type Write = OwnedWriteHalf;

    async fn connect(&mut self) -> Result<Connection<Self::Read, Self::Write>, String> {
        let socket = self.place.sockets().map_err(|error| error.to_string())?.mcp;
        // An owner that dies in the middle of the greeting is as good as none; a refusal is not.
        // The token lives shorter than this bridge: each greeting carries the one of the moment.
        let greet = async || {
            let greeted = reach::retry(&self.place, || self.greet(&socket)).await;
            greeted.unwrap_or_else(|error| Err(Refusal::for_good(format!("{error:#}"))))
        };
        patiently(greet).await
    }
}

type Greeted = Result<Connection<BufReader<OwnedReadHalf>, OwnedWriteHalf>, Refusal>;

/// Why the hub does not know us.
struct Refusal {
    reason: String,
    /// Whether it may know us in a moment: whoever issued our token may only be away.
    is_for_now: bool,
}

impl Refusal {
    fn for_good(reason: String) -> Self {
        Self { reason, is_for_now: false }
    }
}

/// Says who we are until the hub knows, refuses us for good, or has had its time.
async fn patiently<T>(mut greet: impl AsyncFnMut() -> Result<T, Refusal>) -> Result<T, String> {
    let (mut waited, mut pause) = (Duration::ZERO, PAUSE_MIN);
    loop {
        let refusal = match greet().await {
            Ok(greeted) => return Ok(greeted),
            Err(refusal) => refusal,
        };
        if !refusal.is_for_now || waited >= PATIENCE {
            return Err(refusal.reason);
        }
        if waited.is_zero() {
            tracing::info!(reason = refusal.reason, "the hub cannot say who this is; asking again");
        }
        tokio::time::sleep(pause).await;
        waited += pause;
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

impl Owner {
    /// Connects and says who we are; answers the connection, or the reason why the hub refuses us.
    async fn greet(&self, socket: &Path) -> Result<Greeted> {
        let greeting = reach::agent_as(&self.place.environment, self.agent.as_deref());
        // Whoever cannot say who they are is not somebody else.
        let mut greeting = match greeting {
            Ok(greeting) => greeting,
            Err(error) => return Ok(Err(Refusal::for_good(format!("{error:#}")))),
        };
        let (read, mut write) = UnixStream::connect(socket).await?.into_split();
        let mut read = BufReader::new(read);
        greeting.workspace.get_or_insert_with(|| self.workspace.clone());
        greeting.toolsets.clone_from(&self.toolsets);
        let hello = format!("{}\n", serde_json::to_string(&greeting)?);
        write.write_all(hello.as_bytes()).await?;
        let mut answer = String::new();
        read.read_line(&mut answer).await?;
        let answer: Value = serde_json::from_str(&answer)?;
        if answer.get("ok") == Some(&Value::Bool(true)) {
            return Ok(Ok(Connection { read, write }));
        }
        let reason = answer.get("reason").and_then(Value::as_str).unwrap_or("the hub refused");
        let is_for_now = answer.get("retryable") == Some(&Value::Bool(true));
        Ok(Err(Refusal { reason: reason.to_owned(), is_for_now }))
    }
}

/// The hub inside this process; it ends with its client.
async fn embedded(place: &Place, greeting: &Greeting) -> Result<()> {
    let config = place.config()?;
    logs::start(&config.log)?;
    place.create()?;
    let Some(lock) = owner::try_lock(&place.lock_file())? else {
        bail!("another process owns {}; leave --embedded out to share it", place.shown());
    };
    let opened = {
        let (place, config) = (place.clone(), config.clone());
        let reached = Reached { url: None, open: None };
        tokio::task::spawn_blocking(move || owner::open(&place, &config, lock, reached)).await??
    };
    let mut greeting = greeting.clone();
    greeting.workspace.get_or_insert(config.workspace);
    let identify = async || {
        let identified = edge::local::identify(&opened.app, &greeting).await;
        identified.map_err(|error| Refusal {
            is_for_now: error.is_retryable(),
            reason: error.to_string(),
        })
    };
    let stop = CancellationToken::new();
    let serving = async {
        opened.load_revocations().await?;
        let caller = patiently(identify).await.map_err(anyhow::Error::msg)?;
        let input = BufReader::new(tokio::io::stdin());
        let (app, output) = (opened.app.mcp(), tokio::io::stdout());
        Ok(edge::mcp::serve_stream(app, caller, input, output, stop.clone()).await?)
    };
    let served = tokio::select! {
        served = serving => served,
        () = owner::asked_to_stop() => {
            stop.cancel();
            Ok(())
        }
    };
    opened.close().await;
    served
}
