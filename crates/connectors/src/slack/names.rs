//! The names of people and chats, as far as this run has heard them, so that texts name them.
//!
//! It is a help for reading and nothing more: whoever is not in it is shown by id.

use std::collections::HashMap;

use protocol::chat::Facts;
use protocol::limits::slack as limits;

/// Names by id.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    people: HashMap<String, String>,
    chats: HashMap<String, String>,
}

impl Names {
    /// The name of a person.
    pub(super) fn person(&self, id: &str) -> Option<&str> {
        self.people.get(id).map(String::as_str)
    }

    /// The name of a chat.
    pub(super) fn chat(&self, id: &str) -> Option<&str> {
        self.chats.get(id).map(String::as_str)
    }

    /// Whether nobody is known.
    pub(super) fn is_empty(&self) -> bool {
        self.people.is_empty()
    }

    /// Remembers what facts say.
    pub(super) fn learn(&mut self, facts: &Facts) {
        for person in &facts.people {
            if let Some(name) = &person.name {
                remember(&mut self.people, &person.person_id, name);
            }
        }
        for chat in &facts.chats {
            if let Some(name) = &chat.name {
                remember(&mut self.chats, &chat.chat_id, name);
            }
        }
    }
}

fn remember(names: &mut HashMap<String, String>, id: &str, name: &str) {
    if names.len() < limits::NAMES_MAX || names.contains_key(id) {
        names.insert(id.to_owned(), name.to_owned());
    }
}
