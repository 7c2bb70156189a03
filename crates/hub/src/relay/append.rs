//! The one way in which an envelope is added to a thread.

use protocol::relay::Envelope;
use protocol::{MessageId, MessageKind, Metadata, Timestamp, Trust, limits, validate};
use store::{NewMessage, ReplyTo, ThreadRow, Tx};

use super::envelope;
use crate::error::{Checked, Error, Result};

/// Who speaks for the hub itself.
pub const HUB_SENDER: &str = protocol::caller::HUB_AGENT;
/// The session of what the hub says itself.
pub const HUB_SESSION: &str = "hub";

/// An envelope to be added to a thread.
#[derive(Clone, Copy, Debug)]
pub struct NewEnvelope<'a> {
    /// What is said. An empty `id` or `timestamp` was not given: the message has its own.
    pub envelope: &'a Envelope,
    /// Who says it: `slack:U123` at a service, an agent's id, or `waystation`.
    pub sender: &'a str,
    /// From which session.
    pub session: &'a str,
    /// Where it comes from.
    pub trust: Trust,
    /// The message it answers, in the same thread.
    pub reply_to: Option<ReplyTo>,
    /// The sender's key against doubled posts, and its hash.
    pub idempotency: Option<(&'a str, i64)>,
}

/// Where an envelope stands now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appended {
    /// Its number in the thread.
    pub seq: i64,
    /// The message it is.
    pub message_id: MessageId,
    /// When it was taken.
    pub created: Timestamp,
}

/// Adds an envelope to a thread, and writes the thread back. The caller has locked the thread, and tells
/// whoever watches it after the commit.
pub fn append(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    new: &NewEnvelope<'_>,
    now: Timestamp,
) -> Result<Appended> {
    append_as(tx, thread, new, &envelope::to_metadata(new.envelope), now)
}

/// The same, where what the message keeps of its envelope was written down before.
pub(super) fn append_as(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    new: &NewEnvelope<'_>,
    metadata: &str,
    now: Timestamp,
) -> Result<Appended> {
    check(new.envelope, metadata)?;
    thread.head_seq += 1;
    // Time never runs backwards within a thread, whatever the clock does.
    thread.updated = thread.updated.max(now);
    let appended = Appended {
        seq: thread.head_seq,
        message_id: MessageId::at(thread.updated, thread.row, thread.head_seq)
            .ok_or(Error::Conflict("this thread is full".to_owned()))?,
        created: thread.updated,
    };
    tx.insert_message(&NewMessage {
        thread_row: thread.row,
        seq: appended.seq,
        created: appended.created,
        kind: MessageKind::Chat,
        trust: new.trust,
        sender: new.sender,
        session: new.session,
        body: &new.envelope.content,
        metadata: Some(metadata),
        reply_to: new.reply_to,
        idempotency: new.idempotency,
        status_after: thread.status,
    })?;
    tx.update_thread(thread)?;
    Ok(appended)
}

/// What every message keeps to. The content of an envelope may be empty: a call of a tool says enough.
fn check(envelope: &Envelope, metadata: &str) -> Result<()> {
    if !envelope.content.is_empty() {
        validate::message_body(&envelope.content).field("content")?;
    }
    if metadata.len() > limits::METADATA_BYTES_MAX {
        return Err(Error::invalid_hint(
            "envelope",
            format_args!(
                "may have at most {} bytes beside its content",
                limits::METADATA_BYTES_MAX
            ),
            "put long text into content, and keep meta, context and tool_call short",
        ));
    }
    // Only what spells a NUL needs the longer look.
    if metadata.contains("\\u0000") {
        let parsed: Metadata =
            serde_json::from_str(metadata).map_err(|error| Error::Internal(Box::new(error)))?;
        parsed.check(metadata).field("envelope")?;
    }
    Ok(())
}
