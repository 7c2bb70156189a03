//! Databases that have grown: one thread of a fifth of all messages, two thousand smaller ones.
//!
//! They are loaded once through the store itself, with every row that a post writes, and kept.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use protocol::{MessageKind, Role, ThreadId, ThreadStatus, Timestamp, Trust};
use store::{NewMessage, Store, StoreError, Tx};

use crate::place::Place;
use crate::post;
use crate::rig::{self, Rig};
use crate::stats;
use crate::table;

const SMALL_THREADS: usize = 2_000;
/// One in so many messages stands in the large thread.
const LARGE_SHARE: usize = 5;
const CHUNK: usize = 5_000;
const FIRST_MS: i64 = 1_700_000_000_000;

/// What the n-th message says.
type Text = fn(usize) -> Cow<'static, str>;

/// A data folder with messages in it.
pub(crate) struct Grown {
    pub(crate) folder: PathBuf,
    /// The large thread first.
    pub(crate) threads: Vec<String>,
}

impl Grown {
    /// The kept folder with so many messages; loads it when it is missing or of another schema.
    pub(crate) async fn kept(place: &Place, messages: usize) -> Result<Self> {
        Self::kept_as("grown", place, messages, |_| Cow::Borrowed(post::BODY)).await
    }

    /// The same with other texts, under another name.
    pub(crate) async fn kept_as(
        name: &str,
        place: &Place,
        messages: usize,
        text: Text,
    ) -> Result<Self> {
        let folder = place.kept()?.join(format!("{name}-{messages}"));
        let mark = folder.join("loaded");
        let schema = schema(&place.root)?;
        if let Ok(text) = std::fs::read_to_string(&mark)
            && let Some(threads) = text.strip_prefix(&schema)
        {
            let threads = threads.lines().map(str::to_owned).collect();
            return Ok(Self { folder, threads });
        }
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let grown = Self::load_with(&folder, messages, text).await?;
        std::fs::write(&mark, format!("{schema}{}", grown.threads.join("\n")))?;
        Ok(grown)
    }

    /// Loads a folder from nothing.
    pub(crate) async fn load(folder: &Path, messages: usize) -> Result<Self> {
        Self::load_with(folder, messages, |_| Cow::Borrowed(post::BODY)).await
    }

    async fn load_with(folder: &Path, messages: usize, text: Text) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let began = stats::now();
        let rig = Rig::open(folder)?;
        let threads = rig.open_threads(SMALL_THREADS + 1).await?;
        let ids = threads.iter().map(|name| name.parse()).collect::<Result<Vec<ThreadId>, _>>()?;
        fill(&rig.hub.store, Arc::new(ids), messages, text).await?;
        rig.stop().await?;
        if messages > 100_000 {
            table::say(&format!("  loaded {messages} messages in {:.0} s", stats::since(began)));
        }
        Ok(Self { folder: folder.to_owned(), threads })
    }

    /// The ids of its threads.
    pub(crate) fn ids(&self) -> Result<Arc<Vec<ThreadId>>> {
        let ids = self.threads.iter().map(|name| name.parse());
        Ok(Arc::new(ids.collect::<Result<Vec<_>, _>>()?))
    }
}

/// What the tables look like, as one line.
pub(crate) fn schema(root: &Path) -> Result<String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("crates/store/migrations"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let mut hash = 0_u64;
    for file in files {
        let text = std::fs::read(&file).with_context(|| format!("{}", file.display()))?;
        hash = text
            .iter()
            .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    }
    Ok(format!("schema {hash:016x}\n"))
}

async fn fill(store: &Store, ids: Arc<Vec<ThreadId>>, messages: usize, text: Text) -> Result<()> {
    let all = Arc::clone(&ids);
    let rows: Vec<i64> = store.write(move |tx| rows_of(tx, &all)).await?;
    let rows = Arc::new(rows);
    for from in (0..messages).step_by(CHUNK) {
        let rows = Arc::clone(&rows);
        let to = messages.min(from + CHUNK);
        store.write(move |tx| (from..to).try_for_each(|n| append(tx, &rows, n, &text(n)))).await?;
    }
    let heads = move |tx: &mut Tx<'_>| {
        for (thread, id) in ids.iter().enumerate() {
            if let Some(mut access) = tx.lock_thread(*id, "")? {
                access.thread.head_seq = messages_in(thread, messages);
                tx.update_thread(&access.thread)?;
            }
        }
        Ok::<_, StoreError>(())
    };
    Ok(store.write(heads).await?)
}

fn rows_of(tx: &mut Tx<'_>, ids: &[ThreadId]) -> Result<Vec<i64>, StoreError> {
    let mut rows = Vec::with_capacity(ids.len());
    for id in ids {
        let access = tx.lock_thread(*id, "")?;
        rows.push(access.map_or(0, |access| access.thread.row));
    }
    Ok(rows)
}

/// Where the n-th message stands: its thread and its number.
fn place_of(n: usize) -> (usize, i64) {
    let (round, rest) = (n / LARGE_SHARE, n % LARGE_SHARE);
    let (thread, seq) = if rest == 0 {
        (0, round)
    } else {
        let small = n - round - 1;
        (1 + (small % SMALL_THREADS) * 619 % SMALL_THREADS, small / SMALL_THREADS)
    };
    (thread, i64::try_from(seq).unwrap_or(i64::MAX - 1) + 1)
}

/// How many of all messages stand in a thread.
fn messages_in(thread: usize, messages: usize) -> i64 {
    let highest = |step: usize| {
        let last = messages.saturating_sub(step)..messages;
        last.map(place_of).filter(|(of, _)| *of == thread).map(|(_, seq)| seq).max()
    };
    highest(LARGE_SHARE).or_else(|| highest(SMALL_THREADS * 2)).unwrap_or(0)
}

fn append(tx: &mut Tx<'_>, rows: &[i64], n: usize, text: &str) -> Result<(), StoreError> {
    let (thread, seq) = place_of(n);
    let Some(row) = rows.get(thread).copied() else { return Ok(()) };
    let caller = rig::caller(&rig::agent(thread + n % rig::MEMBERS), Role::Worker);
    let at = Timestamp::from_ms(FIRST_MS.saturating_add(i64::try_from(n).unwrap_or(0)));
    let key = post::key("load", 0, n);
    tx.insert_message(&NewMessage {
        thread_row: row,
        seq,
        created: at,
        kind: MessageKind::Chat,
        trust: Trust::Agent,
        sender: &caller.agent_id,
        session: &caller.session_id,
        body: text,
        metadata: Some(post::METADATA),
        reply_to: None,
        idempotency: Some((&key, post::hash(&key))),
        status_after: ThreadStatus::Active,
    })?;
    tx.insert_audit(&post::audit_entry(&caller, at))
}
