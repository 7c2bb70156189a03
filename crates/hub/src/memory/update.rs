//! Keeping something: the one way in which any part of the hub remembers.

use protocol::limits::{memory as limits, relay};
use protocol::redact::{Counts, Redactor};
use protocol::relay::{MemoryKind, MemoryUpdate, visible_object};
use protocol::{MemoryId, Timestamp};
use serde_json::{Map, Value};
use store::{NewMemory, Tx};

use super::means::{Memory, count_redactions};
use super::{embed, texts};
use crate::error::{Error, Result};
use crate::hub::Hub;

/// Something to be remembered, as it came.
#[derive(Clone, Debug)]
pub struct Remembered<'a> {
    /// A fresh id.
    pub id: MemoryId,
    /// The workspace.
    pub workspace: &'a str,
    /// Who remembers it.
    pub agent: &'a str,
    /// The thread it was said in; needed for what is episodic.
    pub thread_row: Option<i64>,
    /// What is remembered, where and for how long.
    pub update: &'a MemoryUpdate,
    /// Now.
    pub now: Timestamp,
}

/// What is kept of something, checked and without personal data.
#[derive(Clone, Debug)]
pub(super) struct Prepared {
    pub(super) kind: MemoryKind,
    data: String,
    text: String,
    vector: store::Vector,
    is_pinned: bool,
    pub(super) expires: Option<Timestamp>,
    pub(super) counts: Counts,
}

/// Keeps what an envelope asks to be remembered, in the transaction that keeps the envelope. Ring
/// [`Memory::ring`] after the commit.
pub fn apply_update(tx: &mut Tx<'_>, memory: &Memory, new: &Remembered<'_>) -> Result<Counts> {
    let redactor = memory.redactors.within(tx, new.workspace, new.now)?;
    let prepared = prepare(&redactor, new.update, new.now)?;
    insert(tx, new, &prepared)?;
    Ok(prepared.counts)
}

/// Takes personal data out of an update that is long-term, so that the envelope that carries it keeps
/// none of it either.
pub async fn clean(hub: &Hub, workspace: &str, update: &mut MemoryUpdate) -> Result<()> {
    if update.kind == MemoryKind::LongTerm {
        let redactor = hub.memory.redactor(hub, workspace).await?;
        let (data, counts) = redactor.redact_object(&update.data);
        count_redactions(&hub.metrics, &counts);
        update.data = data;
    }
    Ok(())
}

/// Checks an update and takes out what must not be kept.
pub(super) fn prepare(
    redactor: &Redactor,
    update: &MemoryUpdate,
    now: Timestamp,
) -> Result<Prepared> {
    let size = serde_json::to_string(&update.data).map_or(usize::MAX, |text| text.len());
    if update.data.is_empty() {
        return Err(Error::invalid_hint(
            "data",
            "must not be empty",
            "{\"text\": \"what to remember\"}",
        ));
    }
    if size > relay::MEMORY_BYTES_MAX {
        let reason = format!("must be at most {} bytes as JSON", relay::MEMORY_BYTES_MAX);
        return Err(Error::invalid_hint("data", reason, "keep a summary and where the rest is"));
    }
    let expires = expiry(update.ttl, now)?;
    let (data, counts) = match update.kind {
        MemoryKind::Episodic => (visible_object(&update.data), Counts::default()),
        MemoryKind::LongTerm => redactor.redact_object(&visible_object(&update.data)),
    };
    let text = texts::words(&data);
    Ok(Prepared {
        kind: update.kind,
        vector: embed::built_in(&text),
        text,
        is_pinned: is_pinned(&update.other),
        data: Value::Object(data).to_string(),
        expires,
        counts,
    })
}

fn is_pinned(other: &Map<String, Value>) -> bool {
    other.get("pinned").and_then(Value::as_bool).unwrap_or(false)
}

fn expiry(ttl: Option<i64>, now: Timestamp) -> Result<Option<Timestamp>> {
    match ttl {
        None => Ok(None),
        Some(seconds) if (1..=relay::MEMORY_TTL_SECONDS_MAX).contains(&seconds) => {
            Ok(Some(now.plus_ms(seconds * 1_000)))
        }
        Some(_) => Err(Error::invalid_hint(
            "ttl",
            format!("must be from 1 to {} seconds", relay::MEMORY_TTL_SECONDS_MAX),
            "leave it out to keep the memory until somebody forgets it",
        )),
    }
}

/// Keeps what was prepared; answers its row.
pub(super) fn insert(tx: &mut Tx<'_>, new: &Remembered<'_>, prepared: &Prepared) -> Result<i64> {
    let thread_row = match prepared.kind {
        MemoryKind::LongTerm => None,
        MemoryKind::Episodic if new.thread_row.is_some() => new.thread_row,
        MemoryKind::Episodic => {
            return Err(Error::invalid_hint(
                "thread_id",
                "is missing: an episodic memory belongs to a thread",
                "name the thread, or use kind long_term",
            ));
        }
    };
    debug_assert!(prepared.text.len() <= limits::TEXT_BYTES_MAX);
    Ok(tx.insert_memory(&NewMemory {
        id: new.id,
        workspace: new.workspace,
        kind: prepared.kind,
        thread_row,
        agent: new.agent,
        text: &prepared.text,
        data: &prepared.data,
        embedding: &prepared.vector.embedding,
        vector: &embed::bytes(&prepared.vector.values),
        is_pinned: prepared.is_pinned,
        at: new.now,
        expires: prepared.expires,
    })?)
}
