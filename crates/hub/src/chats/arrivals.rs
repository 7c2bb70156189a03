//! What arrives in chats, in the order of the log: new messages, and changes of old ones.

use std::collections::HashMap;
use std::sync::Arc;

use protocol::chat::{ContentType, clean};
use protocol::fold::fold;
use protocol::limits::chats::ARRIVALS_MAX;
use protocol::{Caller, Scope};
use store::{ChatMessageRow, ChatRow, LinkRow, Tx};

use super::details::Details;
use super::sight;
use crate::error::{Error, Result};

/// How far somebody has followed the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) message: i64,
    pub(crate) change: i64,
}

impl Position {
    /// The end of the log. On PostgreSQL a transaction that began earlier may still be writing before
    /// it; whoever reads up to here in a later transaction sees that too.
    pub(crate) fn now(tx: &mut Tx<'_>) -> Result<Self> {
        Ok(Self { message: tx.settled_message_row()?, change: tx.newest_change_row()? })
    }

    /// As callers carry it.
    pub(crate) fn to_text(self) -> String {
        format!("{:x}.{:x}", self.message, self.change)
    }

    /// As callers bring it back.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let part = |text: &str| i64::from_str_radix(text, 16).ok().filter(|part| *part >= 0);
        text.split_once('.')
            .and_then(|(message, change)| {
                Some(Self { message: part(message)?, change: part(change)? })
            })
            .ok_or_else(|| Error::invalid("after", "must be cursor of an earlier answer"))
    }
}

/// Which arrivals somebody wants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wanted {
    /// Of this source; of all when left out.
    pub(crate) source: Option<String>,
    /// Of this chat.
    pub(crate) chat: Option<String>,
    pub(crate) sender: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) content_types: Vec<ContentType>,
}

/// The same, looked up once.
#[derive(Clone, Debug)]
pub(crate) struct Interest {
    caller: Arc<Caller>,
    pub(crate) link_row: Option<i64>,
    pub(crate) thread_row: Option<i64>,
    sender: Option<Sender>,
    /// Folded.
    search: Option<String>,
    content_types: Vec<ContentType>,
}

#[derive(Clone, Debug)]
enum Sender {
    Aliases(Vec<String>),
    /// Nobody of that name has spoken yet.
    Named(String),
}

/// A message that arrived or changed, with where it stands.
pub(crate) struct Arrived {
    pub(crate) link: Arc<LinkRow>,
    pub(crate) chat: Arc<ChatRow>,
    pub(crate) message: ChatMessageRow,
    pub(crate) is_new: bool,
}

impl Interest {
    /// Looks up what is wanted; what the caller may not see is not there.
    pub(crate) fn of(tx: &mut Tx<'_>, caller: &Arc<Caller>, wanted: &Wanted) -> Result<Self> {
        for (scope, is_needed) in
            [(Scope::ChatsRead, true), (Scope::ChatsSearch, wanted.search.is_some())]
        {
            if is_needed && !caller.scopes.has(scope) {
                return Err(Error::MissingScope { scope });
            }
        }
        let link = match &wanted.source {
            Some(name) => Some(sight::source(tx, caller, name)?),
            None => None,
        };
        let chat = match (&wanted.chat, &link) {
            (Some(chat), Some(link)) => Some(sight::chat(tx, caller, link, chat)?),
            (Some(_), None) => return Err(Error::invalid("chat", "goes together with source")),
            (None, _) => None,
        };
        let sender = match &wanted.sender {
            None => None,
            Some(name) => Some(Self::sender(tx, caller, link.as_ref(), chat.as_ref(), name)?),
        };
        Ok(Self {
            caller: Arc::clone(caller),
            link_row: link.map(|link| link.row),
            thread_row: chat.map(|chat| chat.thread_row),
            sender,
            search: wanted.search.as_deref().map(|text| fold(text).into_owned()),
            content_types: wanted.content_types.clone(),
        })
    }

    fn sender(
        tx: &mut Tx<'_>,
        caller: &Caller,
        link: Option<&LinkRow>,
        chat: Option<&ChatRow>,
        name: &str,
    ) -> Result<Sender> {
        let links = match link {
            Some(link) => vec![link.clone()],
            None => sight::sources(tx, caller)?,
        };
        let mut chats: Vec<ChatRow> = chat.cloned().into_iter().collect();
        if chats.is_empty() {
            for link in &links {
                chats.extend(sight::chats(tx, caller, link)?);
            }
        }
        match sight::sender_aliases(tx, &caller.workspace_id, &links, &chats, name) {
            Ok(aliases) => Ok(Sender::Aliases(aliases)),
            Err(Error::InvalidParameter { .. }) => Ok(Sender::Named(name.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// What arrived after a position and up to an end that an earlier transaction saw, and the position
    /// behind it. Empty with a moved position means that what happened is not for this caller.
    pub(crate) fn after(
        &self,
        tx: &mut Tx<'_>,
        from: Position,
        end: Position,
    ) -> Result<(Vec<Arrived>, Position, bool)> {
        let rows = tx.chat_log_after(from.message, end.message, ARRIVALS_MAX)?;
        let is_full = rows.len() == ARRIVALS_MAX;
        let message = rows.last().filter(|_| is_full).map_or(end.message, |last| last.row);
        let mut changes = tx.changes_after(from.change, ARRIVALS_MAX)?;
        let is_full_of_changes = changes.len() == ARRIVALS_MAX;
        let last_change = changes.last().filter(|_| is_full_of_changes);
        let change = last_change.map_or(end.change, |last| last.row);
        changes.retain(|one| one.row <= change);
        let mut places = Places::default();
        let mut arrived = Vec::new();
        for row in rows {
            arrived.extend(self.wanted(tx, &mut places, row, true)?);
        }
        // A message that came and changed since was told already, as it stands now.
        for change in changes.into_iter().filter(|change| change.message_row <= from.message) {
            if let Some(row) = tx.chat_message_of_row(change.message_row)? {
                arrived.extend(self.wanted(tx, &mut places, row, false)?);
            }
        }
        Ok((arrived, Position { message, change }, is_full || is_full_of_changes))
    }

    fn wanted(
        &self,
        tx: &mut Tx<'_>,
        places: &mut Places,
        message: ChatMessageRow,
        is_new: bool,
    ) -> Result<Option<Arrived>> {
        if self.thread_row.is_some_and(|thread| thread != message.thread_row) {
            return Ok(None);
        }
        let Some((link, chat)) = places.of(tx, &self.caller, message.thread_row)? else {
            return Ok(None);
        };
        if self.link_row.is_some_and(|row| row != link.row) || !self.fits(tx, &link, &message)? {
            return Ok(None);
        }
        Ok(Some(Arrived { link, chat, message, is_new }))
    }

    fn fits(&self, tx: &mut Tx<'_>, link: &LinkRow, message: &ChatMessageRow) -> Result<bool> {
        let is_theirs = match &self.sender {
            None => true,
            Some(Sender::Aliases(aliases)) => aliases.contains(&message.sender),
            Some(Sender::Named(name)) => {
                let person = tx.person(&link.workspace, &message.sender)?;
                person.is_some_and(|person| fold(&person.name) == fold(name))
            }
        };
        let contains =
            |needle: &String| fold(&clean::clean(&message.body)).contains(needle.as_str());
        if !is_theirs || !self.search.as_ref().is_none_or(contains) {
            return Ok(false);
        }
        if self.content_types.is_empty() {
            return Ok(true);
        }
        let content = Details::from_text(message.details.as_deref())?.content();
        Ok(self.content_types.contains(&content))
    }
}

/// A chat, and the link it comes from.
type InPlace = (Arc<LinkRow>, Arc<ChatRow>);

/// Links and chats that were looked up for one answer.
#[derive(Default)]
struct Places {
    links: Option<Vec<Arc<LinkRow>>>,
    chats: HashMap<i64, Option<InPlace>>,
}

impl Places {
    /// The link and chat of a thread, if the caller may see them.
    fn of(&mut self, tx: &mut Tx<'_>, caller: &Caller, thread_row: i64) -> Result<Option<InPlace>> {
        if let Some(known) = self.chats.get(&thread_row) {
            return Ok(known.clone());
        }
        if self.links.is_none() {
            let links = sight::sources(tx, caller)?;
            self.links = Some(links.into_iter().map(Arc::new).collect());
        }
        let found = tx.chat(thread_row)?.and_then(|chat| {
            let links = self.links.as_deref().unwrap_or_default();
            let link = links.iter().find(|link| link.row == chat.link_row)?;
            caller
                .chats
                .sees(&link.name, &chat.remote_id)
                .then(|| (Arc::clone(link), Arc::new(chat)))
        });
        self.chats.insert(thread_row, found.clone());
        Ok(found)
    }
}
