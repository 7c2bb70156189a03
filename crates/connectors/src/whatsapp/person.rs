//! Who somebody is at WhatsApp: a number, an id that Meta gives each business, perhaps a handle.

use protocol::chat::{Alias, ChatFact, ChatType, PersonFact};
use serde_json::Value;

use crate::foreign::Foreign;

/// A person as a report names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Person {
    wa_id: Option<String>,
    user_id: Option<String>,
    name: Option<String>,
    more: Vec<Alias>,
}

impl Person {
    /// Reads a person from a number and a business's id for them.
    pub(super) fn named(wa_id: Option<&str>, user_id: Option<&str>) -> Option<Self> {
        let wa_id = wa_id.map(digits).filter(|id| !id.is_empty());
        let user_id = user_id.map(str::to_owned);
        (wa_id.is_some() || user_id.is_some()).then(|| Self { wa_id, user_id, ..Self::default() })
    }

    /// Reads an entry of `contacts`.
    pub(super) fn read(contact: &Value) -> Option<Self> {
        let mut person = Self::named(contact.text("wa_id"), contact.text("user_id"))?;
        let profile = contact.object("profile");
        person.name = profile.and_then(|profile| profile.text("name")).map(str::to_owned);
        if let Some(id) = contact.text("parent_user_id") {
            person.more.push(Alias::Id(id.to_owned()));
        }
        if let Some(handle) = profile.and_then(|profile| profile.text("username")) {
            person.more.push(Alias::Username(handle.trim_start_matches('@').to_owned()));
        }
        Some(person)
    }

    /// Whether both are the same person.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same = |one: &Option<String>, two: &Option<String>| one.is_some() && one == two;
        same(&self.wa_id, &other.wa_id) || same(&self.user_id, &other.user_id)
    }

    /// What messages name them by: the number, or Meta's id where it hides the number.
    pub(super) fn id(&self) -> &str {
        self.wa_id.as_deref().or(self.user_id.as_deref()).unwrap_or_default()
    }

    /// The name to show.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Says that they are called so.
    pub(super) fn called(mut self, name: Option<&str>) -> Self {
        self.name = name.map(str::to_owned);
        self
    }

    /// Says that they were known by this id before.
    pub(super) fn formerly(mut self, id: &str) -> Self {
        self.more.push(Alias::Id(id.to_owned()));
        self
    }

    /// As a fact.
    pub(super) fn fact(&self) -> PersonFact {
        let phone = self.wa_id.iter().map(|id| Alias::Phone(format!("+{id}")));
        let user_id = self.user_id.iter().cloned().map(Alias::Id);
        PersonFact {
            person_id: self.id().to_owned(),
            name: self.name.clone(),
            aliases: phone.chain(user_id).chain(self.more.iter().cloned()).collect(),
            is_self: false,
        }
    }

    /// The chat with them. While Meta hid the number, the chat was known by Meta's id.
    pub(super) fn chat(&self) -> ChatFact {
        ChatFact {
            chat_id: self.id().to_owned(),
            chat_type: Some(ChatType::Direct),
            name: self.name.clone(),
            former_ids: self.user_id.iter().filter(|_| self.wa_id.is_some()).cloned().collect(),
            ..ChatFact::default()
        }
    }
}

/// The digits of a number, however it is written.
pub(super) fn digits(number: &str) -> String {
    number.chars().filter(char::is_ascii_digit).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn number_id_and_handle_are_one_person() {
        let person = Person::read(&json!({"profile": {"name": "Ann", "username": "@ann"},
            "wa_id": "4915112345678", "user_id": "DE.13491208655302741918"}))
        .unwrap();
        assert_eq!(person.fact().person_id, "4915112345678");
        assert_eq!(
            person.fact().aliases,
            [
                Alias::Phone("+4915112345678".to_owned()),
                Alias::Id("DE.13491208655302741918".to_owned()),
                Alias::Username("ann".to_owned()),
            ]
        );
        assert_eq!(person.chat().former_ids, ["DE.13491208655302741918"]);
    }

    #[test]
    fn a_hidden_number_leaves_the_id() {
        let hidden = Person::read(&json!({"user_id": "DE.1"})).unwrap();
        assert_eq!((hidden.id(), hidden.chat().former_ids.len()), ("DE.1", 0));
        assert_eq!(Person::read(&json!({"profile": {"name": "nobody"}})), None);
    }
}
