//! Finding messages: straight from a chat where nothing but time is asked, from the index otherwise.

use std::sync::Arc;
use std::time::Duration;

use protocol::chat::ContentType;
use protocol::{Caller, Scope, limits};
use store::{
    ChatMessageRow, ChatRow, ChatSpan, ContainmentFilter, ContainmentQuery, ContainmentScope,
    LinkRow, Place, RankedQuery, Tx,
};

use super::coverage::{self, Coverage};
use super::rules::{self, Cursor, Range};
use super::sight;
use super::view::{ChatMessage, Shower};
use crate::call::Call;
use crate::error::{Error, Result};

/// How long an answer waits for the index to take in what arrived before.
const CATCH_UP: Duration = Duration::from_millis(500);
const CATCH_UP_STEP: Duration = Duration::from_millis(2);

/// Which messages are asked for; all conditions must hold.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) caller: Arc<Caller>,
    pub(crate) source: Option<String>,
    pub(crate) chat: Option<String>,
    pub(crate) sender: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) content_types: Vec<ContentType>,
    pub(crate) range: Range,
    pub(crate) offline: bool,
    pub(crate) order: Order,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
    pub(crate) cursor: Option<Cursor>,
}

/// In which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// The newest first.
    #[default]
    Newest,
    /// The best first.
    Relevance,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) next: Option<Cursor>,
    pub(crate) truncated: bool,
    pub(crate) index_behind: bool,
    pub(crate) coverage: Coverage,
}

/// The sources and chats that a question is about.
pub(crate) struct Places {
    pub(crate) links: Vec<LinkRow>,
    pub(crate) chats: Vec<ChatRow>,
    senders: Option<Vec<String>>,
    /// Every chat of the workspace, so that none has to be named.
    is_everything: bool,
}

/// Finds messages.
pub(crate) async fn find(call: &Call, asked: Asked) -> Result<Found> {
    if asked.search.is_some() && !asked.caller.scopes.has(Scope::ChatsSearch) {
        return Err(Error::MissingScope { scope: Scope::ChatsSearch });
    }
    let asked = Arc::new(asked);
    let (hub, question) = (Arc::clone(&call.hub), Arc::clone(&asked));
    let places = call
        .read(move |tx| {
            let places = places(tx, &question)?;
            if question.source.is_some() {
                for link in &places.links {
                    rules::require_connected(&hub, link, question.offline)?;
                }
            }
            Ok(places)
        })
        .await?;
    let needs_index = asked.search.is_some()
        || asked.sender.is_some()
        || !asked.content_types.is_empty()
        || asked.chat.is_none();
    let (rows, mut found) = if needs_index {
        from_index(call, &asked, &places).await?
    } else {
        (Rows::Chat, Found::default())
    };
    let now = call.now();
    let (messages, next, coverage) = call
        .read(move |tx| {
            let (rows, next) = match &rows {
                Rows::Found(rows) => (load(tx, rows)?, None),
                Rows::Chat => from_chat(tx, &asked, &places)?,
            };
            let coverage = coverage::of(tx, &places.chats, asked.range, now)?;
            let mut shower = Shower::new(&places.links);
            let mut messages = Vec::with_capacity(rows.len());
            for row in rows {
                messages.extend(shower.show(tx, &asked.caller.workspace_id, row)?);
            }
            Ok((messages, next, coverage))
        })
        .await?;
    found.messages = messages;
    found.next = found.next.or(next);
    found.coverage = coverage;
    Ok(found)
}

/// Kinds of content by their names.
pub(crate) fn content_types(names: &[String]) -> Result<Vec<ContentType>> {
    let kind = |name: &String| {
        ContentType::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<&str> = ContentType::ALL.iter().map(|kind| kind.name()).collect();
            Error::invalid_hint(
                "content_type",
                "is not known",
                format!("known are {}", known.join(", ")),
            )
        })
    };
    names.iter().map(kind).collect()
}

/// Where to look.
pub(crate) fn places(tx: &mut Tx<'_>, asked: &Asked) -> Result<Places> {
    let links = match &asked.source {
        Some(name) => vec![sight::source(tx, &asked.caller, name)?],
        None => sight::sources(tx, &asked.caller)?,
    };
    let mut chats = Vec::new();
    match (&asked.chat, links.as_slice()) {
        (Some(chat), [link]) => chats.push(sight::chat(tx, &asked.caller, link, chat)?),
        (Some(_), _) => {
            return Err(Error::invalid_hint(
                "chat",
                "goes together with source",
                "list_sources shows the sources you see",
            ));
        }
        (None, links) => {
            for link in links {
                chats.extend(sight::chats(tx, &asked.caller, link)?);
            }
        }
    }
    let senders = match &asked.sender {
        Some(sender) => {
            Some(sight::sender_aliases(tx, &asked.caller.workspace_id, &links, &chats, sender)?)
        }
        None => None,
    };
    let is_everything =
        asked.source.is_none() && asked.caller.chats == protocol::chat::ChatGrant::All;
    Ok(Places { links, chats, senders, is_everything })
}

enum Rows {
    /// These rows, in this order.
    Found(Vec<i64>),
    /// Whatever the one chat holds.
    Chat,
}

async fn from_index(call: &Call, asked: &Asked, places: &Places) -> Result<(Rows, Found)> {
    let index_behind = !catch_up(call).await?;
    let scope = if places.is_everything {
        ContainmentScope::Workspace
    } else {
        ContainmentScope::Threads(places.chats.iter().map(|chat| chat.thread_row).collect())
    };
    let code = |kind: &ContentType| u16::try_from(kind.code()).unwrap_or(u16::MAX);
    let filter = ContainmentFilter {
        workspace: asked.caller.workspace_id.clone(),
        scope,
        denied_threads: Vec::new(),
        senders: places.senders.clone(),
        content_types: (!asked.content_types.is_empty())
            .then(|| asked.content_types.iter().map(code).collect()),
        since: asked.range.since,
        before: asked.range.before,
    };
    let text = asked.search.clone().unwrap_or_default();
    let work_max = limits::containment::WORK_MAX;
    let index = &call.hub.containment;
    if asked.order == Order::Relevance {
        let query = RankedQuery { text, filter, limit: asked.limit, work_max };
        let page = index.find_ranked(query).await.map_err(explain)?;
        let rows = page.hits.iter().map(|ranked| ranked.hit.row).collect();
        let truncated = page.truncated;
        return Ok((Rows::Found(rows), Found { truncated, index_behind, ..Found::default() }));
    }
    let page = index
        .find(ContainmentQuery {
            needle: text,
            filter,
            after: asked.cursor.map(|cursor| Place { sent: cursor.sent, row: cursor.row }),
            limit: asked.limit,
            offset: asked.offset.max(asked.cursor.map_or(0, |cursor| cursor.skip)),
            work_max,
        })
        .await
        .map_err(explain)?;
    let skip = page.offset_left;
    let next = page.next.map(|place| Cursor { sent: place.sent, row: place.row, skip });
    let rows = page.hits.iter().map(|hit| hit.row).collect();
    let found = Found { next, truncated: page.truncated, index_behind, ..Found::default() };
    Ok((Rows::Found(rows), found))
}

/// A question that the index cannot read is the caller's to mend.
fn explain(error: store::StoreError) -> Error {
    match &error {
        store::StoreError::BadQuery(reason) => Error::invalid("search", reason),
        _ => error.into(),
    }
}

fn load(tx: &mut Tx<'_>, rows: &[i64]) -> Result<Vec<ChatMessageRow>> {
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows {
        messages.extend(tx.chat_message_of_row(*row)?);
    }
    Ok(messages)
}

fn from_chat(
    tx: &mut Tx<'_>,
    asked: &Asked,
    places: &Places,
) -> Result<(Vec<ChatMessageRow>, Option<Cursor>)> {
    let Some(chat) = places.chats.first() else { return Ok((Vec::new(), None)) };
    let mut before = asked.range.before.map_or((i64::MAX, 0), |before| (before.as_ms(), 0));
    if let Some(cursor) = asked.cursor {
        let place = tx.chat_message_of_row(cursor.row)?;
        let seq = place.filter(|row| row.thread_row == chat.thread_row).map_or(0, |row| row.seq);
        before = before.min((cursor.sent.as_ms(), seq));
    }
    let since_ms = asked.range.since.map_or(0, protocol::Timestamp::as_ms);
    let span = ChatSpan { since_ms, before };
    let bytes_max = limits::PAGE_BYTES_MAX;
    // One more than asked for tells whether there is another page.
    let limit = asked.limit.saturating_add(1);
    let mut rows = tx.chat_messages(chat.thread_row, span, asked.offset, limit, bytes_max)?;
    let is_cut =
        rows.len() < limit && rows.iter().map(ChatMessageRow::bytes).sum::<usize>() >= bytes_max;
    let has_more = rows.len() > asked.limit || is_cut;
    rows.truncate(asked.limit);
    let last = rows.last().filter(|_| has_more);
    let next = last.map(|row| Cursor { sent: row.sent, row: row.row, skip: 0 });
    Ok((rows, next))
}

/// Waits a moment for the index to hold everything that is committed now.
async fn catch_up(call: &Call) -> Result<bool> {
    let (newest, changes) =
        call.read(|tx| Ok((tx.newest_message_row()?, tx.newest_change_row()?))).await?;
    let mut waited = Duration::ZERO;
    loop {
        let progress = call.hub.containment.progress();
        if progress.upto >= newest && progress.changes_upto >= changes {
            return Ok(true);
        }
        if waited >= CATCH_UP {
            return Ok(false);
        }
        tokio::time::sleep(CATCH_UP_STEP).await;
        waited += CATCH_UP_STEP;
    }
}
