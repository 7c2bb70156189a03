//! Acknowledging what one has read.

use protocol::{MessageId, Scope, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::CursorRow;

use super::rules;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::wakes::life;

/// Acknowledge that you have read a thread up to a message. The mark only moves forward.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AckRead {
    /// The thread.
    thread_id: String,
    /// Everything up to this number has been read.
    #[schemars(range(min = 0))]
    last_read_seq: i64,
    /// Optional: must match your token.
    agent_id: Option<String>,
}

/// The mark as it stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AckReadOutput {
    /// Always true.
    ok: bool,
    /// When the mark was moved.
    updated_at: Timestamp,
    /// The message it stands at.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_acked_message_id: Option<MessageId>,
    #[serde(skip)]
    has_ended_wake: bool,
}

impl Operation for AckRead {
    const NAME: &'static str = "ack_read";
    const ROUTE: Route = Route::put("/v1/threads/{thread_id}/cursor");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    type Output = AckReadOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<AckReadOutput> {
        rules::claim("agent_id", self.agent_id.as_deref(), &call.caller().agent_id)?;
        let id = rules::thread_id(&self.thread_id)?;
        if self.last_read_seq < 0 {
            return Err(Error::invalid("last_read_seq", "must not be negative"));
        }
        let (caller, seq, now) = (call.shared_caller(), self.last_read_seq, call.now());
        let means = call.hub.wake_means();
        let output = call
            .write(move |tx| {
                // Two acknowledgements of one reader must not overtake each other.
                let thread = rules::lock(tx, id, &caller, "read")?;
                if seq > thread.head_seq {
                    return Err(Error::invalid(
                        "last_read_seq",
                        format_args!(
                            "must not exceed the thread's newest message, {}",
                            thread.head_seq
                        ),
                    ));
                }
                let before = tx.cursor(thread.row, &caller.agent_id)?;
                let stands_at = before.as_ref().map_or(0, |cursor| cursor.last_read_seq);
                if seq < stands_at {
                    return Err(Error::invalid(
                        "last_read_seq",
                        format_args!("must not go back: you have acknowledged {stands_at}"),
                    ));
                }
                if let Some(cursor) = before.filter(|cursor| cursor.last_read_seq == seq) {
                    return Ok(Change::none(answer(&cursor)));
                }
                let last_read = match seq {
                    0 => Timestamp::from_ms(0),
                    _ => {
                        tx.message(thread.row, seq)?
                            .ok_or(Error::NotFound { what: "message" })?
                            .created
                    }
                };
                let cursor = CursorRow {
                    thread_row: thread.row,
                    agent: caller.agent_id.clone(),
                    last_read_seq: seq,
                    last_read,
                    updated: now,
                };
                tx.set_cursor(&cursor)?;
                let place = (thread.row, caller.agent_id.as_str());
                let mut output = answer(&cursor);
                output.has_ended_wake = life::acknowledged(tx, place, seq, now, &means)?;
                Ok(Change::of(format!("{id}#{seq}"), output))
            })
            .await?;
        if output.has_ended_wake {
            let caller = call.caller();
            call.hub.wakes.ring(&caller.workspace_id, &caller.agent_id);
        }
        Ok(output)
    }

    fn brief(output: &AckReadOutput) -> String {
        match output.last_acked_message_id {
            Some(id) => format!("acknowledged up to {id}"),
            None => "acknowledged nothing yet".to_owned(),
        }
    }
}

fn answer(cursor: &CursorRow) -> AckReadOutput {
    AckReadOutput {
        ok: true,
        updated_at: cursor.updated,
        last_acked_message_id: cursor.message_id(),
        has_ended_wake: false,
    }
}
