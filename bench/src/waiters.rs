//! Live readers: from a post to the one waiter it concerns, and what a thousand deliveries cost.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::http::Connection;
use crate::place::Place;
use crate::post;
use crate::rig::{self, Rig};
use crate::server::Server;
use crate::stats::{self, Load};
use crate::table::{self, Bar, Row};

const WAITERS: usize = 1_000;

/// Threads, tokens and where the server is.
struct Scene {
    address: SocketAddr,
    threads: Vec<String>,
    tokens: Vec<String>,
}

/// Long polls over loopback, a thousand at a time.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let folder = place.throw_away()?;
    let rig = Rig::open(folder.path())?;
    let threads = rig.open_threads(rig::THREADS).await?;
    let tokens = rig.issue_tokens().await?;
    rig.stop().await?;
    let server = Server::start(place, folder.path())?;
    let scene = Arc::new(Scene { address: server.address, threads, tokens });
    let alone = one_of_many(&scene, if place.quick { 100 } else { 400 }).await?;
    let (cpu_us, took) = all_at_once(&scene, &server, if place.quick { 4 } else { 12 }).await?;
    server.stop()?;
    Ok(vec![
        Row {
            number: "10a",
            what: "from a post to the one waiter it concerns among 1,000".to_owned(),
            ours: format!("p50 {:.2} ms, p99 {:.2} ms", alone.p50(), alone.p99()),
            reference: "—".to_owned(),
            value: Some(alone.p50()),
            unit: "ms",
            bar: Bar::AtMost(2.0),
        },
        Row {
            number: "10b",
            what: "CPU a delivery when all 1,000 wait for one thread".to_owned(),
            ours: format!("{cpu_us:.1} µs, all told after {took:.1} ms"),
            reference: "—".to_owned(),
            value: Some(cpu_us),
            unit: "µs",
            bar: Bar::AtMost(30.0),
        },
    ])
}

impl Scene {
    fn thread(&self, number: usize) -> &str {
        self.threads.get(number).map_or("", String::as_str)
    }

    /// The token of a member of a thread.
    fn token(&self, thread: usize, member: usize) -> &str {
        let agent = (thread + member % rig::MEMBERS) % rig::AGENTS;
        self.tokens.get(agent).map_or("", String::as_str)
    }

    /// Posts as a member that does not wait.
    async fn post(&self, connection: &mut Connection, thread: usize) -> Result<()> {
        let path = format!("/v1/threads/{}/messages", self.thread(thread));
        connection.post(&path, &format!(r#"{{"body":"{}"}}"#, post::BODY)).await
    }
}

/// Waits for every next message of a thread, and tells when it came.
async fn wait(
    scene: Arc<Scene>,
    (thread, member): (usize, usize),
    told: mpsc::Sender<Instant>,
) -> Result<()> {
    let mut connection = Connection::open(scene.address, scene.token(thread, member)).await?;
    for since in 0.. {
        let path = format!(
            "/v1/messages/wait?thread_id={}&since_seq={since}&timeout_ms=55000",
            scene.thread(thread)
        );
        connection.get(&path).await?;
        if told.send(stats::now()).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

async fn one_of_many(scene: &Arc<Scene>, posts: usize) -> Result<Load> {
    let (told, mut heard) = mpsc::channel(WAITERS);
    let mut tasks = JoinSet::new();
    for thread in 0..WAITERS {
        tasks.spawn(wait(Arc::clone(scene), (thread, 0), told.clone()));
    }
    settle().await;
    let mut load = Load::default();
    for turn in 0..posts {
        // The last thread hears nothing, so that it is fresh for whoever comes next.
        let thread = turn.wrapping_mul(619) % (WAITERS - 1);
        let mut connection = Connection::open(scene.address, scene.token(thread, 1)).await?;
        let sent = stats::now();
        let hearing = async { heard.recv().await.context("a waiter broke off") };
        let ((), at) = tokio::try_join!(scene.post(&mut connection, thread), hearing)?;
        load.millis.push((at - sent).as_secs_f64() * 1e3);
    }
    tasks.shutdown().await;
    load.count = posts;
    Ok(load)
}

/// Processor time of the server for each delivery, and how long until the last has arrived.
async fn all_at_once(scene: &Arc<Scene>, server: &Server, rounds: usize) -> Result<(f64, f64)> {
    let thread = WAITERS - 1;
    let (told, mut heard) = mpsc::channel(WAITERS);
    let mut tasks = JoinSet::new();
    for member in 0..WAITERS {
        // The eighth member posts, and nobody waits for its own words.
        let member = member % (rig::MEMBERS - 1);
        tasks.spawn(wait(Arc::clone(scene), (thread, member), told.clone()));
    }
    let mut connection = Connection::open(scene.address, scene.token(thread, 7)).await?;
    let (mut cpu, mut took) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        settle().await;
        let before = server.cpu();
        let sent = stats::now();
        scene.post(&mut connection, thread).await?;
        for _ in 0..WAITERS {
            heard.recv().await.context("a waiter broke off")?;
        }
        took.push(stats::since(sent) * 1e3);
        let each = (server.cpu() - before) * 1e6 / stats::number(WAITERS);
        table::say(&format!("  1,000 told: {each:.1} µs CPU each"));
        cpu.push(each);
    }
    tasks.shutdown().await;
    Ok((stats::median(&cpu), stats::median(&took)))
}

/// Gives everyone the time to begin to wait.
async fn settle() {
    tokio::time::sleep(Duration::from_millis(1_500)).await;
}
