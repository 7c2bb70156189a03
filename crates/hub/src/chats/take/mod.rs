//! Making one archive of what sources say: facts may come twice, late and out of order.
//!
//! Everything here runs inside a transaction and may be run again. Taking the same facts twice
//! changes nothing the second time.
mod changes;
mod expire;
mod message;
mod people;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::chat::{ChatFact, ChatType, Facts, HeldFact};
use protocol::fold::fold;
use protocol::id::Uid;
use protocol::{ThreadId, Timestamp, limits};
use schemars::JsonSchema;
use serde::Serialize;
use store::{CHAT_MESSAGES_AT_ONCE, ChatRow, HeldRow, LinkRow, NewChat, Tx};

use self::message::Ready;

use crate::error::{Error, Result};

pub(crate) use expire::expire;

/// What taking facts did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Taken {
    /// Chats that were not known.
    pub chats_added: u64,
    /// Messages that were not known.
    pub messages_added: u64,
    /// Messages that were there already, and said the same.
    pub messages_known: u64,
    /// Messages that were changed, or taken back.
    pub messages_changed: u64,
    /// The chats in which anything happened, by thread row.
    #[serde(skip)]
    pub threads: Vec<i64>,
}

/// Takes facts of a link into the archive.
pub(crate) struct Taker<'t, 'c> {
    pub(super) tx: &'t mut Tx<'c>,
    pub(super) link: &'t LinkRow,
    pub(super) now: Timestamp,
    new_uid: &'t dyn Fn() -> Uid,
    pub(super) taken: Taken,
    /// Chats that were opened, and where each id finds its own.
    pub(super) open: Vec<Open>,
    places: HashMap<String, usize>,
    /// Senders that are known to have a person: their ids, and the aliases these stand for.
    pub(super) senders: HashMap<String, Rc<str>>,
    /// Messages of one chat that are appended together, and where that chat is open.
    waiting: Vec<Ready<'t>>,
    waiting_at: usize,
}

/// A chat while facts are taken into it.
pub(super) struct Open {
    pub(super) chat: ChatRow,
    pub(super) has_early_changes: bool,
    pub(super) is_touched: bool,
    /// Aliases that are known to have spoken in it.
    pub(super) speakers: HashSet<Rc<str>>,
}

/// Takes facts of a link into the archive, all or none.
pub(crate) fn take<'t>(
    tx: &'t mut Tx<'_>,
    link: &'t LinkRow,
    facts: &'t Facts,
    now: Timestamp,
    new_uid: &'t dyn Fn() -> Uid,
) -> Result<Taken> {
    let mut taker = Taker {
        tx,
        link,
        now,
        new_uid,
        taken: Taken::default(),
        open: Vec::new(),
        places: HashMap::new(),
        senders: HashMap::new(),
        waiting: Vec::with_capacity(CHAT_MESSAGES_AT_ONCE),
        waiting_at: 0,
    };
    for chat in &facts.chats {
        taker.chat(chat)?;
    }
    for person in &facts.people {
        taker.person(person)?;
    }
    for message in &facts.messages {
        taker.message(message)?;
    }
    taker.append_waiting()?;
    for edit in &facts.edits {
        taker.edit(&edit.message)?;
    }
    for deletion in &facts.deletions {
        taker.deletion(deletion)?;
    }
    for reaction in &facts.reactions {
        taker.reaction(reaction)?;
    }
    for tally in &facts.tallies {
        taker.tally(tally)?;
    }
    for held in &facts.held {
        taker.held(held)?;
    }
    taker.finish()
}

impl Taker<'_, '_> {
    fn chat(&mut self, fact: &ChatFact) -> Result<()> {
        let id = source_id(&fact.chat_id);
        for former in &fact.former_ids {
            self.rename(&source_id(former), &id)?;
        }
        let at = self.open_as(&id, fact)?;
        let Some(mut chat) = self.open.get(at).map(|open| open.chat.clone()) else {
            return Ok(());
        };
        let before = chat.clone();
        if let Some(chat_type) = fact.chat_type {
            chat.chat_type = chat_type;
        }
        if let Some(name) = fact.name.as_deref().map(name_of).filter(|name| !name.is_empty()) {
            chat.name = name;
        }
        if let Some(count) = fact.participant_count {
            chat.participants = Some(i64::from(count));
        }
        if chat != before {
            self.tx.update_chat(&chat, &fold(&chat.name))?;
            if let Some(open) = self.open.get_mut(at) {
                open.chat = chat;
            }
        }
        Ok(())
    }

    /// A chat goes on under another id; what is held of it stays one.
    fn rename(&mut self, former: &str, id: &str) -> Result<()> {
        self.places.remove(former);
        let Some(mut chat) = self.tx.lock_chat(self.link.row, former)? else { return Ok(()) };
        if chat.remote_id == former && self.tx.lock_chat(self.link.row, id)?.is_none() {
            id.clone_into(&mut chat.remote_id);
            self.tx.update_chat(&chat, &fold(&chat.name))?;
            self.tx.add_former_id(self.link.row, former, chat.thread_row)?;
        }
        Ok(())
    }

    /// Where the chat of an id is open; it is made if it is new.
    pub(super) fn open(&mut self, chat_id: &str) -> Result<usize> {
        self.open_as(chat_id, &ChatFact::default())
    }

    fn open_as(&mut self, chat_id: &str, fact: &ChatFact) -> Result<usize> {
        if let Some(at) = self.places.get(chat_id) {
            return Ok(*at);
        }
        let id = source_id(chat_id);
        let open = match self.tx.lock_chat(self.link.row, &id)? {
            Some(chat) => Open {
                has_early_changes: self.tx.has_early_changes(chat.thread_row)?,
                is_touched: false,
                speakers: HashSet::new(),
                chat,
            },
            None => self.new_chat(&id, fact)?,
        };
        // A chat that is known by two ids is open once, or its numbers would be given twice.
        let known = self.open.iter().position(|o| o.chat.thread_row == open.chat.thread_row);
        let at = known.unwrap_or(self.open.len());
        if known.is_none() {
            self.open.push(open);
        }
        self.places.insert(chat_id.to_owned(), at);
        Ok(at)
    }

    /// The thread's row of a chat, opened if it is new.
    pub(super) fn thread_row(&mut self, chat_id: &str) -> Result<i64> {
        let at = self.open(chat_id)?;
        self.open.get(at).map(|open| open.chat.thread_row).ok_or(Error::NotFound { what: "chat" })
    }

    fn new_chat(&mut self, id: &str, fact: &ChatFact) -> Result<Open> {
        let name = fact.name.as_deref().map(name_of).unwrap_or_default();
        let chat_type = fact.chat_type.unwrap_or(ChatType::Direct);
        let participants = fact.participant_count.map(i64::from);
        let thread_row = self.tx.insert_chat(&NewChat {
            thread_id: ThreadId((self.new_uid)()),
            workspace: &self.link.workspace,
            link_row: self.link.row,
            link_name: &self.link.name,
            remote_id: id,
            chat_type,
            name: &name,
            folded_name: &fold(&name),
            participants,
            at: self.now,
        })?;
        self.taken.chats_added += 1;
        let chat = ChatRow {
            thread_row,
            link_row: self.link.row,
            remote_id: id.to_owned(),
            chat_type,
            name,
            participants,
            messages: 0,
            oldest: None,
            newest: None,
            history_cursor: None,
            is_history_done: false,
            head_seq: 0,
        };
        let speakers = HashSet::new();
        Ok(Open { chat, has_early_changes: false, is_touched: true, speakers })
    }

    /// Something happened in a chat.
    pub(super) fn touch(&mut self, chat_id: &str) {
        let at = self.places.get(chat_id).copied();
        if let Some(open) = at.and_then(|at| self.open.get_mut(at)) {
            open.is_touched = true;
        }
    }

    fn held(&mut self, fact: &HeldFact) -> Result<()> {
        let from_ms = fact.from.map_or(HeldRow::BEGINNING, Timestamp::as_ms);
        let row = HeldRow { from_ms, to_ms: fact.to.as_ms() };
        if row.from_ms > row.to_ms {
            return Ok(());
        }
        let threads: Vec<i64> = if let Some(id) = &fact.chat_id {
            vec![self.thread_row(id)?]
        } else {
            let chats = self.tx.chats_of_link(self.link.row, limits::chats::CHATS_MAX)?;
            chats.iter().map(|chat| chat.thread_row).collect()
        };
        for thread in threads {
            self.tx.add_held(thread, row)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Taken> {
        for open in self.open.iter().filter(|open| open.is_touched) {
            self.tx.update_chat_head(&open.chat, self.now)?;
            self.taken.threads.push(open.chat.thread_row);
        }
        self.taken.threads.sort_unstable();
        Ok(self.taken)
    }
}

/// An id of a source as it is kept: as given, unless it is too long to be one.
pub(crate) fn source_id(id: &str) -> Cow<'_, str> {
    if id.len() <= limits::chats::REMOTE_ID_BYTES_MAX && !id.contains('\0') && !id.is_empty() {
        return Cow::Borrowed(id);
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, id.as_bytes());
    Cow::Owned(format!("sha256:{}", URL_SAFE_NO_PAD.encode(digest)))
}

/// A name as it is kept: one line, of a sensible length. Showing it cleans it further.
pub(super) fn name_of(name: &str) -> String {
    let line: String = name
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(limits::chats::NAME_CHARS_MAX)
        .collect();
    line.trim().to_owned()
}
