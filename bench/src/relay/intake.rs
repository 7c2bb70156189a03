//! A service calls: how soon a signed webhook of 8 KB is acknowledged, durably, and how many a second.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use ring::hmac;
use serde_json::json;

use crate::append;
use crate::drive::{Poster, drive, drive_at};
use crate::http::Connection;
use crate::place::Place;
use crate::rig::{Rig, WORKSPACE};
use crate::server::Server;
use crate::stats::{self, Load, median};
use crate::table::{self, Bar, Row};

/// What the service and the link share.
const SECRET: &str = "It's a Secret to Everybody, and to the bench";
/// Connections of the service.
const CONNECTIONS: usize = 64;
/// Webhooks a second, where the wait is measured.
const RATE: f64 = 500.0;
/// How long a webhook is.
const BYTES: usize = 8 * 1024;
/// Issues that are talked about.
const ISSUES: usize = 1_000;

/// Rows 22a and 22b. What is taken in stands beside the store's own append of as many bytes.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let (mut paced, mut full, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..place.rounds {
        let short = append::store_alone(place).await?;
        say("the store's own append, 400 B", &short);
        let store = append::store_alone_with(place, BYTES).await?;
        say("the same, 8 KB", &store);
        let at_rate = hooks(place, Some(RATE)).await?;
        say("webhooks at 500/s", &at_rate);
        let flat_out = hooks(place, None).await?;
        say("webhooks, 64 connections", &flat_out);
        ratios.push(flat_out.rate() / store.rate());
        paced.push(at_rate.p99());
        full.push((flat_out.rate(), store.rate()));
    }
    let rates = |of: fn(&(f64, f64)) -> f64| median(&full.iter().map(of).collect::<Vec<_>>());
    Ok(vec![
        Row {
            number: "22a",
            what: "acknowledgement of a signed 8 KB webhook at 500/s, durable".to_owned(),
            ours: format!("p99 {:.2} ms", median(&paced)),
            reference: "—".to_owned(),
            value: Some(median(&paced)),
            unit: "ms",
            bar: Bar::AtMost(50.0),
        },
        Row {
            number: "22b",
            what: "webhooks taken in, 64 connections".to_owned(),
            ours: format!("{:.0}/s", rates(|(ours, _)| *ours)),
            reference: format!("store, 8 KB {:.0}/s", rates(|(_, store)| *store)),
            value: Some(median(&ratios)),
            unit: "×",
            bar: Bar::AtLeast(0.4),
        },
    ])
}

fn say(name: &str, load: &Load) {
    table::say(&format!(
        "  {name:<28} {:>8.0}/s  p50 {:>7.3} ms  p99 {:>7.3} ms",
        load.rate(),
        load.p50(),
        load.p99()
    ));
}

/// The service calls a hub that is new, at a rate or as fast as it is answered.
async fn hooks(place: &Place, rate: Option<f64>) -> Result<Load> {
    let folder = place.throw_away()?;
    let rig = Rig::open(folder.path())?;
    let token = rig.issue_operator_token().await?;
    rig.stop().await?;
    let server = Server::start(place, folder.path())?;
    // Nothing listens there: a link whose service cannot be reached is called all the same.
    let link = json!({
        "service": "github", "unchecked": true,
        "settings": { "webhook_secret": SECRET, "token": "unused", "base_url": "https://127.0.0.1:9" },
    });
    let mut client = Connection::open(server.address, &token).await?;
    client.post("/v1/links", &link.to_string()).await?;
    until_up(&mut client).await?;
    let turn = Arc::<AtomicUsize>::default();
    let mut posters = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        posters.push(Caller::open(server.address, &turn).await?);
    }
    let time = stats::seconds(place.seconds);
    let load = match rate {
        Some(rate) => drive_at(posters, rate, time).await?,
        None => drive(posters, time).await?,
    };
    server.stop()?;
    Ok(load)
}

/// Waits until the link was started: that happens beside the answer that it was added.
async fn until_up(client: &mut Connection) -> Result<()> {
    for _ in 0..1_000 {
        if !client.get_text("/v1/links").await?.contains("\"connecting\"") {
            return Ok(());
        }
        tokio::time::sleep(stats::seconds(0.01)).await;
    }
    bail!("the link was not started")
}

/// One connection of the service.
struct Caller {
    connection: Connection,
    key: hmac::Key,
    turn: Arc<AtomicUsize>,
    path: String,
}

impl Caller {
    async fn open(address: SocketAddr, turn: &Arc<AtomicUsize>) -> Result<Self> {
        Ok(Self {
            connection: Connection::open(address, "").await?,
            key: hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()),
            turn: Arc::clone(turn),
            path: format!("/hooks/{WORKSPACE}/github"),
        })
    }
}

impl Poster for Caller {
    async fn post(&mut self) -> Result<()> {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let body = comment(turn);
        let mut signature = String::with_capacity(64);
        for byte in hmac::sign(&self.key, body.as_bytes()).as_ref() {
            write!(signature, "{byte:02x}")?;
        }
        let headers = format!(
            "user-agent: GitHub-Hookshot/bench\r\nx-github-event: issue_comment\r\n\
             x-github-delivery: 72d3162e-cc78-11e3-81ab-{turn:012x}\r\n\
             x-hub-signature-256: sha256={signature}\r\n"
        );
        self.connection.post_with(&self.path, &headers, &body).await
    }
}

/// A comment on an issue, as GitHub says it: no two are the same.
fn comment(turn: usize) -> String {
    let number = turn % ISSUES + 1;
    let url = format!("https://github.com/acme/shop/issues/{number}");
    let user = json!({ "login": "octocat", "id": 583_231, "type": "User" });
    let mut comment = json!({
        "action": "created",
        "issue": {
            "number": number, "id": 1_000_000 + number, "title": format!("Issue {number}"),
            "html_url": url, "user": user, "state": "open", "labels": [],
        },
        "comment": {
            "id": 50_000_000 + turn, "html_url": format!("{url}#issuecomment-{turn}"),
            "user": user, "created_at": "2026-02-17T12:00:00Z", "updated_at": "2026-02-17T12:00:00Z",
            "body": format!("@waystation please look at this, it is number {turn}."),
            "author_association": "MEMBER",
        },
        "repository": {
            "id": 1_296_269, "full_name": "acme/shop", "name": "shop",
            "owner": { "login": "acme", "id": 1 }, "html_url": "https://github.com/acme/shop",
        },
        "sender": user,
    });
    // The rest of what GitHub says about a repository is of no use here but its length.
    let rest = BYTES.saturating_sub(comment.to_string().len() + 24);
    if let Some(repository) = comment.get_mut("repository").and_then(|value| value.as_object_mut())
    {
        repository.insert("description".to_owned(), "x".repeat(rest).into());
    }
    comment.to_string()
}
