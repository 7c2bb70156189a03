//! Durable appends, side by side in every round: the plain file, the store, the hub, REST, Redis.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use protocol::ThreadId;

use crate::drive::drive;
use crate::file::{self, GroupFile};
use crate::place::Place;
use crate::post::{HubPoster, StorePoster};
use crate::redis::Redis;
use crate::rig::{self, Rig};
use crate::server::{self, Server};
use crate::stats::{self, Load, median};
use crate::table::{self, Bar, Row};
use crate::wrk;

const CLIENTS: usize = rig::AGENTS;

/// The loads of all rounds of one contestant.
#[derive(Default)]
struct Rounds(Vec<Load>);

impl Rounds {
    fn push(&mut self, name: &str, load: Load) {
        table::say(&format!(
            "  {name:<28} {:>8.0}/s  p50 {:>7.3} ms  p99 {:>7.3} ms  {:>6.1} µs CPU",
            load.rate(),
            load.p50(),
            load.p99(),
            load.cpu_us()
        ));
        self.0.push(load);
    }

    fn median(&self, of: impl Fn(&Load) -> f64) -> f64 {
        median(&self.0.iter().map(of).collect::<Vec<_>>())
    }

    /// The median of the ratios that each round saw by itself.
    fn ratio(&self, to: &Self, of: impl Fn(&Load) -> f64) -> f64 {
        let pairs = self.0.iter().zip(&to.0);
        median(&pairs.map(|(ours, theirs)| of(ours) / of(theirs)).collect::<Vec<_>>())
    }
}

/// A hub in this process with its threads.
struct Ready {
    rig: Rig,
    names: Arc<Vec<String>>,
    ids: Arc<Vec<ThreadId>>,
}

async fn ready(folder: &Path) -> Result<Ready> {
    let rig = Rig::open(folder)?;
    let names = rig.open_threads(rig::THREADS).await?;
    let ids = names.iter().map(|name| name.parse()).collect::<Result<Vec<ThreadId>, _>>()?;
    Ok(Ready { rig, names: Arc::new(names), ids: Arc::new(ids) })
}

/// One client, which waits for each of its posts.
pub(crate) async fn one_client(place: &Place) -> Result<Vec<Row>> {
    let folder = place.throw_away()?;
    let ready = ready(folder.path()).await?;
    let time = stats::seconds(place.seconds);
    let (mut raw, mut bare, mut hub) = (Rounds::default(), Rounds::default(), Rounds::default());
    for round in 0..place.rounds {
        let at = folder.path().to_owned();
        let load = tokio::task::spawn_blocking(move || file::raw_appends(&at, time)).await??;
        raw.push("raw append + fdatasync", load);
        let run = format!("s{round}");
        let posters = StorePoster::many(&ready.rig.hub.store, &ready.ids, &run, 1);
        bare.push("store, 1 client", drive(posters, time).await?);
        let run = format!("h{round}");
        let posters = HubPoster::many(&ready.rig, &ready.names, &run, 1);
        hub.push("post_message, 1 client", drive(posters, time).await?);
    }
    ready.rig.stop().await?;
    let row = |number, what: &str, ours: &Rounds| Row {
        number,
        what: what.to_owned(),
        ours: format!("p50 {:.3} ms", ours.median(Load::p50)),
        reference: format!("raw 4 KiB + fdatasync, p50 {:.3} ms", raw.median(Load::p50)),
        value: Some(ours.ratio(&raw, Load::p50)),
        unit: "×",
        bar: Bar::AtMost(1.4),
    };
    Ok(vec![
        row("1a", "durable append in the store, 1 client", &bare),
        row("1b", "the same by post_message through the catalogue", &hub),
    ])
}

/// Sixty-four clients, each of which waits for its posts.
pub(crate) async fn many_clients(place: &Place) -> Result<Vec<Row>> {
    let (local, remote, plain, redis_folder) =
        (place.throw_away()?, place.throw_away()?, place.throw_away()?, place.throw_away()?);
    let ready = ready(local.path()).await?;
    let prepared = Rig::open(remote.path())?;
    let threads = prepared.open_threads(rig::THREADS).await?;
    let tokens = prepared.issue_tokens().await?;
    prepared.stop().await?;
    let server = Server::start(place, remote.path())?;
    table::say(&format!("limits of the server: {}", server::LIMITS));
    let requests = wrk::rest_posts(server.address, &threads, &tokens);
    let redis = Redis::start(redis_folder.path())?;
    let time = stats::seconds(place.seconds);
    let mut all: [Rounds; 5] = std::array::from_fn(|_| Rounds::default());
    let [files, bare, hub, rest, adds] = &mut all;
    for round in 0..place.rounds {
        let file = GroupFile::start(plain.path())?;
        files.push("plain file, 64 clients", drive(file.posters(CLIENTS), time).await?);
        file.stop()?;
        let run = format!("s{round}");
        let posters = StorePoster::many(&ready.rig.hub.store, &ready.ids, &run, CLIENTS);
        bare.push("store, 64 clients", drive(posters, time).await?);
        let run = format!("h{round}");
        let posters = HubPoster::many(&ready.rig, &ready.names, &run, CLIENTS);
        hub.push("post_message, 64 clients", drive(posters, time).await?);
        let cpu = server.cpu();
        let run = format!("r{round}");
        let shape = (CLIENTS, place.seconds);
        let load = wrk::run(remote.path(), server.address, &requests, &run, shape)?;
        rest.push("REST post, 64 connections", Load { cpu: server.cpu() - cpu, ..load });
        adds.push("Redis XADD, always", redis.add(CLIENTS, adds_in(place))?);
    }
    server.stop()?;
    ready.rig.stop().await?;
    Ok(rows(&all))
}

/// The plain file, the store and the hub alone, for a profiler and for a quick comparison.
pub(crate) async fn profile(place: &Place) -> Result<Vec<Row>> {
    let (local, plain) = (place.throw_away()?, place.throw_away()?);
    let ready = ready(local.path()).await?;
    let time = stats::seconds(place.seconds);
    let (mut files, mut bare, mut hub) = (Rounds::default(), Rounds::default(), Rounds::default());
    for round in 0..place.rounds {
        let file = GroupFile::start(plain.path())?;
        files.push("plain file, 64 clients", drive(file.posters(CLIENTS), time).await?);
        file.stop()?;
        let run = format!("s{round}");
        let posters = StorePoster::many(&ready.rig.hub.store, &ready.ids, &run, CLIENTS);
        bare.push("store, 64 clients", drive(posters, time).await?);
        let run = format!("h{round}");
        let posters = HubPoster::many(&ready.rig, &ready.names, &run, CLIENTS);
        hub.push("post_message, 64 clients", drive(posters, time).await?);
    }
    ready.rig.stop().await?;
    Ok(vec![in_file(&bare, &files, "2a"), in_file(&hub, &files, "2b")])
}

fn in_file(ours: &Rounds, files: &Rounds, number: &'static str) -> Row {
    Row {
        number,
        what: "durable append, 64 clients".to_owned(),
        ours: format!("{:.0}/s, {:.1} µs CPU", ours.median(Load::rate), ours.median(Load::cpu_us)),
        reference: format!("plain file {:.0}/s", files.median(Load::rate)),
        value: Some(ours.ratio(files, Load::rate)),
        unit: "×",
        bar: Bar::AtLeast(0.30),
    }
}

/// About as many as Redis adds in the time of a measurement.
fn adds_in(place: &Place) -> usize {
    if place.seconds < 2.0 { 40_000 } else { 120_000 }
}

fn rows([files, bare, hub, rest, adds]: &[Rounds; 5]) -> Vec<Row> {
    let rate = |rounds: &Rounds| {
        let (rate, cpu) = (rounds.median(Load::rate), rounds.median(Load::cpu_us));
        format!("{rate:.0}/s, {cpu:.0} µs CPU")
    };
    let row = |number, what: &str, ours: &Rounds, to: &Rounds, name: &str, least| Row {
        number,
        what: what.to_owned(),
        ours: rate(ours),
        reference: format!("{name} {:.0}/s", to.median(Load::rate)),
        value: Some(ours.ratio(to, Load::rate)),
        unit: "×",
        bar: Bar::AtLeast(least),
    };
    vec![
        row("2a", "durable append in the store, 64 clients", bare, files, "plain file", 0.30),
        row("2b", "the same by post_message", hub, files, "plain file", 0.30),
        row("3", "post_message over REST, 64 connections", rest, bare, "store (2a)", 0.75),
        row("5", "the same against Redis XADD, fsync always", rest, adds, "Redis", 0.5),
    ]
}

/// The store's own rate with 64 clients, a second; for whoever needs a share of it.
pub(crate) async fn rate_of(
    store: &store::Store,
    threads: &Arc<Vec<ThreadId>>,
    seconds: f64,
) -> Result<Load> {
    let posters = StorePoster::many(store, threads, "rate", CLIENTS);
    drive(posters, stats::seconds(seconds)).await.context("the store could not be measured")
}
