//! What adding and removing participants share: saying so in the thread, and the answer.

use protocol::{ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ThreadRow, Tx};

use super::rules;
use crate::call::Change;
use crate::error::Result;

/// Who takes part now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParticipantsOutput {
    /// The thread.
    pub(crate) thread_id: ThreadId,
    /// Everyone who takes part.
    pub(crate) participants: Vec<String>,
    #[serde(skip)]
    pub(crate) thread_row: i64,
}

impl ParticipantsOutput {
    /// The answer in a few words.
    pub(crate) fn brief(&self) -> String {
        format!("{} has {}", self.thread_id, self.participants.join(", "))
    }
}

/// Nobody came or went.
pub(crate) fn unchanged(
    thread: &ThreadRow,
    participants: Vec<String>,
) -> Change<ParticipantsOutput> {
    let (thread_id, thread_row) = (thread.id, thread.row);
    Change::none(ParticipantsOutput { thread_id, participants, thread_row })
}

/// Says in the thread who came or went, and answers who takes part now.
pub(crate) fn changed(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    (verb, by): (&str, &str),
    names: &[&str],
    at: Timestamp,
) -> Result<Change<ParticipantsOutput>> {
    let body = format!("{by} {verb} {}", names.join(", "));
    let metadata = serde_json::json!({
        "event_type": format!("participants_{verb}"), "participants": names, "by": by,
    })
    .to_string();
    rules::say(tx, thread, at, &body, &metadata)?;
    tx.update_thread(thread)?;
    let participants = tx.participants(thread.row)?;
    let (thread_id, thread_row) = (thread.id, thread.row);
    let output = ParticipantsOutput { thread_id, participants, thread_row };
    Ok(Change::of(thread_id.to_string(), output).with_detail(metadata))
}
