//! Envelopes become facts. What only a program would care for is left out on purpose; whatever
//! a person may have said is kept, known or not.

use std::sync::OnceLock;

use protocol::Timestamp;
use protocol::chat::{
    ChatFact, ChatType, ContentType, DeletionFact, EditFact, Facts, MessageFact, ReactionFact,
};
use protocol::limits::chats as limits;
use serde_json::Value;
use tracing::warn;

use super::address::{Address, is_uuid};
use super::content::{self, attachment, of_attachments, reference};
use super::revisions::Revisions;
use crate::foreign::{Foreign, moment_ms};

/// Envelopes that no person wrote: receipts and who is typing.
const SAYS_NOTHING: &[&str] = &["receiptMessage", "typingMessage"];

/// Turns envelopes into facts.
#[derive(Debug, Default)]
pub(super) struct Translator {
    account: String,
    own_id: OnceLock<String>,
    revisions: Revisions,
}

/// Who said something, where, and when.
struct Said<'a> {
    author: &'a Address,
    author_name: Option<&'a str>,
    chat: ChatFact,
    sent_ms: i64,
    at: Timestamp,
}

impl Translator {
    /// For an account; empty where the daemon has only one.
    pub(super) fn new(account: &str) -> Self {
        Self { account: account.to_owned(), ..Self::default() }
    }

    /// The owner's own id, once it is known.
    pub(super) fn own_id(&self) -> Option<&str> {
        self.own_id.get().map(String::as_str)
    }

    /// Learns the owner's own id.
    pub(super) fn learn_own_id(&self, id: &str) {
        // The first one stays: an account does not change its id.
        self.own_id.get_or_init(|| id.to_owned());
    }

    /// Reads what a daemon received: an envelope, the account it is for, perhaps what went wrong.
    pub(super) fn read(&self, received: &Value, facts: &mut Facts) {
        let is_for_another = !self.account.is_empty()
            && received
                .text("account")
                .is_some_and(|account| account != self.account && Some(account) != self.own_id());
        let Some(envelope) = received.object("envelope").filter(|_| !is_for_another) else {
            return;
        };
        let Some(source) = Address::read(envelope, "source") else { return };
        let Some(sent) = moment(envelope, envelope) else {
            warn!("an envelope of Signal has no time");
            return;
        };
        if let Some(sync) = envelope.object("syncMessage") {
            self.sync(&source, envelope, sync, sent, facts);
            return;
        }
        let is_own = source.number.as_deref().is_some_and(|number| number == self.account)
            || self.own_id() == Some(source.id.as_str());
        let name = envelope.text("sourceName");
        let said = |data: Option<&Value>, sent: (i64, Timestamp)| Said {
            author: &source,
            author_name: name,
            chat: chat(data, &source, name),
            sent_ms: sent.0,
            at: sent.1,
        };
        let people_before = facts.len();
        if let Some(data) = envelope.object("dataMessage") {
            self.data(&said(Some(data), moment(data, envelope).unwrap_or(sent)), data, facts);
        } else if let Some(edit) = envelope.object("editMessage") {
            self.edit(&said(edit.object("dataMessage"), sent), edit, facts);
        } else if let Some(story) = envelope.object("storyMessage") {
            story_message(said(Some(story), sent), story, facts);
        } else if let Some(call) = envelope.object("callMessage") {
            call_message(said(None, sent), call, facts);
        } else {
            other(said(None, sent), envelope, received, facts);
        }
        if facts.len() > people_before {
            let mut person = source.person(name);
            person.is_self = is_own;
            facts.people.push(person);
        }
    }

    /// What the owner did on another device.
    fn sync(
        &self,
        source: &Address,
        envelope: &Value,
        sync: &Value,
        sent: (i64, Timestamp),
        facts: &mut Facts,
    ) {
        if is_uuid(&source.id) {
            self.learn_own_id(&source.id);
        }
        let (message, is_story) =
            match (sync.object("sentMessage"), sync.object("sentStoryMessage")) {
                (Some(message), _) => (message, false),
                (None, Some(story)) => (story, true),
                // What was read, who is blocked, that contacts were copied: nothing was said.
                (None, None) => return,
            };
        let mut own = source.person(envelope.text("sourceName"));
        own.is_self = true;
        facts.people.push(own);
        let edit = message.object("editMessage");
        let data = edit.map_or(Some(message), |edit| edit.object("dataMessage"));
        let destination = Address::read(message, "destination");
        if let Some(other) = destination.as_ref().filter(|other| other.id != source.id) {
            facts.people.push(other.person(None));
        }
        // Without a destination it is what the owner told themselves.
        let other = destination.as_ref().unwrap_or(source);
        let (sent_ms, at) = data.and_then(|data| moment(data, envelope)).unwrap_or(sent);
        let said = Said {
            author: source,
            author_name: envelope.text("sourceName"),
            chat: chat(data, other, None),
            sent_ms,
            at,
        };
        match edit {
            _ if is_story => story_message(said, message, facts),
            Some(edit) => self.edit(&said, edit, facts),
            None => self.data(&said, message, facts),
        }
    }

    fn data(&self, said: &Said<'_>, data: &Value, facts: &mut Facts) {
        facts.chats.push(said.chat.clone());
        let chat_id = said.chat.chat_id.clone();
        let person_id = said.author.id.clone();
        if let Some(reaction) = data.object("reaction") {
            let target =
                reference(Some(reaction), "targetAuthor", "targetSentTimestamp", &self.revisions);
            if let Some(message_id) = target {
                facts.reactions.push(ReactionFact {
                    chat_id,
                    message_id,
                    person_id,
                    emoji: reaction.text("emoji").unwrap_or_default().to_owned(),
                    at: said.at,
                    is_removed: reaction.is_set("isRemove"),
                });
                return;
            }
        }
        let taken_back = data.object("remoteDelete").and_then(|delete| {
            let sent_ms = delete.number("timestamp")?;
            Some(self.revisions.first(said.author.message_id(sent_ms)))
        });
        let taken_back = taken_back.or_else(|| {
            let delete = data.object("adminDelete");
            reference(delete, "targetAuthor", "targetSentTimestamp", &self.revisions)
        });
        if let Some(message_id) = taken_back {
            let by = Some(person_id);
            facts.deletions.push(DeletionFact { chat_id, message_id, at: said.at, by });
            return;
        }
        let mut message = said.message();
        content::fill(&mut message, data, &self.revisions);
        facts.messages.push(message);
    }

    fn edit(&self, said: &Said<'_>, edit: &Value, facts: &mut Facts) {
        let Some(data) = edit.object("dataMessage") else { return };
        let Some(target_ms) = edit.number("targetSentTimestamp") else { return };
        facts.chats.push(said.chat.clone());
        let mut message = said.message();
        let change_id = said.author.message_id(data.number("timestamp").unwrap_or(said.sent_ms));
        message.message_id = self.revisions.first(said.author.message_id(target_ms));
        self.revisions.remember(change_id, &message.message_id);
        let first_ms = message.message_id.rsplit(':').next().and_then(|ms| ms.parse().ok());
        message.edited_at = data.number("timestamp").and_then(moment_ms).or(Some(said.at));
        message.sent_at = first_ms.and_then(moment_ms).unwrap_or(said.at);
        content::fill(&mut message, data, &self.revisions);
        facts.edits.push(EditFact { message });
    }
}

impl Said<'_> {
    fn message(&self) -> MessageFact {
        let id = self.author.message_id(self.sent_ms);
        let mut message = MessageFact::new(self.chat.chat_id.clone(), id, self.at, "");
        message.sender_id = Some(self.author.id.clone());
        message.sender_name = self.author_name.map(str::to_owned);
        message
    }
}

/// When something was sent, as Signal names it and as a moment. A sender's clock may be absurd; the
/// server's then says when it came.
fn moment(data: &Value, envelope: &Value) -> Option<(i64, Timestamp)> {
    let sent_ms = data.number("timestamp").or_else(|| envelope.number("timestamp"))?;
    let received = || envelope.number("serverReceivedTimestamp").and_then(moment_ms);
    Some((sent_ms, moment_ms(sent_ms).or_else(received)?))
}

/// The group, or the chat with another person.
fn chat(data: Option<&Value>, other: &Address, name: Option<&str>) -> ChatFact {
    let group = data.and_then(|data| data.object("groupInfo"));
    let group_id = group
        .and_then(|group| group.text("groupId"))
        .or_else(|| data.and_then(|data| data.text("groupId")));
    if let Some(group_id) = group_id {
        let name = group.and_then(|group| group.text("groupName").or(group.text("name")));
        return ChatFact {
            chat_id: group_id.to_owned(),
            chat_type: Some(ChatType::Group),
            name: name.map(str::to_owned),
            ..ChatFact::default()
        };
    }
    ChatFact {
        chat_id: other.id.clone(),
        chat_type: Some(ChatType::Direct),
        name: name.map(str::to_owned),
        // Before the UUID was known, the number was the name of the chat.
        former_ids: other.number.iter().filter(|number| **number != other.id).cloned().collect(),
        ..ChatFact::default()
    }
}

fn story_message(said: Said<'_>, story: &Value, facts: &mut Facts) {
    let mut message = said.message();
    facts.chats.push(said.chat);
    message.content = ContentType::Other;
    message.extra.insert("signal".to_owned(), Value::from("storyMessage"));
    message.attachments = story.object("fileAttachment").map(attachment).into_iter().collect();
    if let Some(content) = of_attachments(&message.attachments) {
        message.extra.insert("content".to_owned(), Value::from(content.name()));
    }
    let text = story.object("textAttachment").and_then(|text| text.text("text"));
    message.text = text.unwrap_or_default().into();
    let ms = limits::SIGNAL_STORY_SECONDS.saturating_mul(1_000);
    message.expires_at = Some(message.sent_at.plus_ms(ms));
    facts.messages.push(message);
}

fn call_message(said: Said<'_>, call: &Value, facts: &mut Facts) {
    let step = |name: &str| call.object(name);
    let (event, text) = if let Some(offer) = step("offerMessage") {
        let is_video = offer.text("type").is_some_and(|kind| kind.starts_with("VIDEO"));
        ("offer", if is_video { "video call" } else { "call" })
    } else if step("answerMessage").is_some() {
        ("answer", "answered the call")
    } else if step("busyMessage").is_some() {
        ("busy", "was busy")
    } else if step("hangupMessage").is_some() {
        ("hangup", "ended the call")
    } else {
        // Telephones telling each other how to connect, many times a call.
        return;
    };
    let mut message = said.message();
    facts.chats.push(said.chat);
    message.content = ContentType::Call;
    message.text = text.into();
    message.extra.insert("call".to_owned(), Value::from(event));
    facts.messages.push(message);
}

/// What the hub does not know, or what the daemon could not decrypt.
fn other(said: Said<'_>, envelope: &Value, received: &Value, facts: &mut Facts) {
    let unknown = envelope.as_object().and_then(|fields| {
        let says_something = |(name, value): &(&String, &Value)| {
            value.is_object() && !SAYS_NOTHING.contains(&name.as_str())
        };
        fields.iter().find(says_something).map(|(name, _)| name.as_str())
    });
    let mut message = said.message();
    if let Some(name) = unknown {
        message.extra.insert("signal".to_owned(), Value::from(name));
    } else if let Some(exception) = received.object("exception") {
        let kind = exception.text("type").unwrap_or_default();
        // It has come before, or the owner sent it: nothing is missing.
        if kind.contains("Duplicate") || kind.contains("SelfSend") {
            return;
        }
        // Its sender is asked to send it again, and then it comes under its own id.
        message.message_id.push_str(":undecrypted");
        message.text = "a message could not be decrypted".into();
        message.extra.insert("signal".to_owned(), Value::from("exception"));
        message.extra.insert("exception".to_owned(), Value::from(kind));
    } else {
        return;
    }
    message.content = ContentType::Other;
    facts.chats.push(said.chat);
    facts.messages.push(message);
}
