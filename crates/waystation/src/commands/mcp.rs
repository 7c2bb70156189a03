//! MCP on stdio: a thin bridge to the owner, or the hub itself with `--embedded`.

use std::path::Path;
use std::sync::Arc;

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
        // An owner that dies in the middle of the greeting is as good as none; a refusal is final.
        // The token lives shorter than this bridge: each greeting carries the one of the moment.
        let greeted = reach::retry(&self.place, || self.greet(&socket)).await;
        greeted.map_err(|error| format!("{error:#}"))?
    }
}

type Greeted = Result<Connection<BufReader<OwnedReadHalf>, OwnedWriteHalf>, String>;

impl Owner {
    /// Connects and says who we are; answers the connection, or the reason why the hub refuses us.
    async fn greet(&self, socket: &Path) -> Result<Greeted> {
        let greeting = reach::agent_as(&self.place.environment, self.agent.as_deref());
        // Whoever cannot say who they are is not somebody else.
        let mut greeting = match greeting {
            Ok(greeting) => greeting,
            Err(error) => return Ok(Err(format!("{error:#}"))),
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
        Ok(Err(reason.to_owned()))
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
    opened.load_revocations().await?;
    let mut greeting = greeting.clone();
    greeting.workspace.get_or_insert(config.workspace);
    let caller = edge::local::identify(&opened.app, &greeting).await?;
    let stop = CancellationToken::new();
    let app = opened.app.mcp();
    let input = BufReader::new(tokio::io::stdin());
    tokio::select! {
        served = edge::mcp::serve_stream(app, Arc::clone(&caller), input, tokio::io::stdout(), stop.clone()) => {
            served?;
        }
        () = owner::asked_to_stop() => stop.cancel(),
    }
    opened.close().await;
    Ok(())
}
