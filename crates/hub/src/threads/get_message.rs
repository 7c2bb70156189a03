//! Looking at one message: who has read it, and what refers to it.

use protocol::{Message, MessageId, Scope, Timestamp, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{rules, view};
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Get one message, who has acknowledged it, and what answers it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetMessage {
    /// The thread.
    thread_id: String,
    /// The message.
    message_id: String,
}

/// A message and its life so far.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetMessageOutput {
    /// The message.
    message: Message,
    /// Who has acknowledged it.
    read_by: Vec<Reader>,
    /// The messages that answer it, the first 100.
    referenced_by: Vec<Reference>,
}

/// Somebody who has acknowledged a message.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reader {
    /// Who.
    agent_id: String,
    /// When its mark was last moved.
    acked_at: Timestamp,
}

/// A message that answers another.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Reference {
    /// The message.
    message_id: MessageId,
    /// Its number.
    seq: i64,
    /// Who sent it.
    sender_agent_id: String,
}

impl Operation for GetMessage {
    const NAME: &'static str = "get_message";
    const ROUTE: Route = Route::get("/v1/threads/{thread_id}/messages/{message_id}");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    type Output = GetMessageOutput;

    fn object(&self) -> Object<'_> {
        Object::Named(format!("{}/{}", self.thread_id, self.message_id).into())
    }

    async fn run(self, call: &Call) -> Result<GetMessageOutput> {
        const MISSING: Error = Error::NotFound { what: "message" };
        let thread_id = rules::thread_id(&self.thread_id)?;
        let id: MessageId = self.message_id.parse().map_err(|_| MISSING)?;
        let caller = call.shared_caller();
        call.read(move |tx| {
            let thread = rules::enter(tx, thread_id, &caller, "read")?;
            let (created, row, seq) = id.place();
            let found = (row == thread.row).then(|| tx.message(row, seq)).transpose()?.flatten();
            let found = found.filter(|found| found.created == created).ok_or(MISSING)?;
            let read_by = tx.cursors(row)?.into_iter().filter(|c| c.last_read_seq >= seq);
            let read_by = read_by.map(|c| Reader { agent_id: c.agent, acked_at: c.updated });
            let mut referenced_by = Vec::new();
            for reply in tx.replies(row, seq, limits::REFERENCES_MAX)? {
                referenced_by.push(Reference {
                    message_id: reply.id()?,
                    seq: reply.seq,
                    sender_agent_id: reply.sender,
                });
            }
            Ok(GetMessageOutput {
                message: view::message(thread_id, found)?,
                read_by: read_by.collect(),
                referenced_by,
            })
        })
        .await
    }

    fn brief(output: &GetMessageOutput) -> String {
        let readers: Vec<&str> = output.read_by.iter().map(|r| r.agent_id.as_str()).collect();
        let answers: Vec<String> =
            output.referenced_by.iter().map(|r| format!("#{}", r.seq)).collect();
        let or_none = |text: String| if text.is_empty() { "nobody".to_owned() } else { text };
        format!(
            "{}read by {}; answered by {}",
            view::lines(std::slice::from_ref(&output.message)),
            or_none(readers.join(", ")),
            or_none(answers.join(", ")),
        )
    }
}
