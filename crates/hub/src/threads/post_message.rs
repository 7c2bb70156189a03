//! Posting a message.

use std::hash::Hasher;

use protocol::message::{Content, SCHEMA_VERSION, event_type};
use protocol::thread::Transition;
use protocol::{
    Caller, MessageId, MessageKind, Metadata, Scope, ThreadId, ThreadStatus, Timestamp, Trust,
    limits, validate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{MessageRow, NewMessage, ReplyTo, ThreadRow, Tx};

use super::rules::{self, Move};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Quota, Route};

/// Post a message to a thread: talk (`chat`) or a typed `event`. Give an `idempotency_key` so that a
/// retry cannot post twice.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostMessage {
    /// The thread.
    thread_id: String,
    /// The text.
    #[schemars(length(min = 1, max = limits::MESSAGE_BODY_BYTES_MAX))]
    body: String,
    /// `chat` (the default) or `event`.
    kind: Option<PostedKind>,
    /// Structured facts. An event needs `event_type`: `finding_reported`, `fix_pushed`,
    /// `re_review_requested`, `finding_verified`, `finding_rejected`, `thread_escalated`,
    /// `thread_resolved`, or a name of your own.
    metadata: Option<Metadata>,
    /// The message this one answers.
    in_reply_to: Option<String>,
    /// Your key; the same key with the same content returns the first answer.
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS_MAX))]
    idempotency_key: Option<String>,
    /// Always 1.
    #[schemars(range(min = SCHEMA_VERSION, max = SCHEMA_VERSION))]
    schema_version: Option<i64>,
    /// Optional: must match your token.
    sender_agent_id: Option<String>,
    /// Optional: must match your token.
    sender_session_id: Option<String>,
}

/// What a caller may post; the hub's own messages are not among it.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum PostedKind {
    /// Talk.
    #[default]
    Chat,
    /// A typed event; `metadata.event_type` names it.
    Event,
}

impl From<PostedKind> for MessageKind {
    fn from(kind: PostedKind) -> Self {
        match kind {
            PostedKind::Chat => Self::Chat,
            PostedKind::Event => Self::Event,
        }
    }
}

/// The message as it was taken.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PostMessageOutput {
    /// The message.
    message_id: MessageId,
    /// Its number in the thread.
    seq: i64,
    /// Where the thread stands after it.
    thread_status: ThreadStatus,
    /// When the hub took it.
    created_at: Timestamp,
    #[serde(skip)]
    thread_row: i64,
}

impl Operation for PostMessage {
    const NAME: &'static str = "post_message";
    const ROUTE: Route = Route::post("/v1/threads/{thread_id}/messages");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Write;
    const QUOTA: Quota = Quota::Posts;
    const IS_BRIEF: bool = true;
    type Output = PostMessageOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<PostMessageOutput> {
        let draft = self.check(call)?;
        if draft.moves_to.is_some() {
            rules::warm_fold(call, draft.thread_id, "post to").await?;
        }
        let settings = (call.hub.settings.agent_turns_max, call.hub.settings.idempotency_window_ms);
        let output = call.write(move |tx| draft.post(tx, settings)).await?;
        call.hub.live.announce(output.thread_row);
        Ok(output)
    }

    fn brief(output: &PostMessageOutput) -> String {
        format!(
            "posted {} as #{} (thread is {})",
            output.message_id, output.seq, output.thread_status
        )
    }
}

/// A checked message on its way into a thread.
struct Draft {
    thread_id: ThreadId,
    caller: std::sync::Arc<Caller>,
    at: Timestamp,
    kind: MessageKind,
    body: String,
    metadata: Option<String>,
    /// Where it moves the thread, and why.
    moves_to: Option<(ThreadStatus, String)>,
    in_reply_to: Option<MessageId>,
    idempotency: Option<(String, i64)>,
}

impl PostMessage {
    fn check(self, call: &Call) -> Result<Draft> {
        let caller = call.caller();
        rules::claim("sender_agent_id", self.sender_agent_id.as_deref(), &caller.agent_id)?;
        rules::claim("sender_session_id", self.sender_session_id.as_deref(), &caller.session_id)?;
        if self.schema_version.is_some_and(|version| version != SCHEMA_VERSION) {
            return Err(Error::invalid("schema_version", format_args!("must be {SCHEMA_VERSION}")));
        }
        validate::message_body(&self.body).field("body")?;
        let metadata = self.metadata.as_ref().map(Metadata::to_text);
        if let (Some(value), Some(text)) = (&self.metadata, &metadata) {
            value.check(text).field("metadata")?;
        }
        let kind = self.kind.unwrap_or_default();
        let moves_to = check_kind(kind, self.metadata.as_ref())?;
        let moves_to = moves_to.map(|to| (to, reason_in(&self.body)));
        let in_reply_to = self
            .in_reply_to
            .map(|text| text.parse().map_err(|_| Error::NotFound { what: "message in_reply_to" }))
            .transpose()?;
        let idempotency = self.idempotency_key.map(|key| {
            validate::line(&key, limits::IDEMPOTENCY_KEY_CHARS_MAX).field("idempotency_key")?;
            let hash = key_hash(&caller.agent_id, &key);
            Ok::<_, Error>((key, hash))
        });
        Ok(Draft {
            thread_id: rules::thread_id(&self.thread_id)?,
            caller: call.shared_caller(),
            at: call.now(),
            kind: kind.into(),
            body: self.body,
            metadata,
            moves_to,
            in_reply_to,
            idempotency: idempotency.transpose()?,
        })
    }
}

/// An event needs a type; two of the types move the thread.
fn check_kind(kind: PostedKind, metadata: Option<&Metadata>) -> Result<Option<ThreadStatus>> {
    match kind {
        PostedKind::Chat => Ok(None),
        PostedKind::Event => {
            let Some(name) = metadata.and_then(|metadata| metadata.text("event_type")) else {
                return Err(Error::invalid_hint(
                    "metadata.event_type",
                    "is missing",
                    format!("an event names its type: {}", event_type::ALL.join(", ")),
                ));
            };
            validate::event_type(name).field("metadata.event_type")?;
            Ok(match name {
                event_type::THREAD_RESOLVED => Some(ThreadStatus::Resolved),
                event_type::THREAD_ESCALATED => Some(ThreadStatus::Blocked),
                _ => None,
            })
        }
    }
}

/// The reason of a move by event: the first line of the body that says something, of the length that a
/// reason may have.
fn reason_in(body: &str) -> String {
    let mut lines = body.split(validate::breaks_line).map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    let mut signs = line.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut reason: String = signs.by_ref().take(limits::REASON_CHARS_MAX).collect();
    if signs.next().is_some() {
        reason.pop();
        reason.push('…');
    }
    reason
}

/// A stable hash of a sender's key, for the index.
pub(crate) fn key_hash(sender: &str, key: &str) -> i64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write(sender.as_bytes());
    hasher.write(&[0]);
    hasher.write(key.as_bytes());
    i64::from_ne_bytes(hasher.finish().to_ne_bytes())
}

/// FNV-1a: tiny, and the same on every machine and in every version. The key itself is compared too.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Draft {
    /// Appends the message, and whatever it moves, in one transaction.
    fn post(
        &self,
        tx: &mut Tx<'_>,
        (turns_max, window_ms): (i64, Option<i64>),
    ) -> Result<Change<PostMessageOutput>> {
        let mut thread = rules::lock(tx, self.thread_id, &self.caller, "post to")?;
        if let Some(original) = self.original(tx, &thread, window_ms)? {
            return Ok(Change::none(answer(&original)?));
        }
        if thread.status == ThreadStatus::Closed {
            return Err(Error::ThreadClosed);
        }
        let is_human = self.caller.role.is_human();
        if thread.paused.is_some() && !is_human {
            return Err(Error::ThreadPaused { turns: thread.agent_turns });
        }
        let reply_to = self.reply_to(tx, &thread)?;
        let step = self.step(tx, &thread)?;
        thread.head_seq += 1;
        // Time never runs backwards within a thread, whatever the clock does.
        thread.updated = thread.updated.max(self.at);
        let output = PostMessageOutput {
            message_id: MessageId::at(thread.updated, thread.row, thread.head_seq)
                .ok_or(Error::Conflict("this thread is full".to_owned()))?,
            seq: thread.head_seq,
            thread_status: step.map_or(thread.status, |(step, _)| step.to),
            created_at: thread.updated,
            thread_row: thread.row,
        };
        self.insert(tx, &thread, &output, reply_to)?;
        let moved = match step {
            Some((step, kind)) => self.make(tx, &mut thread, step, kind)?,
            None => None,
        };
        rules::count_turn(tx, &mut thread, (&self.caller, self.at), turns_max)?;
        tx.update_thread(&thread)?;
        let change = Change::of(output.message_id.to_string(), output);
        Ok(match moved {
            Some(detail) => change.with_detail(detail),
            None => change,
        })
    }

    /// Where the message moves the thread, if it does and its sender may.
    fn step<'a>(
        &'a self,
        tx: &mut Tx<'_>,
        thread: &ThreadRow,
    ) -> Result<Option<(Move<'a>, Transition)>> {
        let Some((to, reason)) = &self.moves_to else { return Ok(None) };
        let step = Move { to: *to, reason, by: &self.caller, at: self.at };
        let kind = rules::check_move(tx, thread, step)?;
        rules::require_reason(kind, step, ("body", "holds no line of text"))?;
        Ok(Some((step, kind)))
    }

    /// Moves the thread; answers what the audit trail says of it, unless it stood there.
    fn make(
        &self,
        tx: &mut Tx<'_>,
        thread: &mut ThreadRow,
        step: Move<'_>,
        kind: Transition,
    ) -> Result<Option<String>> {
        if kind == Transition::Unchanged {
            if !rules::share_block(tx, thread, step)? {
                return Ok(None);
            }
        } else {
            rules::apply_move(tx, thread, step, kind)?;
        }
        Ok(Some(rules::move_detail(step, kind, self.metadata.as_deref())))
    }

    fn insert(
        &self,
        tx: &mut Tx<'_>,
        thread: &ThreadRow,
        output: &PostMessageOutput,
        reply_to: Option<ReplyTo>,
    ) -> Result<()> {
        Ok(tx.insert_message(&NewMessage {
            thread_row: thread.row,
            seq: output.seq,
            created: output.created_at,
            kind: self.kind,
            trust: if self.caller.role.is_human() { Trust::Operator } else { Trust::Agent },
            sender: &self.caller.agent_id,
            session: &self.caller.session_id,
            body: &self.body,
            metadata: self.metadata.as_deref(),
            reply_to,
            idempotency: self.idempotency.as_ref().map(|(key, hash)| (key.as_str(), *hash)),
            status_after: output.thread_status,
        })?)
    }

    /// The message that was posted with this key before, if it says the same.
    fn original(
        &self,
        tx: &mut Tx<'_>,
        thread: &ThreadRow,
        window_ms: Option<i64>,
    ) -> Result<Option<MessageRow>> {
        let Some((key, hash)) = &self.idempotency else { return Ok(None) };
        let Some(found) = tx.message_by_key(thread.row, &self.caller.agent_id, key, *hash)? else {
            return Ok(None);
        };
        if window_ms.is_some_and(|window| self.at.ms_since(found.created) > window) {
            return Ok(None);
        }
        let before = Content {
            kind: found.kind,
            body: &found.body,
            metadata: found.metadata.as_deref(),
            in_reply_to: found.reply_id()?,
        };
        let now = Content {
            kind: self.kind,
            body: &self.body,
            metadata: self.metadata.as_deref(),
            in_reply_to: self.in_reply_to,
        };
        if before.digest() == now.digest() {
            return Ok(Some(found));
        }
        Err(Error::IdempotencyConflict { seq: Some(found.seq) })
    }

    /// The message this one answers must stand in the same thread.
    fn reply_to(&self, tx: &mut Tx<'_>, thread: &ThreadRow) -> Result<Option<ReplyTo>> {
        const MISSING: Error = Error::NotFound { what: "message in_reply_to" };
        let Some(id) = self.in_reply_to else { return Ok(None) };
        let (created, row, seq) = id.place();
        if row != thread.row {
            return Err(MISSING);
        }
        match tx.message(row, seq)? {
            Some(message) if message.created == created => Ok(Some(ReplyTo { seq, created })),
            _ => Err(MISSING),
        }
    }
}

fn answer(original: &MessageRow) -> Result<PostMessageOutput> {
    Ok(PostMessageOutput {
        message_id: original.id()?,
        seq: original.seq,
        thread_status: original.status_after,
        created_at: original.created,
        thread_row: original.thread_row,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_move_is_the_first_line_that_says_something() {
        assert_eq!(reason_in("superseded\nby #7"), "superseded");
        assert_eq!(reason_in("\n \r\n\u{2028}\t superseded\u{85}by #7"), "superseded");
        assert_eq!(reason_in("a\u{1b}[2Jb"), "a [2Jb");
        assert_eq!(reason_in(" \n\r "), "");
        let whole = "ä".repeat(limits::REASON_CHARS_MAX);
        assert_eq!(reason_in(&whole), whole);
        let cut = reason_in(&format!("{whole}ä"));
        assert_eq!(cut.chars().count(), limits::REASON_CHARS_MAX);
        assert!(cut.ends_with("ä…"));
    }

    #[test]
    fn the_key_hash_never_changes() {
        // Stored in every database: a change here would let retries post twice.
        assert_eq!(
            key_hash("reviewer_agent", "rv-find-219-1"),
            key_hash("reviewer_agent", "rv-find-219-1")
        );
        assert_ne!(key_hash("a", "bc"), key_hash("ab", "c"));
        assert_eq!(key_hash("", ""), -5_808_590_958_014_384_161);
    }
}
