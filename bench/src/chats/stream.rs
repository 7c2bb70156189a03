//! From a message at the service to the client that subscribed, through every layer.

use std::net::SocketAddr;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use testkit::fakes::FakeTelegram;
use testkit::fakes::telegram::TOKEN;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::http;
use crate::place::Place;
use crate::rig::Rig;
use crate::server::Server;
use crate::stats::{self, Load};
use crate::table::{Bar, Row};

/// Row 16.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let telegram = FakeTelegram::start().await;
    let folder = place.throw_away()?;
    let rig = Rig::open(folder.path())?;
    let token = rig.issue_operator_token().await?;
    rig.stop().await?;
    let server = Server::start(place, folder.path())?;
    let link = json!({
        "service": "telegram", "settings": { "bot_token": TOKEN, "base_url": telegram.url() },
    });
    let mut client = http::Connection::open(server.address, &token).await?;
    client.post("/v1/links", &link.to_string()).await?;
    telegram.poll_waits().await;
    let mut events = subscribe(server.address, &token).await?;
    let mut load = Load::default();
    for n in 0..if place.quick { 100 } else { 400 } {
        // Each in a chat of its own: updates of one chat are drawn together.
        let chat = json!({ "id": 1_000 + n, "type": "private", "first_name": "Ada" });
        telegram.poll_waits().await;
        let sent = stats::now();
        telegram.say(&chat, &chat, "hello");
        wait_for_update(&mut events, &(1_000 + n).to_string()).await?;
        load.millis.push(stats::since(sent) * 1e3);
    }
    server.stop()?;
    Ok(vec![Row {
        number: "16",
        what: "from the service to the subscribed client, all layers".to_owned(),
        ours: format!("p50 {:.2} ms, p99 {:.2} ms", load.p50(), load.p99()),
        reference: "—".to_owned(),
        value: Some(load.p50()),
        unit: "ms",
        bar: Bar::AtMost(5.0),
    }])
}

type Events = BufReader<TcpStream>;

async fn wait_for_update(events: &mut Events, chat: &str) -> Result<()> {
    let mut line = String::new();
    loop {
        line.clear();
        if events.read_line(&mut line).await? == 0 {
            bail!("the stream ended");
        }
        if line.contains("notifications/resources/updated") && line.contains(chat) {
            return Ok(());
        }
    }
}

/// Begins a session, subscribes to everything, and opens the stream of events.
async fn subscribe(address: SocketAddr, token: &str) -> Result<Events> {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "bench", "version": "1" } } });
    let (head, _) = ask(address, token, None, &hello).await?;
    let session = head
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"))
        .map(|(_, id)| id.trim().to_owned())
        .context("no session")?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    ask(address, token, Some(&session), &ready).await?;
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut events = BufReader::new(stream);
    let head = format!(
        "GET /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
         accept: text/event-stream\r\nmcp-session-id: {session}\r\n\
         mcp-protocol-version: 2025-11-25\r\n\r\n"
    );
    events.get_mut().write_all(head.as_bytes()).await?;
    let mut line = String::new();
    while line.trim() != "" || line.is_empty() {
        line.clear();
        events.read_line(&mut line).await?;
    }
    let subscribe = json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe",
        "params": { "uri": "messages://telegram/*" } });
    let (_, answer) = ask(address, token, Some(&session), &subscribe).await?;
    if answer.contains("\"error\"") {
        bail!("the subscription was refused: {answer}");
    }
    Ok(events)
}

async fn ask(
    address: SocketAddr,
    token: &str,
    session: Option<&str>,
    body: &Value,
) -> Result<(String, String)> {
    let mut stream = TcpStream::connect(address).await?;
    let session = session.map_or_else(String::new, |id| {
        format!("mcp-session-id: {id}\r\nmcp-protocol-version: 2025-11-25\r\n")
    });
    let body = body.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{session}\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
    Ok((head.to_owned(), body.to_owned()))
}
