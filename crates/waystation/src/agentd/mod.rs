//! `waystation agentd`: beside agents on a machine whose hub is elsewhere.
//!
//! It owns a data folder like a hub does, with the same private sockets, and passes everything on to
//! the hub over HTTPS. It dials out and listens to nobody but the folder's own user. The host that
//! reaches this machine's agents runs in it, unchanged.

mod mcp;
mod message;
mod remote;
mod saved;
mod sse;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use edge::local::{Owner, OwnerInfo};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::cli::{AgentdArgs, Global};
use crate::host::{Door, Host, Installed};
use crate::paths::Place;
use crate::{logs, output, owner, reach};
use remote::Remote;
pub(crate) use saved::Saved;

/// Runs until it is told to stop.
pub(crate) async fn run(place: &Place, global: &Global, args: &AgentdArgs) -> Result<ExitCode> {
    if args.on_demand
        && let Err(error) = rustix::process::setsid()
    {
        tracing::debug!(%error, "this process leads a session already");
    }
    place.create()?;
    let config = place.config()?;
    logs::start(&config.log)?;
    if place.database().exists() {
        bail!("{} is the folder of a hub; give agentd one of its own with --data", place.shown());
    }
    let _lock = if args.on_demand {
        let Some(lock) = owner::try_lock_on_demand(place)? else {
            // Two clients started one each; the other one won.
            return Ok(ExitCode::SUCCESS);
        };
        lock
    } else {
        reach::take_over(place, &config.workspace).await?
    };
    let saved = Saved::settle(place, args)?;
    let remote = Arc::new(Remote::new(&saved, place.environment.clone())?);
    // Whatever needs agentd starts it with this, so only what can work is kept.
    saved.keep(place)?;
    let stop = CancellationToken::new();
    let info = OwnerInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        // Whoever started one on purpose takes over from one that was started on demand.
        url: (!args.on_demand).then(|| saved.hub.clone()),
    };
    let signalled = owner::asked_to_stop();
    let asked = Owner { info, stop: CancellationToken::new() };
    let sockets = place.sockets()?;
    let serving = edge::local::relay(remote, asked.clone(), &sockets, stop.clone())?;
    let door = Door::new(sockets.hub, &config.workspace);
    let host = Host::new(place, door, Installed::new(config.host))?;
    announce(place, global, &saved)?;
    let host_stop = CancellationToken::new();
    let working = host.run(host_stop.clone());
    let ending = async {
        tokio::select! {
            () = signalled => {}
            () = asked.stop.cancelled() => {}
        }
        host_stop.cancel();
    };
    let host = async {
        tokio::join!(working, ending);
        // What the host was doing is reported before its way to the hub ends.
        stop.cancel();
    };
    tokio::join!(serving, host);
    Ok(ExitCode::SUCCESS)
}

/// Says what is served: to people in words, to scripts in a line of JSON.
fn announce(place: &Place, global: &Global, saved: &Saved) -> Result<()> {
    if global.json {
        return output::json_line(&json!({
            "version": env!("CARGO_PKG_VERSION"), "pid": std::process::id(), "hub": saved.hub,
            "data": place.folder,
        }));
    }
    output::line(&format!("agentd serves {} for {}", place.shown(), saved.hub))
}

/// The token that agentd itself calls with.
fn own_token(saved: &Saved, environment: &crate::config::Environment) -> Result<String> {
    let Some(path) = &saved.token_file else {
        return environment.token()?.context(
            "agentd needs a token: name its file with --token-file.\n  On the hub: waystation token issue \
             --agent NAME --role service --scope agents:host",
        );
    };
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the token in {}", path.display()))?;
    let token = text.trim();
    anyhow::ensure!(!token.is_empty(), "{} is empty", path.display());
    Ok(token.to_owned())
}
