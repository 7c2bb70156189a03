//! One post, the same everywhere: 395 bytes of text, 115 of metadata, a key of 32.

use std::sync::Arc;

use anyhow::{Context, Result};
use hub::{Catalogue, Hub, Input};
use protocol::{Caller, MessageKind, Role, ThreadId, ThreadStatus, Timestamp, Trust};
use store::{AuditEntry, NewMessage, Store, StoreError, Tx};
use tokio_util::sync::CancellationToken;

use crate::drive::Poster;
use crate::rig::{self, Rig};

/// The text of every post.
pub(crate) const BODY: &str = "The retry loop in the uploader gives up after the first timeout: \
    the deadline is taken once, before the loop, and every later attempt inherits what is left of \
    it. I moved the deadline into the loop, bounded the attempts to five, and added a test with a \
    server that answers only the third time. Please look at the backoff, which doubles from 200 ms \
    up to 5 s; the numbers are a guess until somebody measures.";

/// The metadata of every post.
pub(crate) const METADATA: &str = r#"{"branch":"fix/uploader-deadline","commit":"4f2c9b1e","files":["src/upload.rs","tests/upload.rs"],"severity":"major"}"#;

/// How long a key is.
pub(crate) const KEY_CHARS: usize = 32;

/// What follows the key in a post over REST.
pub(crate) const AFTER_KEY: &str = "\"}";

/// The key of a client's n-th post, never the same.
pub(crate) fn key(run: &str, client: usize, turn: usize) -> String {
    format!("{run:0>8}-{client:07}-{turn:015}")
}

/// Whose key it is.
pub(crate) fn client_of(key: &str) -> Result<usize> {
    Ok(key.split('-').nth(1).context("a key without a client")?.parse()?)
}

/// A name that no run before has used: a kept database knows the keys of them all.
pub(crate) fn new_run() -> String {
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), ());
    format!("{:08x}", random >> 32)
}

/// Posts with `post_message`, through the catalogue.
pub(crate) struct HubPoster {
    hub: Arc<Hub>,
    catalogue: Arc<Catalogue>,
    threads: Arc<Vec<String>>,
    caller: Arc<Caller>,
    run: String,
    agent: usize,
    turn: usize,
}

impl HubPoster {
    pub(crate) fn many(
        rig: &Rig,
        threads: &Arc<Vec<String>>,
        run: &str,
        count: usize,
    ) -> Vec<Self> {
        let poster = |agent: usize| Self {
            hub: Arc::clone(&rig.hub),
            catalogue: Arc::clone(&rig.catalogue),
            threads: Arc::clone(threads),
            caller: rig::caller(&rig::agent(agent), Role::Worker),
            run: run.to_owned(),
            agent,
            turn: 0,
        };
        (0..count).map(poster).collect()
    }
}

impl Poster for HubPoster {
    async fn post(&mut self) -> Result<()> {
        self.turn += 1;
        let thread = rig::thread_of(self.agent % rig::AGENTS, self.turn, self.threads.len());
        let thread = self.threads.get(thread).map_or("", String::as_str);
        let key = key(&self.run, self.agent, self.turn);
        let input = format!(
            r#"{{"thread_id":"{thread}","body":"{BODY}","metadata":{METADATA},"idempotency_key":"{key}"}}"#
        );
        let call = self.hub.call(Arc::clone(&self.caller), None, CancellationToken::new());
        let input = Input::Bytes(input.into_bytes());
        let answer = self.catalogue.call(call, "post_message", input).await?;
        // What an edge would send.
        std::hint::black_box(answer.json());
        Ok(())
    }
}

/// Writes the rows of a post straight to the store.
pub(crate) struct StorePoster {
    store: Store,
    threads: Arc<Vec<ThreadId>>,
    caller: Arc<Caller>,
    body: Arc<str>,
    run: String,
    agent: usize,
    turn: usize,
}

impl StorePoster {
    pub(crate) fn many(
        store: &Store,
        threads: &Arc<Vec<ThreadId>>,
        run: &str,
        count: usize,
    ) -> Vec<Self> {
        let poster = |agent: usize| Self {
            store: store.clone(),
            threads: Arc::clone(threads),
            caller: rig::caller(&rig::agent(agent), Role::Worker),
            body: BODY.into(),
            run: run.to_owned(),
            agent,
            turn: 0,
        };
        (0..count).map(poster).collect()
    }

    /// The same with another text.
    pub(crate) fn saying(self, body: &Arc<str>) -> Self {
        Self { body: Arc::clone(body), ..self }
    }
}

impl Poster for StorePoster {
    async fn post(&mut self) -> Result<()> {
        self.turn += 1;
        let thread = rig::thread_of(self.agent % rig::AGENTS, self.turn, self.threads.len());
        let Some(thread) = self.threads.get(thread).copied() else { return Ok(()) };
        let key = key(&self.run, self.agent, self.turn);
        let (caller, body) = (Arc::clone(&self.caller), Arc::clone(&self.body));
        Ok(append(&self.store, thread, caller, body, key).await?)
    }
}

/// Appends one post straight to the store.
pub(crate) async fn append(
    store: &Store,
    thread: ThreadId,
    caller: Arc<Caller>,
    body: Arc<str>,
    key: String,
) -> Result<(), StoreError> {
    let hash = hash(&key);
    store.write(move |tx| write(tx, thread, &caller, &body, (&key, hash))).await
}

/// A hash of a key that spreads as the hub's own does.
pub(crate) fn hash(key: &str) -> i64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    i64::from_ne_bytes(key.bytes().fold(0xcbf2_9ce4_8422_2325, step).to_ne_bytes())
}

/// The rows of one post: lock, look for the key, append, move the thread, audit.
fn write(
    tx: &mut Tx<'_>,
    id: ThreadId,
    caller: &Caller,
    body: &str,
    (key, hash): (&str, i64),
) -> Result<(), StoreError> {
    let access = tx.lock_thread(id, &caller.agent_id)?;
    let Some(mut thread) = access.filter(|access| access.is_member).map(|access| access.thread)
    else {
        return Err(StoreError::Corrupt { what: "membership" });
    };
    if tx.message_by_key(thread.row, &caller.agent_id, key, hash)?.is_some() {
        return Ok(());
    }
    thread.head_seq += 1;
    thread.updated = thread.updated.max(Timestamp::from_ms(1_800_000_000_000));
    tx.insert_message(&NewMessage {
        thread_row: thread.row,
        seq: thread.head_seq,
        created: thread.updated,
        kind: MessageKind::Chat,
        trust: Trust::Agent,
        sender: &caller.agent_id,
        session: &caller.session_id,
        body,
        metadata: Some(METADATA),
        reply_to: None,
        idempotency: Some((key, hash)),
        status_after: ThreadStatus::Active,
    })?;
    thread.last_speaker = Some(caller.agent_id.clone());
    tx.update_thread(&thread)?;
    tx.insert_audit(&audit_entry(caller, thread.updated))
}

/// An audit entry as a post makes one.
pub(crate) fn audit_entry(caller: &Caller, at: Timestamp) -> AuditEntry<'_> {
    AuditEntry {
        at,
        workspace: &caller.workspace_id,
        actor: &caller.agent_id,
        role: caller.role.name(),
        session: &caller.session_id,
        jti: &caller.jti,
        request_id: &[3; 16],
        action: "post_message",
        object: "msg_01JXYZ0000000000000000000B",
        outcome: "ok",
        request: &[1; 32],
        response: &[2; 32],
        salt: &[4; 16],
        detail: None,
        detail_commitment: None,
    }
}
