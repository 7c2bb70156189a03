//! Edits, deletions and signs: each leaves a trace, and one that comes before its message waits.

use protocol::Timestamp;
use protocol::chat::{
    DeletionFact, EditFact, Facts, MessageFact, Reaction, ReactionFact, TallyFact,
};
use protocol::limits::chats::{EARLY_CHANGES_MAX, REACTIONS_MAX};
use store::{ChangeKind, ChatMessageRow, NewChange};

use super::message::{body, content};
use super::{Taker, source_id};
use crate::chats::details::Details;
use crate::error::{Error, Result};

impl Taker<'_, '_> {
    /// A message was changed.
    pub(super) fn edit(&mut self, fact: &MessageFact) -> Result<()> {
        let thread_row = self.thread_row(&fact.chat_id)?;
        match self.tx.chat_message(thread_row, &source_id(&fact.message_id))? {
            Some(known) => {
                let details = Details::from_text(known.details.as_deref())?;
                let is_newer = fact.edited_at.is_none() || fact.edited_at > details.edited_at;
                if details.is_gone() || !is_newer {
                    self.taken.messages_known += 1;
                    return Ok(());
                }
                self.change_words(fact, &known, details)
            }
            // Most sources send the whole message with its edit: then nothing has to wait.
            None => self.message_now(fact),
        }
    }

    pub(super) fn change_words(
        &mut self,
        fact: &MessageFact,
        known: &ChatMessageRow,
        before: Details,
    ) -> Result<()> {
        let at = fact.edited_at.unwrap_or(self.now);
        let is_view_once = before.is_view_once || fact.is_view_once;
        let mut after = Details {
            is_view_once,
            content: content(fact).or(before.content),
            edited_at: Some(at),
            extra: fact.extra.clone(),
            cut_bytes: None,
            ..before
        };
        if !fact.attachments.is_empty() && !is_view_once {
            after.attachments.clone_from(&fact.attachments);
        }
        let words = if is_view_once { "".into() } else { body(fact, &mut after) };
        let by = fact.sender_id.as_deref().map(|id| self.alias_of_id(id));
        let change = NewChange {
            before: known,
            kind: ChangeKind::Edited,
            at,
            by: by.as_deref(),
            is_kept: !after.is_view_once,
        };
        let details = after.to_text()?;
        self.tx.change_chat_message(&change, &words, details.as_deref())?;
        self.changed(&fact.chat_id);
        Ok(())
    }

    /// A message was taken back: its words go, and that it was there stays.
    pub(super) fn deletion(&mut self, fact: &DeletionFact) -> Result<()> {
        let thread_row = self.thread_row(&fact.chat_id)?;
        let id = source_id(&fact.message_id);
        let Some(known) = self.tx.chat_message(thread_row, &id)? else {
            let early = Facts { deletions: vec![fact.clone()], ..Facts::default() };
            return self.keep_early(thread_row, &id, early);
        };
        let mut details = Details::from_text(known.details.as_deref())?;
        if details.is_gone() {
            return Ok(());
        }
        details.deleted_at = Some(fact.at);
        details.attachments.clear();
        details.extra.clear();
        let by = fact.by.as_deref().map(|id| self.alias_of_id(id));
        self.forget(&known, ChangeKind::Deleted, fact.at, by.as_deref(), &details)?;
        self.changed(&fact.chat_id);
        Ok(())
    }

    fn forget(
        &mut self,
        known: &ChatMessageRow,
        kind: ChangeKind,
        at: Timestamp,
        by: Option<&str>,
        details: &Details,
    ) -> Result<()> {
        let change = NewChange { before: known, kind, at, by, is_kept: false };
        Ok(self.tx.change_chat_message(&change, "", details.to_text()?.as_deref())?)
    }

    /// A sign was put on a message, or taken off. Saying it twice changes nothing.
    pub(super) fn reaction(&mut self, fact: &ReactionFact) -> Result<()> {
        let thread_row = self.thread_row(&fact.chat_id)?;
        let id = source_id(&fact.message_id);
        let Some(known) = self.tx.chat_message(thread_row, &id)? else {
            let early = Facts { reactions: vec![fact.clone()], ..Facts::default() };
            return self.keep_early(thread_row, &id, early);
        };
        let mut details = Details::from_text(known.details.as_deref())?;
        if !react(&mut details.reactions, fact) {
            return Ok(());
        }
        let by = self.alias_of_id(&fact.person_id);
        self.react(&known, fact.at, Some(&by), &details)?;
        self.changed(&fact.chat_id);
        Ok(())
    }

    /// The signs on a message, counted by a source that does not say whose they are.
    pub(super) fn tally(&mut self, fact: &TallyFact) -> Result<()> {
        let thread_row = self.thread_row(&fact.chat_id)?;
        let id = source_id(&fact.message_id);
        let Some(known) = self.tx.chat_message(thread_row, &id)? else {
            let early = Facts { tallies: vec![fact.clone()], ..Facts::default() };
            return self.keep_early(thread_row, &id, early);
        };
        let mut details = Details::from_text(known.details.as_deref())?;
        let signs = fact.reactions.iter().filter(|sign| sign.count > 0).take(REACTIONS_MAX);
        let signs: Vec<Reaction> = signs.cloned().collect();
        if signs == details.reactions {
            return Ok(());
        }
        details.reactions = signs;
        self.react(&known, fact.at, None, &details)?;
        self.changed(&fact.chat_id);
        Ok(())
    }

    fn react(
        &mut self,
        known: &ChatMessageRow,
        at: Timestamp,
        by: Option<&str>,
        details: &Details,
    ) -> Result<()> {
        let kind = ChangeKind::Reacted;
        let change = NewChange { before: known, kind, at, by, is_kept: false };
        Ok(self.tx.react(&change, details.to_text()?.as_deref())?)
    }

    fn changed(&mut self, chat_id: &str) {
        self.taken.messages_changed += 1;
        self.touch(chat_id);
    }

    fn keep_early(&mut self, thread_row: i64, id: &str, facts: Facts) -> Result<()> {
        let mut early = self.early(thread_row, id)?;
        if early.len() >= EARLY_CHANGES_MAX {
            return Ok(());
        }
        early.extend(facts);
        let text =
            serde_json::to_string(&early).map_err(|error| Error::Internal(Box::new(error)))?;
        self.tx.put_early_change(thread_row, id, &text, self.now)?;
        Ok(())
    }

    fn early(&mut self, thread_row: i64, id: &str) -> Result<Facts> {
        self.tx.early_change(thread_row, id)?.map_or_else(
            || Ok(Facts::default()),
            |text| serde_json::from_str(&text).map_err(|error| Error::Internal(Box::new(error))),
        )
    }

    /// What happened to a message before it came happens now.
    pub(super) fn apply_early_changes(
        &mut self,
        chat_id: &str,
        thread_row: i64,
        id: &str,
    ) -> Result<()> {
        let early = self.early(thread_row, id)?;
        if early.is_empty() {
            return Ok(());
        }
        self.tx.delete_early_change(thread_row, id)?;
        for EditFact { message } in &early.edits {
            self.edit(message)?;
        }
        for reaction in &early.reactions {
            self.reaction(&ReactionFact { chat_id: chat_id.to_owned(), ..reaction.clone() })?;
        }
        for tally in &early.tallies {
            self.tally(&TallyFact { chat_id: chat_id.to_owned(), ..tally.clone() })?;
        }
        for deletion in &early.deletions {
            self.deletion(&DeletionFact { chat_id: chat_id.to_owned(), ..deletion.clone() })?;
        }
        Ok(())
    }
}

/// Whether the signs are others now. Taking off no sign in particular takes off all of a person's.
fn react(reactions: &mut Vec<Reaction>, fact: &ReactionFact) -> bool {
    if fact.is_removed && fact.emoji.is_empty() {
        let before = reactions.clone();
        for reaction in reactions.iter_mut() {
            let others = reaction.by.len();
            reaction.by.retain(|person| *person != fact.person_id);
            let gone = u32::try_from(others - reaction.by.len()).unwrap_or(0);
            reaction.count = reaction.count.saturating_sub(gone);
        }
        reactions.retain(|reaction| reaction.count > 0);
        return before != *reactions;
    }
    let place = reactions.iter().position(|reaction| reaction.emoji == fact.emoji);
    let Some(reaction) = place.and_then(|place| reactions.get_mut(place)) else {
        if fact.is_removed || reactions.len() >= REACTIONS_MAX {
            return false;
        }
        let by = vec![fact.person_id.clone()];
        reactions.push(Reaction { emoji: fact.emoji.clone(), count: 1, by });
        return true;
    };
    let named = reaction.by.iter().position(|person| *person == fact.person_id);
    match (named, fact.is_removed) {
        (Some(at), true) => {
            reaction.by.remove(at);
            reaction.count = reaction.count.saturating_sub(1);
        }
        (None, false) => {
            reaction.count = reaction.count.saturating_add(1);
            if reaction.by.len() < REACTIONS_MAX {
                reaction.by.push(fact.person_id.clone());
            }
        }
        _ => return false,
    }
    reactions.retain(|reaction| reaction.count > 0);
    true
}
