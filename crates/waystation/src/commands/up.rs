//! Running the hub: in the foreground for people, in the background for whoever needs it.

mod welcome;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use edge::EdgeError;
use edge::server::Listening;
use hub::identity::{LocalEnv, local_caller};
use hub::{Clock, SystemClock};
use protocol::Caller;
use serde_json::json;

use self::welcome::Welcome;
use crate::cli::{Global, UpArgs};
use crate::config::{Config, TlsMode};
use crate::owner::{self, Reached};
use crate::paths::Place;
use crate::{address, logs, output, reach};

/// The exit code after the disk failed.
const DISK_FAILED: u8 = 74;

/// `waystation up`.
pub(crate) async fn run(place: &Place, global: &Global, args: &UpArgs) -> Result<ExitCode> {
    place.create()?;
    let mut config = place.config()?;
    apply(args, &mut config)?;
    logs::start(&config.log)?;
    let lock = reach::take_over(place, &config.workspace).await?;
    let tls = owner::tls(place, &config);
    let listening = Listening::bind(&config.listen, tls.as_ref()).await.map_err(cannot_listen)?;
    let url = address::of_listener(&config, listening.address()?);
    let open = args.no_auth.then(|| open_caller(&config.workspace)).transpose()?;
    let reached = Reached { url: Some(url.clone()), open: open.clone() };
    let opened = {
        let (place, config) = (place.clone(), config.clone());
        tokio::task::spawn_blocking(move || owner::open(&place, &config, lock, reached)).await??
    };
    opened.load_revocations().await?;
    let sockets = place.sockets()?;
    let welcome = Welcome { place, config: &config, url: &url, is_open: open.is_some() };
    let serving = opened.serve(&sockets, Some(listening));
    let (clean, printed) = tokio::join!(serving, welcome.print(global));
    if let Err(error) = printed {
        tracing::warn!(%error, "the welcome could not be printed");
    }
    Ok(if clean? { ExitCode::SUCCESS } else { ExitCode::from(DISK_FAILED) })
}

/// `waystation owner`: the same without a listener, until nobody needs it.
pub(crate) async fn owner(place: &Place) -> Result<ExitCode> {
    // Its own session, so that closing the terminal of whoever started it does not end it.
    if let Err(error) = rustix::process::setsid() {
        tracing::debug!(%error, "this process leads a session already");
    }
    place.create()?;
    let config = place.config()?;
    logs::start(&config.log)?;
    let Some(lock) = owner::try_lock_on_demand(place)? else {
        // Two clients started one each; the other one won.
        return Ok(ExitCode::SUCCESS);
    };
    let reached = Reached { url: None, open: None };
    let opened = {
        let (place, config) = (place.clone(), config.clone());
        tokio::task::spawn_blocking(move || owner::open(&place, &config, lock, reached)).await??
    };
    opened.load_revocations().await?;
    let clean = opened.serve(&place.sockets()?, None).await?;
    Ok(if clean { ExitCode::SUCCESS } else { ExitCode::from(DISK_FAILED) })
}

/// `waystation down`: asks whoever owns the folder to stop, and waits until it has.
pub(crate) async fn down(place: &Place, global: &Global) -> Result<()> {
    let config = place.config()?;
    let stopped = reach::stop_owner(place, &config.workspace).await?;
    let brief = if stopped { "stopped" } else { "no hub was running" };
    output::answer(global.json, &json!({ "stopped": stopped }), brief)
}

fn apply(args: &UpArgs, config: &mut Config) -> Result<()> {
    if let Some(listen) = &args.listen {
        config.listen.clone_from(listen);
    }
    let mut address: SocketAddr = config
        .listen
        .parse()
        .with_context(|| format!("--listen {:?} must be an address and a port", config.listen))?;
    if let Some(port) = args.port {
        address.set_port(port);
    }
    config.listen = address.to_string();
    if args.no_auth && !address.ip().is_loopback() {
        bail!("--no-auth would let the whole network in; it works on a loopback address only");
    }
    if config.tls.mode == TlsMode::Off && !address.ip().is_loopback() {
        bail!(
            "{address} is not a loopback address, and tls.mode is off: tokens and messages would cross the \
             network in the clear.\nSet tls.mode = \"local\" or \"files\" in the configuration, or \
             WAYSTATION_TLS__MODE=local"
        );
    }
    Ok(())
}

/// A hub of the same folder is known by now: whoever has the address is somebody else.
fn cannot_listen(error: EdgeError) -> anyhow::Error {
    match error {
        EdgeError::Bind { address, source } if source.kind() == ErrorKind::AddrInUse => anyhow!(
            "cannot listen on {address}: another program does already, or a hub of another folder.\n\
             Stop that one, or choose another port with --port"
        ),
        error => error.into(),
    }
}

fn open_caller(workspace: &str) -> Result<Arc<Caller>> {
    let env = LocalEnv { workspace: Some(workspace.to_owned()), ..LocalEnv::default() };
    Ok(Arc::new(local_caller(&env, "open-listener", SystemClock.now())?))
}
