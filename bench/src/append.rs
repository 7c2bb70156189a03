//! Durable appends, side by side in every round: the plain file, the store, the hub, REST, Redis.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use protocol::ThreadId;

use crate::bare;
use crate::crowd;
use crate::drive::drive;
use crate::file::{self, GroupFile};
use crate::place::Place;
use crate::post::{HubPoster, StorePoster};
use crate::redis::Redis;
use crate::rig::{self, Rig};
use crate::rounds::Rounds;
use crate::server::{self, Server};
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

const CLIENTS: usize = rig::AGENTS;
/// About as many as Redis adds in the time of a measurement.
const ADDS: usize = 60_000;

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

/// Sixty-four clients, each of which waits for its posts. Every round begins with fresh databases:
/// what growth costs is a row of its own.
pub(crate) async fn many_clients(place: &Place) -> Result<Vec<Row>> {
    table::say(&format!("limits of the server: {}", server::LIMITS));
    let mut all: [Rounds; 6] = std::array::from_fn(|_| Rounds::default());
    for _ in 0..place.rounds {
        let [files, store, hub, rest, bare, adds] = &mut all;
        files.push("plain file, 64 clients", plain_file(place).await?);
        store.push("store, 64 clients", in_process(place, Way::Store).await?);
        hub.push("post_message, 64 clients", in_process(place, Way::Hub).await?);
        rest.push("REST post, 64 connections", over_http(place, Answering::Hub).await?);
        bare.push("a server that only appends", over_http(place, Answering::Bare).await?);
        let folder = place.throw_away()?;
        adds.push("Redis XADD, always", Redis::start(folder.path())?.add(CLIENTS, ADDS)?);
    }
    Ok(rows(&all))
}

/// How a post gets into the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Store,
    Hub,
}

/// The store alone with all its clients.
pub(crate) async fn store_alone(place: &Place) -> Result<Load> {
    in_process(place, Way::Store).await
}

/// The same with texts of so many bytes.
pub(crate) async fn store_alone_with(place: &Place, bytes: usize) -> Result<Load> {
    let folder = place.throw_away()?;
    let ready = ready(folder.path()).await?;
    let body: Arc<str> = "x".repeat(bytes).into();
    let posters = StorePoster::many(&ready.rig.hub.store, &ready.ids, "s", CLIENTS);
    let posters = posters.into_iter().map(|poster| poster.saying(&body)).collect();
    let load = drive(posters, stats::seconds(place.seconds)).await?;
    ready.rig.stop().await?;
    Ok(load)
}

async fn plain_file(place: &Place) -> Result<Load> {
    let folder = place.throw_away()?;
    let file = GroupFile::start(folder.path())?;
    let load = drive(file.posters(CLIENTS), stats::seconds(place.seconds)).await?;
    file.stop()?;
    Ok(load)
}

async fn in_process(place: &Place, way: Way) -> Result<Load> {
    let folder = place.throw_away()?;
    let ready = ready(folder.path()).await?;
    let time = stats::seconds(place.seconds);
    let load = match way {
        Way::Store => {
            drive(StorePoster::many(&ready.rig.hub.store, &ready.ids, "s", CLIENTS), time).await?
        }
        Way::Hub => drive(HubPoster::many(&ready.rig, &ready.names, "h", CLIENTS), time).await?,
    };
    ready.rig.stop().await?;
    Ok(load)
}

/// Who answers posts over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answering {
    /// The program as it is released.
    Hub,
    /// A server that does nothing but append.
    Bare,
}

async fn over_http(place: &Place, who: Answering) -> Result<Load> {
    let folder = place.throw_away()?;
    let ready = ready(folder.path()).await?;
    let tokens = ready.rig.issue_tokens().await?;
    ready.rig.stop().await?;
    let server = match who {
        Answering::Hub => Server::start(place, folder.path())?,
        Answering::Bare => bare::start(folder.path())?,
    };
    let scripts = crowd::rest_posts(server.address, &ready.names, &tokens);
    let cpu = server.cpu();
    let load = crowd::run(server.address, &scripts, "r", place.seconds)?;
    let cpu = server.cpu() - cpu;
    match who {
        Answering::Hub => server.stop()?,
        Answering::Bare => server.kill()?,
    }
    Ok(Load { cpu, ..load })
}

/// The plain file, the store and the hub alone, for a profiler and for a quick comparison.
pub(crate) async fn profile(place: &Place) -> Result<Vec<Row>> {
    let (mut files, mut bare, mut hub) = (Rounds::default(), Rounds::default(), Rounds::default());
    for _ in 0..place.rounds {
        files.push("plain file, 64 clients", plain_file(place).await?);
        bare.push("store, 64 clients", in_process(place, Way::Store).await?);
        hub.push("post_message, 64 clients", in_process(place, Way::Hub).await?);
    }
    Ok(vec![in_file(&bare, &files, "2a"), in_file(&hub, &files, "2b")])
}

/// Posts over REST alone, for a profiler and for trying something on the running server.
pub(crate) async fn profile_rest(place: &Place) -> Result<Vec<Row>> {
    let mut rest = Rounds::default();
    for _ in 0..place.rounds {
        rest.push("REST post, 64 connections", over_http(place, Answering::Hub).await?);
    }
    Ok(Vec::new())
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

fn rows([files, store, hub, rest, bare, adds]: &[Rounds; 6]) -> Vec<Row> {
    let rate = |rounds: &Rounds| {
        let (rate, cpu) = (rounds.median(Load::rate), rounds.median(Load::cpu_us));
        format!("{rate:.0}/s, {cpu:.0} µs CPU")
    };
    let row = |number, what: &str, ours: &Rounds, (to, name): (&Rounds, &str), bar| Row {
        number,
        what: what.to_owned(),
        ours: rate(ours),
        reference: format!("{name} {:.0}/s", to.median(Load::rate)),
        value: Some(ours.ratio(to, Load::rate)),
        unit: "×",
        bar,
    };
    let (file, alone) = ((files, "plain file"), (store, "store (2a)"));
    let (third, three_quarters, half) = (Bar::AtLeast(0.30), Bar::AtLeast(0.75), Bar::AtLeast(0.5));
    vec![
        row("2a", "durable append in the store, 64 clients", store, file, third),
        row("2b", "the same by post_message", hub, file, third),
        row("3", "post_message over REST, 64 connections", rest, alone, three_quarters),
        row("3'", "the most there is: a server that only appends", bare, alone, Bar::None),
        row("5", "REST against Redis XADD, fsync always", rest, (adds, "Redis"), half),
    ]
}

/// The store's own rate with 64 clients, a second; for whoever needs a share of it. A kept database
/// knows the keys of every run before, so a run needs a name of its own.
pub(crate) async fn rate_of(
    store: &store::Store,
    threads: &Arc<Vec<ThreadId>>,
    run: &str,
    seconds: f64,
) -> Result<Load> {
    let posters = StorePoster::many(store, threads, run, CLIENTS);
    drive(posters, stats::seconds(seconds)).await.context("the store could not be measured")
}
