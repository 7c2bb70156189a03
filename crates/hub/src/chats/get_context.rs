//! What was said around a message.

use std::sync::Arc;

use protocol::{Caller, MessageId, Scope, Timestamp, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ChatMessageRow, ChatRow, ChatSpan, LinkRow, Tx};

use super::coverage::{self, Coverage};
use super::rules::Range;
use super::view::{self, ChatMessage, Shower};
use super::{TOOLSET, sight};
use crate::audit::Object;
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
    /// Whether fewer messages are here than were asked for, although there are more: they are long.
    truncated: bool,
    /// How much of this stretch is held at all.
    #[serde(flatten)]
    coverage: Coverage,
}

impl Operation for GetContext {
    const NAME: &'static str = "get_context";
    const ROUTE: Route = Route::get("/v1/chats/messages/{message_id}/context");
    const SCOPE: Scope = Scope::ChatsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = GetContextOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.message_id)
    }

    async fn run(self, call: &Call) -> Result<GetContextOutput> {
        let id: MessageId = self.message_id.parse().map_err(|_| MISSING)?;
        let (before, after) = (count("before", self.before)?, count("after", self.after)?);
        let (caller, now) = (call.shared_caller(), call.now());
        call.read(move |tx| context(tx, &caller, id, (before, after), now)).await
    }

    fn brief(output: &GetContextOutput) -> String {
        view::text(&output.messages)
    }
}

pub(super) const MISSING: Error = Error::NotFound { what: "message" };
const COUNT_DEFAULT: u32 = 10;
/// Bytes of the messages on each side.
const SIDE_BYTES_MAX: usize = limits::PAGE_BYTES_MAX / 2;

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
    (before, after): (usize, usize),
    now: Timestamp,
) -> Result<GetContextOutput> {
    let (sent, thread_row, seq) = id.place();
    let found = tx.chat_message_at(thread_row, seq)?.filter(|row| row.sent == sent);
    let message = found.ok_or(MISSING)?;
    let (link, chat) = visible(tx, caller, thread_row)?;
    let links = [link];
    let place = (sent.as_ms(), seq);
    let span = ChatSpan { since_ms: 0, before: place };
    let earlier = tx.chat_messages(thread_row, span, 0, before + 1, SIDE_BYTES_MAX)?;
    let later = tx.chat_messages_after(thread_row, place, after + 1, SIDE_BYTES_MAX)?;
    let (mut rows, has_earlier, is_cut_before) = side(earlier, before);
    let (later, has_later, is_cut_after) = side(later, after);
    rows.reverse();
    rows.push(message);
    rows.extend(later);
    // What lies beyond the stretch is not part of the question, unless the chat ends there.
    let range = Range {
        since: rows.first().filter(|_| has_earlier).map(|row| row.sent),
        before: rows.last().filter(|_| has_later).map(|row| row.sent.plus_ms(1)),
    };
    let coverage = coverage::of(tx, std::slice::from_ref(&chat), range, now)?;
    let versions = versions(tx, thread_row, seq)?;
    let messages = shown(tx, caller, &links, rows)?;
    let truncated = is_cut_before || is_cut_after;
    Ok(GetContextOutput { messages, versions, has_earlier, has_later, truncated, coverage })
}

/// One side of the message: what is shown of it, whether there is more, and whether that is because
/// the messages are long.
fn side(mut rows: Vec<ChatMessageRow>, wanted: usize) -> (Vec<ChatMessageRow>, bool, bool) {
    let is_cut = rows.len() <= wanted
        && rows.iter().map(ChatMessageRow::bytes).sum::<usize>() >= SIDE_BYTES_MAX;
    let has_more = is_cut || rows.len() > wanted;
    rows.truncate(wanted);
    (rows, has_more, is_cut)
}

/// A chat and its source, if the caller may see both.
pub(super) fn visible(
    tx: &mut Tx<'_>,
    caller: &Caller,
    thread_row: i64,
) -> Result<(LinkRow, ChatRow)> {
    let chat = tx.chat(thread_row)?.ok_or(MISSING)?;
    let links = sight::sources(tx, caller)?;
    let link = links.into_iter().find(|link| link.row == chat.link_row).ok_or(MISSING)?;
    if !caller.chats.sees(&link.name, &chat.remote_id) {
        return Err(MISSING);
    }
    Ok((link, chat))
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
