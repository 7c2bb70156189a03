//! What a report says was said: by others, by the owner on a telephone, before, or on a call.

use protocol::Timestamp;
use protocol::chat::{
    ChatFact, ChatType, ContentType, DeletionFact, EditFact, Facts, MessageFact, PersonFact,
    ReactionFact,
};
use serde_json::Value;
use tracing::warn;

use super::content::{fill, said};
use super::person::{Person, digits};
use crate::foreign::{Foreign, moment_seconds};

/// One change that is reported, and who takes part in it.
pub(super) struct Scene<'a> {
    value: &'a Value,
    people: Vec<Person>,
    own_number: String,
    phone_number_id: &'a str,
}

/// Who said something, and where.
struct Said<'a> {
    author: &'a Person,
    chat: ChatFact,
    message_id: &'a str,
    at: Timestamp,
}

impl<'a> Scene<'a> {
    /// Looks who takes part.
    pub(super) fn new(value: &'a Value, phone_number_id: &'a str) -> Self {
        let number = value.object("metadata").and_then(|data| data.text("display_phone_number"));
        Self {
            value,
            people: value.list("contacts").iter().filter_map(Person::read).collect(),
            own_number: number.map(digits).unwrap_or_default(),
            phone_number_id,
        }
    }

    /// Reads the change. Fields with nothing anybody said, such as the state of a template or that
    /// a message was read, are left out on purpose.
    pub(super) fn read(&self, facts: &mut Facts) {
        facts.people.extend(self.people.iter().map(Person::fact));
        for message in self.value.list("messages") {
            let other = Person::named(message.text("from"), message.text("from_user_id"));
            self.message(message, other.as_ref(), None, facts);
        }
        for echo in self.value.list("message_echoes") {
            let other = Person::named(echo.text("to"), echo.text("to_user_id"));
            self.message(echo, other.as_ref(), None, facts);
        }
        for thread in self.value.list("history").iter().flat_map(|part| part.list("threads")) {
            let other = Person::named(thread.text("id"), thread.text("user_id"));
            for message in thread.list("messages") {
                self.message(message, other.as_ref(), thread.text("group_id"), facts);
            }
        }
        for status in self.value.list("statuses") {
            failed(status, facts);
        }
        for call in self.value.list("calls") {
            self.call(call, facts);
        }
        for entry in self.value.list("state_sync") {
            contact_of_app(entry, facts);
        }
        for group in self.value.list("groups") {
            group_named(group, facts);
        }
    }

    /// A message of a chat with another person, or of a group.
    fn message(
        &self,
        message: &Value,
        other: Option<&Person>,
        group_id: Option<&str>,
        facts: &mut Facts,
    ) {
        let sent_at = message.number("timestamp").and_then(moment_seconds);
        let (Some(message_id), Some(at)) = (message.text("id"), sent_at) else {
            warn!("a message of WhatsApp has no id or no time");
            return;
        };
        if message.text("type") == Some("system")
            && let Some(system) = message.object("system")
            && changed_identity(message, system, (message_id, at), facts)
        {
            return;
        }
        let own = self.own();
        let is_own = !self.own_number.is_empty()
            && message.text("from").is_some_and(|from| digits(from) == self.own_number);
        let Some(other) = other.or(is_own.then_some(&own)).map(|other| self.known(other)) else {
            warn!("a message of WhatsApp has no sender");
            return;
        };
        let author = if is_own { &own } else { &other };
        if is_own {
            facts.people.push(self.own_fact());
        }
        let group_id = message.text("group_id").or(group_id);
        let chat = group_id.map_or_else(|| other.chat(), group_chat);
        take(&Said { author, chat, message_id, at }, message, facts);
    }

    fn call(&self, call: &Value, facts: &mut Facts) {
        let at = call.number("timestamp").and_then(moment_seconds);
        let (Some(id), Some(at)) = (call.text("id"), at) else { return };
        let from = Person::named(call.text("from"), call.text("from_user_id"));
        let to = Person::named(call.text("to"), call.text("to_user_id"));
        let own = self.own();
        let is_own = from.as_ref().is_some_and(|from| from.is(&own));
        let Some(other) = (if is_own { to } else { from.clone() }) else { return };
        let other = self.known(&other);
        let event = call.text("event").unwrap_or("call");
        // The steps of a call share its id.
        let message_id = if event == "connect" { id.to_owned() } else { format!("{id}:{event}") };
        facts.chats.push(other.chat());
        let mut message = MessageFact::new(other.id(), message_id, at, "call");
        message.sender_id = from.map(|from| from.id().to_owned());
        message.content = ContentType::Call;
        if let Some(seconds) = call.number("duration") {
            message.text = format!("call of {seconds} s");
        } else if event == "terminate" {
            message.text = "call ended".into();
        }
        message.extra.insert("call".to_owned(), Value::from(event));
        facts.messages.push(message);
    }

    /// The person as the report knows them, with a name.
    fn known(&self, person: &Person) -> Person {
        self.people.iter().find(|known| known.is(person)).unwrap_or(person).clone()
    }

    fn own(&self) -> Person {
        Person::named(Some(&self.own_number), Some(self.phone_number_id)).unwrap_or_default()
    }

    fn own_fact(&self) -> PersonFact {
        PersonFact { is_self: true, ..self.own().fact() }
    }
}

/// Takes a message for what it is: a sign, a change, a taking back, or something said.
fn take(scene: &Said<'_>, value: &Value, facts: &mut Facts) {
    facts.chats.push(scene.chat.clone());
    let chat_id = scene.chat.chat_id.clone();
    let person_id = scene.author.id().to_owned();
    let at = scene.at;
    let original = |name: &str| {
        value.object(name).and_then(|inner| inner.text("original_message_id")).map(str::to_owned)
    };
    let kind = value.text("type").unwrap_or_default();
    if let Some(reaction) = value.object("reaction").filter(|_| kind == "reaction")
        && let Some(target) = reaction.text("message_id")
    {
        // Everybody has one sign at most, so taking it off need not say which.
        let emoji = reaction.text("emoji").unwrap_or_default().to_owned();
        let (is_removed, message_id) = (emoji.is_empty(), target.to_owned());
        let sign = ReactionFact { chat_id, message_id, person_id, emoji, at, is_removed };
        facts.reactions.push(sign);
    } else if let Some(message_id) = original("revoke").filter(|_| kind == "revoke") {
        facts.deletions.push(DeletionFact { chat_id, message_id, at, by: Some(person_id) });
    } else if let Some(message_id) = original("edit").filter(|_| kind == "edit") {
        let mut message = scene.message(&message_id);
        message.edited_at = Some(at);
        let changed = value.object("edit").and_then(|edit| edit.object("message"));
        fill(&mut message, changed.unwrap_or(&Value::Null));
        facts.edits.push(EditFact { message });
    } else {
        let mut message = scene.message(scene.message_id);
        fill(&mut message, value);
        facts.messages.push(message);
    }
}

impl Said<'_> {
    fn message(&self, message_id: &str) -> MessageFact {
        let mut message = MessageFact::new(self.chat.chat_id.clone(), message_id, self.at, "");
        message.sender_id = Some(self.author.id().to_owned());
        message.sender_name = self.author.name().map(str::to_owned);
        message
    }
}

fn group_chat(group_id: &str) -> ChatFact {
    ChatFact {
        chat_id: group_id.to_owned(),
        chat_type: Some(ChatType::Group),
        ..ChatFact::default()
    }
}

/// Somebody has a new number, or a new id: they and their chat stay the same.
fn changed_identity(
    message: &Value,
    system: &Value,
    (message_id, at): (&str, Timestamp),
    facts: &mut Facts,
) -> bool {
    let now =
        Person::named(system.text("wa_id").or(system.text("new_wa_id")), system.text("user_id"));
    let before = system.text("previous_user_id").or(message.text("from"));
    let (Some(now), Some(before)) = (now, before) else { return false };
    if now.id() == before {
        return false;
    }
    facts.people.push(now.clone().formerly(before).fact());
    let mut chat = now.chat();
    chat.former_ids.push(before.to_owned());
    let mut notice = MessageFact::new(chat.chat_id.clone(), message_id, at, "");
    notice.sender_id = Some(now.id().to_owned());
    fill(&mut notice, message);
    facts.chats.push(chat);
    facts.messages.push(notice);
    true
}

/// A message of the owner's that did not arrive. That others were sent, delivered and read adds
/// nothing to what was said.
fn failed(status: &Value, facts: &mut Facts) {
    if status.text("status") != Some("failed") {
        return;
    }
    let at = status.number("timestamp").and_then(moment_seconds);
    let is_group = status.text("recipient_type") == Some("group");
    let person = Person::named(status.text("recipient_id"), status.text("recipient_user_id"));
    let chat = match (is_group, status.text("recipient_id")) {
        (true, Some(group_id)) => Some(group_chat(group_id)),
        _ => person.map(|person| person.chat()),
    };
    let (Some(id), Some(at), Some(chat)) = (status.text("id"), at, chat) else { return };
    let error = status.list("errors").first().map(said).unwrap_or_default();
    let why = error.text("title").unwrap_or("no reason given");
    let text = format!("a message was not delivered: {why}");
    let mut notice = MessageFact::new(chat.chat_id.clone(), format!("{id}:failed"), at, text);
    notice.content = ContentType::Service;
    notice.reply_to = Some(id.to_owned());
    notice.extra.insert("error".to_owned(), error);
    facts.chats.push(chat);
    facts.messages.push(notice);
}

/// What the owner calls somebody in the WhatsApp Business app.
fn contact_of_app(entry: &Value, facts: &mut Facts) {
    let Some(contact) = entry.object("contact") else { return };
    let person = Person::named(contact.text("phone_number"), contact.text("user_id"));
    let name = contact.text("full_name").or(contact.text("first_name"));
    if let Some(person) = person.filter(|_| entry.text("action") != Some("remove")) {
        facts.people.push(person.called(name).fact());
    }
}

/// A group got its name.
fn group_named(group: &Value, facts: &mut Facts) {
    let subject = group.object("group_subject").and_then(|subject| subject.text("text"));
    let Some(group_id) = group.text("group_id") else { return };
    let Some(name) = subject.or(group.text("subject")) else { return };
    facts.chats.push(ChatFact { name: Some(name.to_owned()), ..group_chat(group_id) });
}
