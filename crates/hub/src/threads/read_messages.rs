//! Reading a thread.

use protocol::{Message, Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ThreadRow, Tx};

use super::{rules, view};
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// Read the messages of a thread in order, after a number. Without `since_seq` it reads on from where
/// you last acknowledged with `ack_read`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadMessages {
    /// The thread.
    thread_id: String,
    /// Read what comes after this number; 0 reads from the beginning.
    #[schemars(range(min = 0))]
    since_seq: Option<i64>,
    /// How many messages, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// Optional: must match your token.
    agent_id: Option<String>,
}

/// Messages in order.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessagesPage {
    /// The messages.
    pub(crate) messages: Vec<Message>,
    /// Pass this as `since_seq` to read on.
    pub(crate) next_seq: i64,
    /// Whether there is more to read right now.
    pub(crate) has_more: bool,
}

impl Operation for ReadMessages {
    const NAME: &'static str = "read_messages";
    const ROUTE: Route = Route::get("/v1/threads/{thread_id}/messages");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    const IS_BRIEF: bool = true;
    type Output = MessagesPage;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<MessagesPage> {
        rules::claim("agent_id", self.agent_id.as_deref(), &call.caller().agent_id)?;
        let id = rules::thread_id(&self.thread_id)?;
        let limit = page::size(self.limit)?;
        let since = since_seq(self.since_seq)?;
        let caller = call.shared_caller();
        call.read(move |tx| {
            let thread = rules::enter(tx, id, &caller, "read")?;
            let since = match since {
                Some(since) => since,
                None => tx.cursor(thread.row, &caller.agent_id)?.map_or(0, |c| c.last_read_seq),
            };
            page(tx, &thread, since, limit)
        })
        .await
    }

    fn brief(output: &MessagesPage) -> String {
        if output.messages.is_empty() {
            return format!("no messages after #{}", output.next_seq);
        }
        let more = if output.has_more { "(there is more: read on from next_seq)\n" } else { "" };
        format!("{}{more}", view::lines(&output.messages))
    }
}

/// A starting number is not negative.
pub(crate) fn since_seq(asked: Option<i64>) -> Result<Option<i64>> {
    match asked {
        Some(since) if since < 0 => Err(Error::invalid("since_seq", "must not be negative")),
        since => Ok(since),
    }
}

/// The page of a thread after a number.
pub(crate) fn page(
    tx: &mut Tx<'_>,
    thread: &ThreadRow,
    since: i64,
    limit: usize,
) -> Result<MessagesPage> {
    let rows = tx.messages_after(thread.row, since, limit, limits::PAGE_BYTES_MAX)?;
    let next_seq = rows.last().map_or(since, |row| row.seq);
    let messages =
        rows.into_iter().map(|row| view::message(thread.id, row)).collect::<Result<Vec<_>>>()?;
    Ok(MessagesPage {
        has_more: !messages.is_empty() && next_seq < thread.head_seq,
        messages,
        next_seq,
    })
}
