//! Listing the chats of a source.

use std::sync::Arc;

use protocol::chat::ChatType;
use protocol::fold::fold;
use protocol::{Caller, Scope, Timestamp, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ChatRow, Tx};

use super::view::{self, ChatView};
use super::{TOOLSET, rules, sight};
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::links::LinkStatus;
use crate::operation::{Effect, Operation, Route};

/// List the chats of a source, the one where something was said last first.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListChats {
    /// The source's id, from `list_sources`.
    source: String,
    /// Only chats that fit.
    #[serde(default, deserialize_with = "protocol::object::optional")]
    filter: Option<ChatFilter>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<i64>,
    /// How many to pass over.
    #[schemars(range(min = 0, max = limits::chats::OFFSET_MAX))]
    offset: Option<i64>,
    /// Read the archive although the source is not connected.
    #[serde(default)]
    offline: bool,
}

/// Which chats; all conditions must hold.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ChatFilter {
    /// Only this chat, by its id or name; one that is not there is refused.
    chat: Option<String>,
    /// Only chats of this sort.
    chat_type: Option<ChatType>,
    /// Only chats with this text in their name, whatever its case.
    name_pattern: Option<String>,
    /// Only chats in which something was said since: `7d`, `yesterday`, `2025-01-13`.
    active_since: Option<String>,
}

/// A page of chats.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListChatsOutput {
    /// The chats.
    chats: Vec<ChatView>,
    /// Whether these are all chats there are at the source, as far as it tells.
    complete: bool,
    /// Whether more chats fit than are listed: ask with `offset`.
    truncated: bool,
}

impl Operation for ListChats {
    const NAME: &'static str = "list_chats";
    const ROUTE: Route = Route::get("/v1/sources/{source}/chats");
    const SCOPE: Scope = Scope::ChatsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ListChatsOutput;

    fn object(&self) -> Object<'_> {
        let filter = self.filter.as_ref();
        let chat = filter.and_then(|filter| filter.chat.as_deref());
        Object::Chat { source: Some(&self.source), chat }
    }

    async fn run(self, call: &Call) -> Result<ListChatsOutput> {
        let filter = self.filter.unwrap_or_default();
        let active_since = rules::range(call, filter.active_since.as_deref(), None)
            .map_err(|error| renamed(error, "filter.active_since"))?
            .since;
        let asked = Arc::new(Asked {
            caller: call.shared_caller(),
            now: call.now(),
            source: self.source,
            chat: filter.chat,
            chat_type: filter.chat_type,
            name_part: filter.name_pattern.map(|part| fold(&part).into_owned()),
            active_since,
            limit: rules::page_size(self.limit)?,
            offset: rules::offset(self.offset)?,
        });
        let (hub, offline) = (Arc::clone(&call.hub), self.offline);
        call.read(move |tx| {
            let link = sight::source(tx, &asked.caller, &asked.source)?;
            rules::require_connected(&hub, &link, offline)?;
            let state = rules::state(&hub, &link);
            let knows_all = state.status == LinkStatus::Archive || state.capabilities.chat_list;
            let (chats, truncated) = page(tx, &asked, &link)?;
            Ok(ListChatsOutput { chats, complete: knows_all && !truncated, truncated })
        })
        .await
    }

    fn brief(output: &ListChatsOutput) -> String {
        let line = |chat: &ChatView| {
            format!(
                "{} ({}, {} people, {} messages) id {}",
                chat.name, chat.chat_type, chat.participant_count, chat.message_count, chat.id
            )
        };
        let mut lines: Vec<String> = output.chats.iter().map(line).collect();
        if lines.is_empty() {
            lines.push("no chats".to_owned());
        }
        if output.truncated {
            lines.push("(there are more: ask with offset)".to_owned());
        }
        lines.join("\n")
    }
}

struct Asked {
    caller: Arc<Caller>,
    now: Timestamp,
    source: String,
    chat: Option<String>,
    chat_type: Option<ChatType>,
    name_part: Option<String>,
    active_since: Option<Timestamp>,
    limit: usize,
    offset: usize,
}

impl Asked {
    fn fits(&self, chat: &ChatRow) -> bool {
        self.chat_type.is_none_or(|wanted| chat.chat_type == wanted)
            && self.name_part.as_ref().is_none_or(|part| fold(&chat.name).contains(part.as_str()))
            && self.active_since.is_none_or(|since| chat.newest.is_some_and(|at| at >= since))
    }
}

fn page(tx: &mut Tx<'_>, asked: &Asked, link: &store::LinkRow) -> Result<(Vec<ChatView>, bool)> {
    let mut fitting = match &asked.chat {
        Some(chat) => vec![sight::chat(tx, &asked.caller, link, chat)?],
        None => sight::chats(tx, &asked.caller, link)?,
    };
    fitting.retain(|chat| asked.fits(chat));
    let truncated = fitting.len() > asked.offset.saturating_add(asked.limit);
    let mut chats = Vec::new();
    for chat in fitting.iter().skip(asked.offset).take(asked.limit) {
        chats.push(view::chat(tx, link, chat, asked.now)?);
    }
    Ok((chats, truncated))
}

fn renamed(error: Error, to: &str) -> Error {
    match error {
        Error::Invalid { field, message, hint } => {
            let message = message.replacen(&field, to, 1);
            Error::Invalid { field: to.to_owned(), message, hint }
        }
        other => other,
    }
}
