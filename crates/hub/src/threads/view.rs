//! How stored messages are shown to callers.

use protocol::message::SCHEMA_VERSION;
use protocol::{Message, ThreadId, validate};
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
    let about = message.metadata.as_deref();
    let about = about.map_or_else(String::new, |facts| format!(" {}", indented(facts.get())));
    format!(
        "#{} {} {} ({}){about}: {}\n",
        message.seq,
        message.created_at,
        message.sender_agent_id,
        message.kind.name(),
        indented(&message.body),
    )
}

/// A text whose further lines are indented, whatever breaks them.
pub(crate) fn indented(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive(validate::breaks_line) {
        // A carriage return and a line feed are one break.
        let is_rest = shown.ends_with('\r') && line.starts_with('\n');
        if !shown.is_empty() && !is_rest {
            shown.push_str("    ");
        }
        shown.push_str(line);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_breaks_a_line_is_indented_after() {
        assert_eq!(indented("one"), "one");
        assert_eq!(indented("one\ntwo\n\nthree\n"), "one\n    two\n    \n    three\n");
        assert_eq!(indented("one\r\ntwo\rthree"), "one\r\n    two\r    three");
        assert_eq!(indented("\u{2028}one\u{2029}two"), "\u{2028}    one\u{2029}    two");
        assert_eq!(indented("one\u{85}\u{b}\u{c}two"), "one\u{85}    \u{b}    \u{c}    two");
    }
}
