//! The same post to a peer: a `FastMCP` server with sqlite3 behind it, as one would write it.

use std::process::Command;

use anyhow::{Result, bail};

use crate::crowd::{self, Script};
use crate::place::{self, Place};
use crate::post;
use crate::rig::{self, Rig};
use crate::server::Server;
use crate::stats::{Load, median};
use crate::table::{Bar, Row};

const CLIENTS: usize = 16;

/// Posts to us and to the peer, in turns.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let (ours, theirs) = (place.throw_away()?, place.throw_away()?);
    let rig = Rig::open(ours.path())?;
    let threads = rig.open_threads(rig::THREADS).await?;
    let tokens = rig.issue_tokens().await?;
    rig.stop().await?;
    let server = Server::start(place, ours.path())?;
    let tokens = tokens.get(..CLIENTS).unwrap_or(&tokens);
    let scripts = crowd::rest_posts(server.address, &threads, tokens);
    let peer = start_peer(place, theirs.path())?;
    let peer_scripts = mcp_posts(&peer, &threads);
    let (mut ratios, mut rates, mut peer_rates) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..place.rounds {
        let run = format!("p{round}");
        let load = crowd::run(server.address, &scripts, &run, place.seconds)?;
        let peer_load = crowd::run(peer.address, &peer_scripts, &run, place.seconds)?;
        ratios.push(load.rate() / peer_load.rate());
        rates.push(Load::rate(&load));
        peer_rates.push(Load::rate(&peer_load));
    }
    server.stop()?;
    peer.kill()?;
    Ok(vec![Row {
        number: "6",
        what: "post_message over REST against FastMCP + sqlite3, 16 connections".to_owned(),
        ours: format!("{:.0}/s", median(&rates)),
        reference: format!("FastMCP 4.1.2 {:.0}/s", median(&peer_rates)),
        value: Some(median(&ratios)),
        unit: "×",
        bar: Bar::AtLeast(20.0),
    }])
}

fn start_peer(place: &Place, folder: &std::path::Path) -> Result<Server> {
    let python = place.root.join(".cache/venv/bin/python");
    if !python.is_file() {
        bail!("the peer's Python is missing; make bench fetches it");
    }
    let port = place::free_port()?;
    let mut command = Command::new(python);
    command
        .arg(place.root.join("bench/peers/fastmcp_sqlite.py"))
        .arg(port.to_string())
        .arg(folder.join("peer.db"));
    Server::run(command, &folder.join("peer.log"), port, "/")
}

fn mcp_posts(peer: &Server, threads: &[String]) -> Vec<Script> {
    let headers = "accept: application/json, text/event-stream\r\n\
                   mcp-protocol-version: 2025-11-25\r\n";
    let request = |thread: &String| {
        let before = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"post_message","arguments":{{"thread_id":"{thread}","body":"{}","metadata":{},"idempotency_key":""#,
            post::BODY,
            post::METADATA
        );
        crowd::request(peer.address, "/mcp", headers, &before, "\"}}}")
    };
    let share = threads.len().div_ceil(CLIENTS);
    threads.chunks(share).map(|threads| threads.iter().map(request).collect()).collect()
}
