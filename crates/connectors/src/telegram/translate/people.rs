//! Chats and those who speak in them.

use protocol::chat::{Alias, ChatFact, ChatType, Facts, PersonFact};
use serde_json::Value;

use super::super::ids;
use super::json::{integer, name_of, text};

/// Through what a message reached the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The bot is in the chat.
    Member,
    /// A person lets the bot read along in the chats of their account.
    Business,
}

/// What the translation of one update knows and gathers.
pub(super) struct Gathering<'a> {
    pub(super) bot_id: &'a str,
    pub(super) facts: Facts,
}

/// A chat as it is named here.
#[derive(Clone, Debug)]
pub(super) struct ChatName<'a> {
    pub(super) id: String,
    pub(super) kind: Option<&'a str>,
}

impl ChatName<'_> {
    /// The name of a message in this chat.
    pub(super) fn message(&self, message_id: i64) -> String {
        ids::live_message(self.kind, message_id)
    }
}

impl Gathering<'_> {
    /// Takes note of a chat.
    pub(super) fn chat<'v>(&mut self, chat: &'v Value, way: Way) -> Option<ChatName<'v>> {
        let number = integer(chat, "id")?;
        let kind = text(chat, "type");
        let id = match way {
            Way::Member => number.to_string(),
            Way::Business => ids::personal_chat(number),
        };
        let fact = ChatFact {
            chat_id: id.clone(),
            chat_type: kind.map(|kind| match kind {
                "channel" => ChatType::Channel,
                "group" | "supergroup" => ChatType::Group,
                _ => ChatType::Direct,
            }),
            name: name_of(chat),
            ..ChatFact::default()
        };
        if !self.facts.chats.contains(&fact) {
            self.facts.chats.push(fact);
        }
        Some(ChatName { id, kind })
    }

    /// Takes note of whoever a user or chat is; answers with their id and name.
    pub(super) fn person(&mut self, person: &Value) -> Option<(String, Option<String>)> {
        let id = integer(person, "id")?.to_string();
        let name = name_of(person);
        let aliases: Vec<Alias> = text(person, "username")
            .map(|username| Alias::Username(username.to_owned()))
            .into_iter()
            .collect();
        let is_self = id == self.bot_id;
        let fact = PersonFact { person_id: id.clone(), name: name.clone(), aliases, is_self };
        if !self.facts.people.contains(&fact) {
            self.facts.people.push(fact);
        }
        Some((id, name))
    }

    /// The names of several people.
    pub(super) fn names(&mut self, people: &[Value]) -> Vec<String> {
        let named = people.iter().filter_map(|person| self.person(person));
        named.map(|(id, name)| name.unwrap_or(id)).collect()
    }
}
