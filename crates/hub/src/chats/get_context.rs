//! What was said around a message.

use std::sync::Arc;

use protocol::{Caller, MessageId, Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ChatMessageRow, ChatSpan, LinkRow, Tx};

use super::view::{self, ChatMessage, Shower};
use super::{TOOLSET, sight};
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Read what was said in a chat around one message, in the order of time.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetContext {
    /// The message's `id`, from `get_messages`.
    message_id: String,
    /// How many messages before it, default 10, at most 100.
    #[schemars(range(min = 0, max = limits::chats::CONTEXT_MAX))]
    before: Option<u32>,
    /// How many messages after it, default 10, at most 100.
    #[schemars(range(min = 0, max = limits::chats::CONTEXT_MAX))]
    after: Option<u32>,
}

/// A stretch of a chat.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetContextOutput {
    /// The messages, the oldest first.
    messages: Vec<ChatMessage>,
    /// Earlier texts of the message itself, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    versions: Vec<String>,
    /// Whether there are messages before these.
    has_earlier: bool,
    /// Whether there are messages after these.
    has_later: bool,
}

impl Operation for GetContext {
    const NAME: &'static str = "get_context";
    const ROUTE: Route = Route::get("/v1/chats/messages/{message_id}/context");
    const SCOPE: Scope = Scope::ChatsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = GetContextOutput;

    async fn run(self, call: &Call) -> Result<GetContextOutput> {
        let id: MessageId = self.message_id.parse().map_err(|_| MISSING)?;
        let (before, after) = (count("before", self.before)?, count("after", self.after)?);
        let caller = call.shared_caller();
        call.read(move |tx| context(tx, &caller, id, before, after)).await
    }

    fn brief(output: &GetContextOutput) -> String {
        view::text(&output.messages)
    }
}

pub(super) const MISSING: Error = Error::NotFound { what: "message" };
const COUNT_DEFAULT: u32 = 10;

fn count(field: &str, count: Option<u32>) -> Result<usize> {
    let max = limits::chats::CONTEXT_MAX;
    let count = count.unwrap_or(COUNT_DEFAULT);
    if count > max {
        return Err(Error::invalid(field, format_args!("must be at most {max}")));
    }
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

fn context(
    tx: &mut Tx<'_>,
    caller: &Arc<Caller>,
    id: MessageId,
    before: usize,
    after: usize,
) -> Result<GetContextOutput> {
    let (sent, thread_row, seq) = id.place();
    let found = tx.chat_message_at(thread_row, seq)?.filter(|row| row.sent == sent);
    let message = found.ok_or(MISSING)?;
    let links = vec![visible(tx, caller, thread_row)?];
    let place = (sent.as_ms(), seq);
    let span = ChatSpan { since_ms: 0, before: place };
    let bytes_max = limits::PAGE_BYTES_MAX;
    let mut rows = tx.chat_messages(thread_row, span, 0, before + 1, bytes_max)?;
    let has_earlier = rows.len() > before;
    rows.truncate(before);
    rows.reverse();
    rows.push(message);
    let mut later = tx.chat_messages_after(thread_row, place, after + 1)?;
    let has_later = later.len() > after;
    later.truncate(after);
    rows.extend(later);
    let versions = versions(tx, thread_row, seq)?;
    let messages = shown(tx, caller, &links, rows)?;
    Ok(GetContextOutput { messages, versions, has_earlier, has_later })
}

/// The source of a chat, if the caller may see both.
pub(super) fn visible(tx: &mut Tx<'_>, caller: &Caller, thread_row: i64) -> Result<LinkRow> {
    let chat = tx.chat(thread_row)?.ok_or(MISSING)?;
    let links = sight::sources(tx, caller)?;
    let link = links.into_iter().find(|link| link.row == chat.link_row).ok_or(MISSING)?;
    if !caller.chats.sees(&link.name, &chat.remote_id) {
        return Err(MISSING);
    }
    Ok(link)
}

fn versions(tx: &mut Tx<'_>, thread_row: i64, seq: i64) -> Result<Vec<String>> {
    let changes = tx.chat_message_changes(thread_row, seq, limits::chats::VERSIONS_MAX)?;
    let texts = changes.into_iter().filter_map(|change| change.body);
    Ok(texts.map(|text| protocol::chat::clean::clean(&text).into_owned()).collect())
}

fn shown(
    tx: &mut Tx<'_>,
    caller: &Caller,
    links: &[LinkRow],
    rows: Vec<ChatMessageRow>,
) -> Result<Vec<ChatMessage>> {
    let mut shower = Shower::new(links);
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows {
        messages.extend(shower.show(tx, &caller.workspace_id, row)?);
    }
    Ok(messages)
}
