//! What memory needs besides the store: its view, its redactors, and what it does in the background.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use protocol::Timestamp;
use protocol::limits::memory as limits;
use protocol::redact::{Counts, Redactor};
use store::{MemoryIndex, MemoryItem, StoreError, Tx, Vector};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::embed;
use super::known::Redactors;
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::clock::Entropy;
use crate::duties::Trouble;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::metrics::Metrics;

/// What it is called in the audit trail.
const ACTION: &str = "expire_memories";
/// Who does it.
const ACTOR: &str = "memory";

/// What memory needs besides the store.
pub struct Memory {
    /// What can be found.
    pub index: MemoryIndex,
    pub(super) redactors: Redactors,
    /// Memories that were of use, and when.
    touched: Mutex<HashMap<i64, Timestamp>>,
    /// How many memories there are, when they were last counted: episodic, long-term.
    counts: Mutex<(i64, i64)>,
    pub(super) index_bell: Notify,
    keep_bell: Notify,
}

impl Memory {
    pub(crate) fn new(index: MemoryIndex, token_key: [u8; 32]) -> Self {
        Self {
            index,
            redactors: Redactors::new(token_key),
            touched: Mutex::default(),
            counts: Mutex::default(),
            index_bell: Notify::new(),
            keep_bell: Notify::new(),
        }
    }

    /// Something was remembered, changed or forgotten; call it after the commit.
    pub fn ring(&self) {
        self.index_bell.notify_one();
        self.keep_bell.notify_one();
    }

    /// The redactor of a workspace, with the names it knows.
    pub async fn redactor(&self, hub: &Hub, workspace: &str) -> Result<Arc<Redactor>> {
        self.redactors.of(&hub.store, workspace, hub.now()).await
    }

    /// Notes that memories were of use; written down later, so that nobody waits for it.
    pub(super) fn touch(&self, rows: impl Iterator<Item = i64>, now: Timestamp) {
        let mut touched = self.touched.lock();
        let was_empty = touched.is_empty();
        for row in rows {
            if touched.len() < limits::TOUCHED_MAX || touched.contains_key(&row) {
                touched.insert(row, now);
            }
        }
        if was_empty && !touched.is_empty() {
            self.keep_bell.notify_one();
        }
    }

    /// How many memories there are, as they were last counted: episodic, long-term.
    pub(crate) fn counts(&self) -> (i64, i64) {
        *self.counts.lock()
    }

    /// Whether the view holds everything that is committed now, after waiting for it a moment.
    pub(super) async fn catch_up(&self, newest: i64) -> bool {
        let mut progress = self.index.progress();
        if *progress.borrow_and_update() >= newest {
            return true;
        }
        self.index_bell.notify_one();
        let caught = progress.wait_for(|upto| *upto >= newest);
        matches!(tokio::time::timeout(limits::CATCH_UP, caught).await, Ok(Ok(_)))
    }
}

/// Counts what was taken out, by class; never what it was.
pub(super) fn count_redactions(metrics: &Metrics, counts: &Counts) {
    for (class, count) in counts.iter() {
        metrics.count(
            "waystation_redactions_total",
            "Personal data and secrets taken out before something was remembered.",
            &[("class", class.name())],
            count,
        );
    }
}

/// The vector of a question: the endpoint's where one is configured, `None` where it does not answer.
pub(super) async fn embed_query(hub: &Hub, text: &str) -> Option<Vector> {
    let Some((model, name)) = hub.model.as_ref().and_then(|m| Some((m, m.embedder()?))) else {
        return Some(embed::built_in(text));
    };
    let asked = [text.to_owned()];
    let answer = tokio::time::timeout(limits::EMBED_QUERY_TIMEOUT, model.embed(&asked)).await;
    match answer {
        Ok(Ok(vectors)) => vectors
            .first()
            .map(|vector| Vector { embedding: name.to_owned(), values: embed::quantised(vector) }),
        Ok(Err(error)) => {
            tracing::warn!(%error, "the endpoint that embeds failed; looking for words alone");
            None
        }
        Err(_) => {
            tracing::warn!("the endpoint that embeds is slow; looking for words alone");
            None
        }
    }
}

/// Forgets what is due, notes what was of use, and makes vectors anew when the endpoint has changed;
/// until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut trouble = Trouble::default();
    let mut chores = Chores::default();
    while !stop.is_cancelled() {
        let wait = match turn(&hub, &mut chores).await {
            Ok(wait) => {
                trouble.is_over();
                wait
            }
            Err(Error::Store(StoreError::Closed | StoreError::Failed)) => return,
            Err(error) => {
                trouble.say(&error, "memory is not kept in order; trying again");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            // What rings once rings again soon; one round does for all of it.
            () = rung(&hub) => {}
            () = stop.cancelled() => return,
        }
    }
}

async fn rung(hub: &Hub) {
    hub.memory.keep_bell.notified().await;
    tokio::time::sleep(limits::GATHER).await;
}

/// When something was last done that need not be done often.
#[derive(Default)]
struct Chores {
    last: Option<tokio::time::Instant>,
}

impl Chores {
    fn are_due(&mut self) -> bool {
        let now = tokio::time::Instant::now();
        let are_due = self.last.is_none_or(|last| now.duration_since(last) >= limits::LOOK_EVERY);
        if are_due {
            self.last = Some(now);
        }
        are_due
    }
}

/// One round; answers how long nothing has to be done.
async fn turn(hub: &Arc<Hub>, chores: &mut Chores) -> Result<Duration> {
    let now = hub.now();
    write_touched(hub).await?;
    let next = hub.store.read(|tx| Ok::<_, Error>(tx.next_memory_expiry()?)).await?;
    if next.is_some_and(|next| next <= now) {
        let entropy = hub.entropy();
        hub.store.write(move |tx| expire(tx, &*entropy, now)).await?;
        hub.audit_bell.notify_one();
        hub.memory.index_bell.notify_one();
        // There may be more that is due.
        return Ok(Duration::ZERO);
    }
    if chores.are_due() {
        let before = now.plus_ms(-limits::GONE_KEPT_MS);
        hub.store.write(move |tx| prune(tx, before)).await?;
        let counts = hub.store.read(|tx| Ok::<_, Error>(tx.count_memories()?)).await?;
        *hub.memory.counts.lock() = counts;
    }
    let due = next.map_or(limits::LOOK_EVERY, |next| {
        Duration::from_millis(u64::try_from(next.ms_since(now)).unwrap_or(0))
    });
    let embedded = re_embed(hub, now).await?;
    Ok(due.min(embedded).min(limits::LOOK_EVERY))
}

fn prune(tx: &mut Tx<'_>, before: Timestamp) -> Result<()> {
    tx.prune_memory_changes(before, limits::GONE_BATCH_MAX)?;
    Ok(())
}

async fn write_touched(hub: &Arc<Hub>) -> Result<()> {
    let touched: Vec<(i64, Timestamp)> = hub.memory.touched.lock().drain().collect();
    if touched.is_empty() {
        return Ok(());
    }
    hub.store
        .write(move |tx| {
            for (row, at) in &touched {
                tx.touch_memory(*row, *at)?;
            }
            Ok::<_, Error>(())
        })
        .await
}

/// Forgets one portion, with an entry for each workspace.
fn expire(tx: &mut Tx<'_>, entropy: &dyn Entropy, now: Timestamp) -> Result<()> {
    let mut by_workspace = std::collections::BTreeMap::<String, u64>::new();
    for (row, workspace) in tx.expired_memories(now, limits::EXPIRY_BATCH_MAX)? {
        if tx.delete_memory(row, now)? {
            *by_workspace.entry(workspace).or_default() += 1;
        }
    }
    for (workspace, memories) in by_workspace {
        let identity = Identity::of_service(&workspace, ACTOR, now, entropy);
        let request = Commitment::request(&identity.salt, &[]);
        let change = Change::of(format!("{memories} memories"), memories);
        change.enter(tx, &identity, ACTION, &request)?;
    }
    Ok(())
}

/// Makes vectors again that were made in another way, one batch at a time.
async fn re_embed(hub: &Arc<Hub>, now: Timestamp) -> Result<Duration> {
    let Some((model, name)) = hub.model.as_ref().and_then(|m| Some((m, m.embedder()?))) else {
        return re_embed_built_in(hub, now).await;
    };
    let wanted = name.to_owned();
    let items = outdated(hub, &wanted).await?;
    if items.is_empty() {
        return Ok(limits::LOOK_EVERY);
    }
    let texts: Vec<String> = items.iter().map(|(_, text)| text.clone()).collect();
    match model.embed(&texts).await {
        Ok(vectors) if vectors.len() == items.len() => {
            let vectors = vectors.iter().map(|vector| embed::quantised(vector)).collect();
            put_vectors(hub, wanted, items, vectors, now).await?;
            Ok(Duration::ZERO)
        }
        Ok(_) => Ok(limits::EMBED_RETRY),
        Err(error) => {
            tracing::warn!(%error, "the endpoint that embeds failed; it is asked again later");
            Ok(limits::EMBED_RETRY)
        }
    }
}

async fn re_embed_built_in(hub: &Arc<Hub>, now: Timestamp) -> Result<Duration> {
    let items = outdated(hub, embed::BUILT_IN).await?;
    if items.is_empty() {
        return Ok(limits::LOOK_EVERY);
    }
    let vectors = items.iter().map(|(_, text)| embed::built_in(text).values).collect();
    put_vectors(hub, embed::BUILT_IN.to_owned(), items, vectors, now).await?;
    Ok(Duration::ZERO)
}

async fn outdated(hub: &Arc<Hub>, embedding: &str) -> Result<Vec<(MemoryItem, String)>> {
    let embedding = embedding.to_owned();
    hub.store.read(move |tx| Ok(tx.other_embeddings(&embedding, limits::EMBED_BATCH)?)).await
}

async fn put_vectors(
    hub: &Arc<Hub>,
    embedding: String,
    items: Vec<(MemoryItem, String)>,
    vectors: Vec<Vec<i8>>,
    now: Timestamp,
) -> Result<()> {
    hub.store
        .write(move |tx| {
            for ((item, _), vector) in items.iter().zip(&vectors) {
                tx.set_vector(*item, &embedding, &embed::bytes(vector), now)?;
            }
            Ok::<_, Error>(())
        })
        .await?;
    hub.memory.index_bell.notify_one();
    Ok(())
}
