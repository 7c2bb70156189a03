//! Messages come in: new, known, or changed since. New ones of a chat are appended together.

use std::borrow::Cow;
use std::rc::Rc;

use protocol::chat::{ContentType, MessageFact};
use protocol::{Timestamp, limits};
use store::{CHAT_MESSAGES_AT_ONCE, ChatMessageRow, NewChatMessage, ReplyTo};

use super::{Taker, source_id};
use crate::chats::details::Details;
use crate::error::{Error, Result};

/// The latest moment that a message id can name: the year 2109.
const SENT_MS_MAX: i64 = (1 << 42) - 1;

/// A message that is ready to be appended.
pub(super) struct Ready<'f> {
    fact: &'f MessageFact,
    id: Cow<'f, str>,
    sender: Option<Rc<str>>,
    body: Cow<'f, str>,
    details: Option<String>,
    sent: Timestamp,
    expires: Option<Timestamp>,
}

impl<'t> Taker<'t, '_> {
    /// Takes a message: it waits until others of its chat can be appended with it.
    pub(super) fn message(&mut self, fact: &'t MessageFact) -> Result<()> {
        let at = self.open(&fact.chat_id)?;
        if at != self.waiting_at {
            self.append_waiting()?;
            self.waiting_at = at;
        }
        let ready = self.ready(fact, at)?;
        self.waiting.push(ready);
        if self.waiting.len() == CHAT_MESSAGES_AT_ONCE {
            return self.append_waiting();
        }
        Ok(())
    }

    /// Takes a message at once.
    pub(super) fn message_now(&mut self, fact: &MessageFact) -> Result<()> {
        self.append_waiting()?;
        let at = self.open(&fact.chat_id)?;
        let ready = self.ready(fact, at)?;
        self.append(&ready, at)
    }

    /// Appends the messages that wait.
    pub(super) fn append_waiting(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        let at = self.waiting_at;
        let all = <&[Ready<'_>; CHAT_MESSAGES_AT_ONCE]>::try_from(waiting.as_slice()).ok();
        let is_done = match all {
            Some(all) => self.append_all(all, at)?,
            None => false,
        };
        if !is_done {
            for ready in &waiting {
                self.append(ready, at)?;
            }
        }
        // The room is used again.
        self.waiting = waiting;
        self.waiting.clear();
        Ok(())
    }

    /// Appends many messages of a chat that are all new; `false` when they have to be taken one by one.
    fn append_all(&mut self, all: &[Ready<'_>; CHAT_MESSAGES_AT_ONCE], at: usize) -> Result<bool> {
        let Some(open) = self.open.get(at).filter(|open| !open.has_early_changes) else {
            return Ok(false);
        };
        let (thread_row, head) = (open.chat.thread_row, open.chat.head_seq);
        let mut reply_to = [None; CHAT_MESSAGES_AT_ONCE];
        for (number, (ready, place)) in all.iter().zip(&mut reply_to).enumerate() {
            let Some(id) = &ready.fact.reply_to else { continue };
            let id = source_id(id);
            let among = all.iter().take(number).position(|before| before.id == id);
            *place = match among.and_then(|index| Some((index, all.get(index)?))) {
                Some((index, before)) => {
                    Some(ReplyTo { seq: nth(head, index), created: before.sent })
                }
                None => self.answered(thread_row, &id)?,
            };
        }
        let mut replies = reply_to.into_iter();
        let mut number = 0;
        let new = all.each_ref().map(|ready| {
            let seq = nth(head, number);
            number += 1;
            ready.as_new(thread_row, seq, replies.next().flatten())
        });
        if !self.tx.insert_chat_messages(thread_row, &new)? {
            return Ok(false);
        }
        for (ready, new) in all.iter().zip(new) {
            self.appended(ready, at, new.seq)?;
        }
        Ok(true)
    }

    /// Appends a message, unless one of its id is there already. The index of ids decides, so that
    /// nothing has to be looked up first.
    fn append(&mut self, ready: &Ready<'_>, at: usize) -> Result<()> {
        let Some(open) = self.open.get(at) else { return Err(Error::NotFound { what: "chat" }) };
        let (thread_row, seq) = (open.chat.thread_row, open.chat.head_seq + 1);
        let has_early_changes = open.has_early_changes;
        let reply_to = match &ready.fact.reply_to {
            Some(id) => self.answered(thread_row, &source_id(id))?,
            None => None,
        };
        if self.tx.insert_chat_message(&ready.as_new(thread_row, seq, reply_to))? {
            self.appended(ready, at, seq)?;
            if has_early_changes {
                self.apply_early_changes(&ready.fact.chat_id, thread_row, &ready.id)?;
            }
            return Ok(());
        }
        match self.tx.chat_message(thread_row, &ready.id)? {
            Some(known) => self.known_message(ready.fact, &known),
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

    /// Everything of a message that can be said before it has its number.
    fn ready<'f>(&mut self, fact: &'f MessageFact, at: usize) -> Result<Ready<'f>> {
        let sender = self.sender(at, fact.sender_id.as_deref(), fact.sender_name.as_deref())?;
        let mut details = Details::of(fact);
        let mut body = body(fact, &mut details);
        // What comes after its time is never kept at all.
        let due = fact.expires_at.filter(|due| *due <= self.now);
        if let Some(due) = due {
            body = Cow::Borrowed("");
            details.expire(due);
        }
        Ok(Ready {
            fact,
            id: source_id(&fact.message_id),
            sender,
            body,
            details: details.to_text()?,
            sent: sent(fact.sent_at),
            expires: fact.expires_at.filter(|_| due.is_none()),
        })
    }

    /// A message has its number now.
    fn appended(&mut self, ready: &Ready<'_>, at: usize, seq: i64) -> Result<()> {
        let Some(open) = self.open.get_mut(at) else { return Ok(()) };
        let (chat, sent) = (&mut open.chat, ready.sent);
        chat.head_seq = seq;
        chat.messages += 1;
        chat.oldest = Some(chat.oldest.map_or(sent, |oldest| oldest.min(sent)));
        chat.newest = Some(chat.newest.map_or(sent, |newest| newest.max(sent)));
        open.is_touched = true;
        let thread_row = open.chat.thread_row;
        if let Some(expires) = ready.expires {
            self.tx.add_expiry(expires, thread_row, seq)?;
        }
        self.taken.messages_added += 1;
        Ok(())
    }

    /// The message that one answers.
    fn answered(&mut self, thread_row: i64, id: &str) -> Result<Option<ReplyTo>> {
        let answered = self.tx.chat_message(thread_row, id)?;
        Ok(answered.map(|message| ReplyTo { seq: message.seq, created: message.sent }))
    }
}

impl Ready<'_> {
    fn as_new(&self, thread_row: i64, seq: i64, reply_to: Option<ReplyTo>) -> NewChatMessage<'_> {
        NewChatMessage {
            thread_row,
            seq,
            sent: self.sent,
            sender: self.sender.as_deref().unwrap_or_default(),
            body: &self.body,
            details: self.details.as_deref(),
            reply_to,
            remote_id: &self.id,
        }
    }
}

/// The number of the message that is appended so many after a chat's last.
fn nth(head: i64, index: usize) -> i64 {
    head.saturating_add(1).saturating_add_unsigned(u64::try_from(index).unwrap_or(u64::MAX))
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
