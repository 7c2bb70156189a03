//! Posts over MCP, in both eras: what a post costs beyond rmcp itself and the store.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::append;
use crate::crowd::{self, Script};
use crate::place::{self, Place};
use crate::post;
use crate::rig::{self, Rig};
use crate::server::Server;
use crate::stats::{Load, median};
use crate::table::{self, Bar, Row};

/// The two eras of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

/// What one era cost in all rounds, in microseconds of CPU a post.
#[derive(Default)]
struct Costs {
    ours: Vec<f64>,
    nothing: Vec<f64>,
    ratios: Vec<f64>,
    rates: Vec<f64>,
}

/// Posts to us and to a server that does nothing, in turns.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let mut costs = [(Era::Legacy, Costs::default()), (Era::Modern, Costs::default())];
    let mut stores = Vec::new();
    for _ in 0..place.rounds {
        let store = append::store_alone(place).await?.cpu_us();
        stores.push(store);
        for (era, costs) in &mut costs {
            let nothing = over_nothing(place, *era)?.cpu_us();
            let load = over_mcp(place, *era).await?;
            let ours = load.cpu_us();
            table::say(&format!(
                "  {era:?}: {:.0}/s, {ours:.1} µs CPU; do-nothing {nothing:.1}, store {store:.1}",
                load.rate()
            ));
            costs.ours.push(ours);
            costs.nothing.push(nothing);
            costs.ratios.push(ours / (nothing + store));
            costs.rates.push(load.rate());
        }
    }
    let row = |(number, (era, costs)): (&'static str, &(Era, Costs))| Row {
        number,
        what: format!("post_message over MCP ({era:?}), CPU a post"),
        ours: format!("{:.0} µs, {:.0}/s", median(&costs.ours), median(&costs.rates)),
        reference: format!(
            "do-nothing {:.0} + store {:.0} µs",
            median(&costs.nothing),
            median(&stores)
        ),
        value: Some(median(&costs.ratios)),
        unit: "×",
        bar: Bar::AtMost(1.15),
    };
    Ok(["4a", "4b"].into_iter().zip(&costs).map(row).collect())
}

async fn over_mcp(place: &Place, era: Era) -> Result<Load> {
    let folder = place.throw_away()?;
    let rig = Rig::open(folder.path())?;
    let threads = rig.open_threads(rig::THREADS).await?;
    let tokens = rig.issue_tokens().await?;
    rig.stop().await?;
    let server = Server::start(place, folder.path())?;
    let scripts = posts(server.address, era, &threads, &tokens)?;
    let load = run(place, &server, &scripts)?;
    server.stop()?;
    Ok(load)
}

fn over_nothing(place: &Place, era: Era) -> Result<Load> {
    let folder = place.throw_away()?;
    let port = place::free_port()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["do-nothing", "--port", &port.to_string()]);
    let server = Server::run(command, &folder.path().join("log"), port, "/")?;
    let threads = vec![String::new(); rig::THREADS];
    let tokens = vec!["none".to_owned(); rig::AGENTS];
    let scripts = posts(server.address, era, &threads, &tokens)?;
    let load = run(place, &server, &scripts)?;
    server.kill()?;
    Ok(load)
}

fn run(place: &Place, server: &Server, scripts: &[Script]) -> Result<Load> {
    let cpu = server.cpu();
    let load = crowd::run(server.address, scripts, "m", place.seconds)?;
    Ok(Load { cpu: server.cpu() - cpu, ..load })
}

/// Posts of every agent to threads it takes part in, as this era spells them.
fn posts(
    address: SocketAddr,
    era: Era,
    threads: &[String],
    tokens: &[String],
) -> Result<Vec<Script>> {
    let mut scripts = Vec::with_capacity(tokens.len());
    for (agent, token) in tokens.iter().enumerate() {
        let era_headers = match era {
            Era::Legacy => format!(
                "mcp-protocol-version: 2025-11-25\r\nmcp-session-id: {}\r\n",
                begin_session(address, token)?
            ),
            Era::Modern => "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n\
                            mcp-name: post_message\r\n"
                .to_owned(),
        };
        let meta = match era {
            Era::Legacy => "",
            Era::Modern => {
                r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#
            }
        };
        let headers = format!(
            "authorization: Bearer {token}\r\naccept: application/json, text/event-stream\r\n\
             {era_headers}"
        );
        // Each request of a session has an id of its own, as the protocol asks.
        let post = |turn| {
            let thread = threads.get(rig::thread_of(agent, turn, threads.len()));
            let before = format!(
                r#"{{"jsonrpc":"2.0","id":{turn},"method":"tools/call","params":{{{meta}"name":"post_message","arguments":{{"thread_id":"{}","body":"{}","metadata":{},"idempotency_key":""#,
                thread.map_or("", String::as_str),
                post::BODY,
                post::METADATA
            );
            crowd::request(address, "/mcp", &headers, &before, "\"}}}")
        };
        scripts.push((0..rig::MEMBERS).map(post).collect());
    }
    Ok(scripts)
}

/// Begins a session of the older era and answers its id.
fn begin_session(address: SocketAddr, token: &str) -> Result<String> {
    let greeting = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;
    let head = ask(address, token, "", greeting)?;
    let id = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"))
        .map(|(_, id)| id.trim().to_owned())
        .with_context(|| format!("no session began: {head}"))?;
    let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let head = ask(address, token, &format!("mcp-session-id: {id}\r\n"), done)?;
    if !head.starts_with("HTTP/1.1 202") {
        bail!("the session was not taken: {head}");
    }
    Ok(id)
}

/// Posts one message and answers everything that came back.
fn ask(address: SocketAddr, token: &str, headers: &str, body: &str) -> Result<String> {
    let mut stream = TcpStream::connect(address)?;
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
         authorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
