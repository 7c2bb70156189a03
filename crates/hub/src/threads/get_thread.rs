//! Looking at a thread.

use protocol::{ParticipantCursor, Scope, Thread, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::audit::Object;
use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};

/// Get a thread: what it is about, where it stands, who takes part and how far each has read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetThread {
    /// The thread.
    thread_id: String,
}

/// A thread.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetThreadOutput {
    #[serde(flatten)]
    thread: Thread,
    /// The number of its newest message; 0 when there is none.
    head_seq: i64,
    /// Since when the loop guard holds it, if it does: agents talked too long without a human.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused_at: Option<Timestamp>,
    /// How far each reader has read.
    cursors: Vec<ParticipantCursor>,
}

impl Operation for GetThread {
    const NAME: &'static str = "get_thread";
    const ROUTE: Route = Route::get("/v1/threads/{thread_id}");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    const IS_BRIEF: bool = true;
    type Output = GetThreadOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<GetThreadOutput> {
        let id = rules::thread_id(&self.thread_id)?;
        let caller = call.shared_caller();
        call.read(move |tx| {
            let row = rules::enter(tx, id, &caller, "read")?;
            let cursors = tx.cursors(row.row)?.into_iter().map(|cursor| ParticipantCursor {
                thread_id: id,
                last_acked_message_id: cursor.message_id(),
                agent_id: cursor.agent,
                last_read_seq: cursor.last_read_seq,
                updated_at: cursor.updated,
            });
            Ok(GetThreadOutput {
                cursors: cursors.collect(),
                head_seq: row.head_seq,
                paused_at: row.paused,
                thread: Thread {
                    thread_id: row.id,
                    workspace_id: row.workspace,
                    title: row.title,
                    thread_type: row.thread_type,
                    status: row.status,
                    participants: tx.participants(row.row)?,
                    created_by: row.created_by,
                    created_at: row.created,
                    updated_at: row.updated,
                },
            })
        })
        .await
    }

    fn brief(output: &GetThreadOutput) -> String {
        let paused = if output.paused_at.is_some() { ", paused" } else { "" };
        format!(
            "{} \"{}\" ({}{paused}): {} messages, participants {}",
            output.thread.thread_id,
            output.thread.title,
            output.thread.status,
            output.head_seq,
            output.thread.participants.join(", "),
        )
    }
}
