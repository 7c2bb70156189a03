//! Work for agents: how much is leased and completed a second through the catalogue, beside the same in
//! plain SQL in this process, with little and with much in the queue.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use protocol::limits::relay::QUEUE_DEFAULT;
use protocol::{
    Caller, MessageKind, Role, TaskId, ThreadId, ThreadStatus, ThreadType, Timestamp, Trust, WorkId,
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::{Value, json};
use store::{NewMessage, NewThread, NewWork, StoreError};
use tokio::task::JoinSet;

use crate::place::Place;
use crate::rig::{self, Rig, WORKSPACE};
use crate::stats::{self, Load, median};
use crate::table::{self, Bar, Row};

/// Agents that work.
const CLIENTS: usize = rig::AGENTS;
/// Threads that the work belongs to.
const THREADS: i64 = 500;
/// What is leased and completed before the queue is filled up again, which is not measured.
const PORTION: usize = 400;
/// Little, and much.
const DEPTHS: [usize; 2] = [1_000, 100_000];

/// Rows 23a to 23c.
pub(crate) async fn measure(place: &Place) -> Result<Vec<Row>> {
    let depths = if place.quick { [DEPTHS[0], 10_000] } else { DEPTHS };
    let mut all: [[Vec<Load>; 2]; 2] = Default::default();
    for _ in 0..place.rounds {
        for (depth, [plain, hub]) in depths.into_iter().zip(&mut all) {
            let load = in_plain_sql(place, depth)?;
            say("plain SQL", depth, &load);
            plain.push(load);
            let load = through_the_hub(place, depth).await?;
            say("pull_work + complete_work", depth, &load);
            hub.push(load);
        }
    }
    let [[plain_few, few], [plain_many, many]] = &all;
    let row = |number, depth: usize, ours: &[Load], plain: &[Load]| Row {
        number,
        what: format!("lease + complete, {depth} queued, 64 agents"),
        ours: format!("{:.0}/s", rate(ours)),
        reference: format!("plain SQL, one process {:.0}/s", rate(plain)),
        value: Some(ratio(ours, plain)),
        unit: "×",
        bar: Bar::AtLeast(0.5),
    };
    Ok(vec![
        row("23a", depths[0], few, plain_few),
        row("23b", depths[1], many, plain_many),
        Row {
            number: "23c",
            what: format!("the same, {} queued beside {}", depths[1], depths[0]),
            ours: format!("{:.0}/s", rate(many)),
            reference: format!("{} queued {:.0}/s", depths[0], rate(few)),
            value: Some(ratio(many, few)),
            unit: "×",
            // Flat, give or take what a shared machine takes.
            bar: Bar::AtLeast(0.8),
        },
    ])
}

fn rate(loads: &[Load]) -> f64 {
    median(&loads.iter().map(Load::rate).collect::<Vec<_>>())
}

/// The median of the ratios that each round saw by itself.
fn ratio(ours: &[Load], theirs: &[Load]) -> f64 {
    let pairs = ours.iter().zip(theirs);
    median(&pairs.map(|(ours, theirs)| ours.rate() / theirs.rate()).collect::<Vec<_>>())
}

fn say(name: &str, depth: usize, load: &Load) {
    table::say(&format!(
        "  {name:<28} {depth:>7} queued {:>8.0}/s  {:>6.1} µs CPU",
        load.rate(),
        load.cpu_us()
    ));
}

/// The heads of threads alone are ready, as in the hub; a lease and a completion are a commit each.
fn in_plain_sql(place: &Place, depth: usize) -> Result<Load> {
    let folder = place.throw_away()?;
    let mut plain = Plain::open(&folder.path().join("plain.db"))?;
    plain.fill(depth)?;
    let mut load = Load::default();
    while load.seconds < place.seconds {
        let (began, cpu) = (stats::now(), stats::cpu());
        for _ in 0..PORTION {
            ensure!(plain.lease_and_complete()?, "the queue ran empty");
        }
        load.seconds += stats::since(began);
        load.cpu += stats::cpu() - cpu;
        load.count += PORTION;
        plain.fill(PORTION)?;
    }
    Ok(load)
}

struct Plain {
    connection: Connection,
    next: i64,
}

impl Plain {
    fn open(path: &Path) -> Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
             CREATE TABLE job (seq INTEGER PRIMARY KEY, thread INTEGER NOT NULL, state INTEGER NOT NULL,
                 attempts INTEGER NOT NULL, visible_at INTEGER NOT NULL, lease TEXT,
                 lease_until INTEGER);
             CREATE INDEX job_ready ON job (visible_at, seq) WHERE state = 0;
             CREATE INDEX job_thread ON job (thread, seq) WHERE state IN (0, 1, 5);",
        )?;
        Ok(Self { connection, next: 0 })
    }

    fn fill(&mut self, count: usize) -> Result<()> {
        let transaction = self.connection.transaction()?;
        for _ in 0..count {
            self.next += 1;
            transaction
                .prepare_cached(
                    "INSERT INTO job (seq, thread, state, attempts, visible_at)
                     VALUES (?1, ?2, CASE WHEN EXISTS (SELECT 1 FROM job WHERE thread = ?2
                         AND state IN (0, 1, 5)) THEN 5 ELSE 0 END, 0, ?1)",
                )?
                .execute(params![self.next, self.next % THREADS])?;
        }
        Ok(transaction.commit()?)
    }

    fn lease_and_complete(&mut self) -> Result<bool> {
        let leased: Option<(i64, i64)> = self
            .connection
            .prepare_cached(
                "UPDATE job SET state = 1, attempts = attempts + 1, lease = 'me',
                     lease_until = 9999999
                 WHERE seq = (SELECT seq FROM job WHERE state = 0 AND visible_at <= ?1
                     ORDER BY visible_at, seq LIMIT 1)
                 RETURNING seq, thread",
            )?
            .query_row([i64::MAX], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let Some((seq, thread)) = leased else { return Ok(false) };
        let transaction = self.connection.transaction()?;
        let done = transaction
            .prepare_cached(
                "UPDATE job SET state = 2 WHERE seq = ?1 AND state = 1 AND lease = 'me'",
            )?
            .execute([seq])?;
        transaction
            .prepare_cached(
                "UPDATE job SET state = 0 WHERE seq = (SELECT seq FROM job WHERE thread = ?1
                     AND state IN (0, 1, 5) ORDER BY seq LIMIT 1)",
            )?
            .execute([thread])?;
        transaction.commit()?;
        Ok(done == 1)
    }
}

/// Sixty-four agents pull and complete through the hub's own door.
async fn through_the_hub(place: &Place, depth: usize) -> Result<Load> {
    let folder = place.throw_away()?;
    let rig = Arc::new(Rig::open(folder.path())?);
    let queue = Queue::new(&rig).await?;
    queue.fill(depth).await?;
    let mut load = Load::default();
    while load.seconds < place.seconds {
        let left = Arc::new(AtomicUsize::new(PORTION));
        let (began, cpu) = (stats::now(), stats::cpu());
        let mut agents = JoinSet::new();
        for number in 0..CLIENTS {
            let caller = rig::caller(&rig::agent(number), Role::Worker);
            agents.spawn(work(Arc::clone(&rig), caller, Arc::clone(&left)));
        }
        while let Some(ended) = agents.join_next().await {
            load.count += ended??;
        }
        load.seconds += stats::since(began);
        load.cpu += stats::cpu() - cpu;
        queue.fill(PORTION).await?;
    }
    drop(queue);
    Arc::into_inner(rig).context("somebody still works")?.stop().await?;
    Ok(load)
}

/// Pulls and completes until the portion is used up; answers how much it did.
async fn work(rig: Arc<Rig>, caller: Arc<Caller>, left: Arc<AtomicUsize>) -> Result<usize> {
    let pull = json!({ "wait_ms": 0 });
    let take_one = |left: usize| left.checked_sub(1);
    let mut done = 0;
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take_one).is_ok() {
        let pulled: Value = serde_json::from_slice(&rig.call(&caller, "pull_work", &pull).await?)?;
        let item = pulled.pointer("/items/0").context("the queue ran empty")?;
        let completion = json!({ "work_id": item.get("work_id"), "fence": item.get("fence") });
        rig.call(&caller, "complete_work", &completion).await?;
        done += 1;
    }
    Ok(done)
}

/// The queue of the hub, to be filled.
struct Queue {
    rig: Arc<Rig>,
    threads: Arc<Vec<i64>>,
    next: AtomicI64,
}

impl Queue {
    /// Threads in which a service has said something.
    async fn new(rig: &Arc<Rig>) -> Result<Self> {
        let now = rig.hub.now();
        let ids: Vec<ThreadId> = (0..THREADS).map(|_| ThreadId(rig.hub.new_uid(now))).collect();
        let threads: Result<Vec<i64>, StoreError> = rig
            .hub
            .store
            .write(move |tx| ids.iter().map(|id| thread(tx, *id, now)).collect())
            .await;
        Ok(Self { rig: Arc::clone(rig), threads: Arc::new(threads?), next: AtomicI64::new(0) })
    }

    async fn fill(&self, count: usize) -> Result<()> {
        const BATCH: usize = 1_000;
        let now = self.rig.hub.now();
        let mut left = count;
        while left > 0 {
            let portion = left.min(BATCH);
            left -= portion;
            let first = self.next.fetch_add(i64::try_from(portion)?, Ordering::Relaxed);
            let work: Vec<(WorkId, i64)> = (first..)
                .zip(self.threads.iter().cycle().skip(usize::try_from(first % THREADS)?))
                .take(portion)
                .map(|(_, thread)| (WorkId(self.rig.hub.new_uid(now)), *thread))
                .collect();
            let task = TaskId(self.rig.hub.new_uid(now));
            let filled: Result<(), StoreError> = self
                .rig
                .hub
                .store
                .write(move |tx| {
                    for (id, thread_row) in &work {
                        tx.insert_work(&NewWork {
                            workspace: WORKSPACE,
                            queue: QUEUE_DEFAULT,
                            thread_row: *thread_row,
                            seq: 1,
                            task,
                            id: *id,
                            at: now,
                        })?;
                    }
                    Ok(())
                })
                .await;
            filled?;
        }
        Ok(())
    }
}

fn thread(tx: &mut store::Tx<'_>, id: ThreadId, now: Timestamp) -> Result<i64, StoreError> {
    let row = tx.insert_thread(&NewThread {
        id,
        workspace: WORKSPACE,
        title: "an issue of the bench",
        thread_type: ThreadType::Conversation,
        created_by: "link:github",
        participants: &[],
        at: now,
    })?;
    tx.insert_message(&NewMessage {
        thread_row: row,
        seq: 1,
        created: now,
        kind: MessageKind::Chat,
        trust: Trust::External,
        sender: "github:octocat",
        session: "bench",
        body: "The shop does not open on Sundays any more, and nobody knows why.",
        metadata: Some(r#"{"relay":{"channel":"github","role":"user"}}"#),
        reply_to: None,
        idempotency: None,
        status_after: ThreadStatus::Active,
    })?;
    let access = tx.thread_by_row(row, "")?.ok_or(StoreError::Corrupt { what: "thread" })?;
    tx.update_thread(&store::ThreadRow { head_seq: 1, ..access.thread })?;
    Ok(row)
}
