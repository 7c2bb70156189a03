//! A message comes in: new, known, or changed since.

use std::borrow::Cow;

use protocol::chat::{ContentType, MessageFact};
use protocol::{Timestamp, limits};
use store::{ChatMessageRow, NewChatMessage, ReplyTo};

use super::{Taker, source_id};
use crate::chats::details::Details;
use crate::error::{Error, Result};

/// The latest moment that a message id can name: the year 2109.
const SENT_MS_MAX: i64 = (1 << 42) - 1;

impl Taker<'_, '_> {
    /// Takes a message.
    pub(super) fn message(&mut self, fact: &MessageFact) -> Result<()> {
        let id = source_id(&fact.message_id);
        let at = self.open(&fact.chat_id)?;
        if self.new_message(fact, at, &id)? {
            let early = self.open.get(at).filter(|open| open.has_early_changes);
            if let Some(thread_row) = early.map(|open| open.chat.thread_row) {
                self.apply_early_changes(&fact.chat_id, thread_row, &id)?;
            }
            return Ok(());
        }
        let thread_row = self.thread_row(&fact.chat_id)?;
        match self.tx.chat_message(thread_row, &id)? {
            Some(known) => self.known_message(fact, &known),
            None => Err(Error::NotFound { what: "message" }),
        }
    }

    fn known_message(&mut self, fact: &MessageFact, known: &ChatMessageRow) -> Result<()> {
        let details = Details::from_text(known.details.as_deref())?;
        if fact.edited_at > details.edited_at && !details.is_gone() {
            return self.change_words(fact, known, details);
        }
        self.taken.messages_known += 1;
        Ok(())
    }

    /// Appends a message; `false` when one of that id is there already. The index of ids decides,
    /// so that nothing has to be looked up first.
    fn new_message(&mut self, fact: &MessageFact, at: usize, id: &str) -> Result<bool> {
        let sender = self.sender(at, fact.sender_id.as_deref(), fact.sender_name.as_deref())?;
        let Some(open) = self.open.get(at) else { return Ok(false) };
        let (thread_row, seq) = (open.chat.thread_row, open.chat.head_seq + 1);
        let reply_to = self.reply_to(thread_row, fact)?;
        let mut details = Details::of(fact);
        let mut body = body(fact, &mut details);
        // What comes after its time is never kept at all.
        let due = fact.expires_at.filter(|due| *due <= self.now);
        if let Some(due) = due {
            body = Cow::Borrowed("");
            details.expire(due);
        }
        let details = details.to_text()?;
        let sent = sent(fact.sent_at);
        let is_new = self.tx.insert_chat_message(&NewChatMessage {
            thread_row,
            seq,
            sent,
            sender: sender.as_deref().unwrap_or_default(),
            body: &body,
            details: details.as_deref(),
            reply_to,
            remote_id: id,
        })?;
        if !is_new {
            return Ok(false);
        }
        if let Some(open) = self.open.get_mut(at) {
            open.chat.head_seq = seq;
            open.chat.messages += 1;
            open.chat.oldest = Some(open.chat.oldest.map_or(sent, |oldest| oldest.min(sent)));
            open.chat.newest = Some(open.chat.newest.map_or(sent, |newest| newest.max(sent)));
            open.is_touched = true;
        }
        if let Some(expires) = fact.expires_at.filter(|_| due.is_none()) {
            self.tx.add_expiry(expires, thread_row, seq)?;
        }
        self.taken.messages_added += 1;
        Ok(true)
    }

    fn reply_to(&mut self, thread_row: i64, fact: &MessageFact) -> Result<Option<ReplyTo>> {
        let Some(id) = &fact.reply_to else { return Ok(None) };
        let answered = self.tx.chat_message(thread_row, &source_id(id))?;
        Ok(answered.map(|message| ReplyTo { seq: message.seq, created: message.sent }))
    }
}

/// The words of a message as they are kept.
pub(super) fn body<'f>(fact: &'f MessageFact, details: &mut Details) -> Cow<'f, str> {
    if fact.is_view_once {
        return Cow::Borrowed("");
    }
    let max = limits::MESSAGE_BODY_BYTES_MAX;
    let mut text = fact.text.as_str();
    if text.len() > max {
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        details.cut_bytes = Some(text.len() - end);
        text = text.get(..end).unwrap_or_default();
    }
    // PostgreSQL keeps no U+0000.
    if text.contains('\0') {
        return Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    Cow::Borrowed(text)
}

fn sent(at: Timestamp) -> Timestamp {
    Timestamp::from_ms(at.as_ms().clamp(0, SENT_MS_MAX))
}

/// What a fact says it holds, where it says words alone.
pub(super) fn content(fact: &MessageFact) -> Option<ContentType> {
    (fact.content != ContentType::Text).then_some(fact.content)
}
