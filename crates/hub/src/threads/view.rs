//! How stored messages are shown to callers.

use protocol::message::SCHEMA_VERSION;
use protocol::{Message, ThreadId};
use serde_json::value::RawValue;
use store::MessageRow;

use crate::error::{Error, Result};

/// A stored message as callers see it.
pub(crate) fn message(thread_id: ThreadId, row: MessageRow) -> Result<Message> {
    Ok(Message {
        message_id: row.id()?,
        in_reply_to: row.reply_id()?,
        thread_id,
        schema_version: SCHEMA_VERSION,
        seq: row.seq,
        sender_agent_id: row.sender,
        sender_session_id: row.session,
        kind: row.kind,
        body: row.body,
        metadata: row
            .metadata
            .map(RawValue::from_string)
            .transpose()
            .map_err(|error| Error::Internal(Box::new(error)))?,
        idempotency_key: row.idempotency_key,
        trust: row.trust,
        created_at: row.created,
    })
}

/// Messages for a model or a person: one block each, with number, sender and kind first.
///
/// A body cannot forge such a head: its further lines are indented.
pub(crate) fn lines<'a>(messages: impl IntoIterator<Item = &'a Message>) -> String {
    messages.into_iter().map(line).collect()
}

fn line(message: &Message) -> String {
    let about = message.metadata.as_deref().map_or_else(String::new, |m| format!(" {}", m.get()));
    format!(
        "#{} {} {} ({}){about}: {}\n",
        message.seq,
        message.created_at,
        message.sender_agent_id,
        message.kind.name(),
        message.body.replace('\n', "\n    "),
    )
}
