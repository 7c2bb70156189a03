//! Making one archive of what sources say: facts may come twice, late and out of order.
//!
//! Everything here runs inside a transaction and may be run again. Taking the same facts twice
//! changes nothing the second time.
mod changes;
mod expire;
mod message;
mod people;

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use protocol::chat::{ChatFact, ChatType, Facts, HeldFact};
use protocol::fold::fold;
use protocol::id::Uid;
use protocol::{ThreadId, Timestamp, limits};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ChatRow, HeldRow, LinkRow, NewChat, Tx};

use crate::error::Result;

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
    chats: HashMap<String, Open>,
    /// Aliases that are known to have a person, and pairs of chat and alias that are known to speak.
    pub(super) known_aliases: HashSet<String>,
    pub(super) known_speakers: HashSet<(i64, String)>,
}

/// A chat while facts are taken into it.
pub(super) struct Open {
    pub(super) chat: ChatRow,
    /// Nothing was in it before these facts, so only their own ids can repeat.
    pub(super) is_fresh: bool,
    pub(super) ids: HashSet<String>,
    pub(super) has_early_changes: bool,
    is_touched: bool,
}

/// Takes facts of a link into the archive, all or none.
pub(crate) fn take(
    tx: &mut Tx<'_>,
    link: &LinkRow,
    facts: &Facts,
    now: Timestamp,
    new_uid: &dyn Fn() -> Uid,
) -> Result<Taken> {
    let mut taker = Taker {
        tx,
        link,
        now,
        new_uid,
        taken: Taken::default(),
        chats: HashMap::new(),
        known_aliases: HashSet::new(),
        known_speakers: HashSet::new(),
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
        let open = self.open_as(&id, fact)?;
        let mut chat = open.chat.clone();
        if let Some(chat_type) = fact.chat_type {
            chat.chat_type = chat_type;
        }
        if let Some(name) = fact.name.as_deref().map(name_of).filter(|name| !name.is_empty()) {
            chat.name = name;
        }
        if let Some(count) = fact.participant_count {
            chat.participants = Some(i64::from(count));
        }
        if chat != open.chat {
            let folded = fold(&chat.name).into_owned();
            open.chat = chat.clone();
            self.tx.update_chat(&chat, &folded)?;
        }
        Ok(())
    }

    /// A chat goes on under another id; what is held of it stays one.
    fn rename(&mut self, former: &str, id: &str) -> Result<()> {
        self.chats.remove(former);
        let Some(mut chat) = self.tx.lock_chat(self.link.row, former)? else { return Ok(()) };
        if chat.remote_id == former && self.tx.lock_chat(self.link.row, id)?.is_none() {
            id.clone_into(&mut chat.remote_id);
            let folded = fold(&chat.name).into_owned();
            self.tx.update_chat(&chat, &folded)?;
            self.tx.add_former_id(self.link.row, former, chat.thread_row)?;
        }
        Ok(())
    }

    /// The chat of an id, opened if it is new.
    pub(super) fn open(&mut self, chat_id: &str) -> Result<&mut Open> {
        self.open_as(chat_id, &ChatFact::default())
    }

    fn open_as(&mut self, chat_id: &str, fact: &ChatFact) -> Result<&mut Open> {
        let id = source_id(chat_id);
        if !self.chats.contains_key(&id) {
            let open = match self.tx.lock_chat(self.link.row, &id)? {
                Some(chat) => Open {
                    is_fresh: chat.messages == 0,
                    ids: HashSet::new(),
                    has_early_changes: self.tx.has_early_changes(chat.thread_row)?,
                    is_touched: false,
                    chat,
                },
                None => self.new_chat(&id, fact)?,
            };
            self.chats.insert(id.clone(), open);
        }
        Ok(self.chats.get_mut(&id).expect("it was put there a moment ago"))
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
        let ids = HashSet::new();
        Ok(Open { chat, is_fresh: true, ids, has_early_changes: false, is_touched: true })
    }

    /// Something happened in a chat.
    pub(super) fn touch(&mut self, chat_id: &str) {
        if let Some(open) = self.chats.get_mut(&source_id(chat_id)) {
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
            vec![self.open(id)?.chat.thread_row]
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
        for open in self.chats.values().filter(|open| open.is_touched) {
            self.tx.update_chat_head(&open.chat, self.now)?;
            self.taken.threads.push(open.chat.thread_row);
        }
        self.taken.threads.sort_unstable();
        Ok(self.taken)
    }
}

/// An id of a source as it is kept: as given, unless it is too long to be one.
pub(crate) fn source_id(id: &str) -> String {
    if id.len() <= limits::chats::REMOTE_ID_BYTES_MAX && !id.contains('\0') && !id.is_empty() {
        return id.to_owned();
    }
    let digest = ring::digest::digest(&ring::digest::SHA256, id.as_bytes());
    format!("sha256:{}", URL_SAFE_NO_PAD.encode(digest))
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
