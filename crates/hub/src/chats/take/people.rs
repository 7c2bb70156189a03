//! One person, one identity: the spellings that a source calls one become one.

use std::rc::Rc;

use protocol::chat::{Alias, PersonFact};
use protocol::fold::fold;
use protocol::limits::chats::PERSON_ALIASES_MAX;
use store::PersonRow;

use super::{Taker, name_of, source_id};
use crate::error::Result;

impl Taker<'_, '_> {
    /// Takes what a source says of a person.
    pub(super) fn person(&mut self, fact: &PersonFact) -> Result<()> {
        let own = self.alias_of_id(&fact.person_id);
        let name = fact.name.as_deref().map(name_of).unwrap_or_default();
        let mut person = self.person_of(&own, &name)?;
        if (!name.is_empty() && name != person.name) || (fact.is_self && !person.is_self) {
            if !name.is_empty() {
                person.name = name;
            }
            person.is_self |= fact.is_self;
            let folded = fold(&person.name).into_owned();
            self.tx.update_person(&person, &folded)?;
        }
        for alias in fact.aliases.iter().take(PERSON_ALIASES_MAX) {
            self.join(&person, alias)?;
        }
        Ok(())
    }

    /// The person behind an alias, made up if there is none.
    fn person_of(&mut self, alias: &str, name: &str) -> Result<PersonRow> {
        if let Some(known) = self.tx.person(&self.link.workspace, alias)? {
            return Ok(known);
        }
        let workspace = self.link.workspace.clone();
        let row = self.tx.insert_person(&workspace, name, &fold(name), false)?;
        self.tx.insert_alias(&workspace, alias, row)?;
        Ok(PersonRow { row, name: name.to_owned(), is_self: false })
    }

    /// Makes an alias one of a person's.
    ///
    /// Handles and numbers change hands: two people with ids of their own at this source are never
    /// one because of them. The newest owner keeps the alias.
    fn join(&mut self, person: &PersonRow, alias: &Alias) -> Result<()> {
        let Some(key) = self.alias_key(alias) else { return Ok(()) };
        let workspace = self.link.workspace.clone();
        match self.tx.person(&workspace, &key)? {
            None => self.tx.insert_alias(&workspace, &key, person.row)?,
            Some(other) if other.row == person.row => {}
            Some(other) => {
                let says_one = matches!(alias, Alias::Id(_) | Alias::Uuid(_));
                if says_one || !(self.has_own_id(other.row)? && self.has_own_id(person.row)?) {
                    self.tx.merge_people(person.row, other.row)?;
                    if person.name.is_empty() && !other.name.is_empty() {
                        let merged = PersonRow { name: other.name, ..person.clone() };
                        self.tx.update_person(&merged, &fold(&merged.name))?;
                    }
                } else {
                    self.tx.move_alias(&workspace, &key, person.row)?;
                }
            }
        }
        Ok(())
    }

    fn has_own_id(&mut self, person: i64) -> Result<bool> {
        let prefix = format!("{}/id/", self.link.name);
        let aliases = self.tx.aliases(person, PERSON_ALIASES_MAX)?;
        Ok(aliases.iter().any(|alias| alias.starts_with(&prefix)))
    }

    /// Who sent a message, as it is stored with it; everybody who speaks has a person.
    pub(super) fn sender(
        &mut self,
        at: usize,
        sender_id: Option<&str>,
        sender_name: Option<&str>,
    ) -> Result<Option<Rc<str>>> {
        let Some(id) = sender_id else { return Ok(None) };
        let alias = match self.senders.get(id) {
            Some(known) => Rc::clone(known),
            None => self.new_sender(id, sender_name)?,
        };
        if let Some(open) = self.open.get_mut(at)
            && !open.speakers.contains(&alias)
        {
            self.tx.add_speaker(open.chat.thread_row, &alias)?;
            open.speakers.insert(Rc::clone(&alias));
        }
        Ok(Some(alias))
    }

    fn new_sender(&mut self, id: &str, name: Option<&str>) -> Result<Rc<str>> {
        let alias: Rc<str> = self.alias_of_id(id).into();
        let name = name.map(name_of).unwrap_or_default();
        let person = self.person_of(&alias, &name)?;
        if person.name.is_empty() && !name.is_empty() {
            let folded = fold(&name).into_owned();
            self.tx.update_person(&PersonRow { name, ..person }, &folded)?;
        }
        self.senders.insert(id.to_owned(), Rc::clone(&alias));
        Ok(alias)
    }

    /// An id at this source, as a key among all aliases.
    pub(super) fn alias_of_id(&self, id: &str) -> String {
        format!("{}/id/{}", self.link.name, source_id(id))
    }

    fn alias_key(&self, alias: &Alias) -> Option<String> {
        let service = &self.link.service;
        let key = match alias {
            Alias::Id(id) => return Some(self.alias_of_id(id)),
            Alias::Username(name) => {
                (name, format!("{service}/username/{}", fold(name.trim_start_matches('@'))))
            }
            Alias::Uuid(uuid) => (uuid, format!("{service}/uuid/{}", uuid.to_ascii_lowercase())),
            Alias::Phone(phone) => (phone, format!("phone/{}", digits(phone))),
            Alias::Email(email) => (email, format!("email/{}", fold(email))),
        };
        (!key.0.is_empty() && !key.1.contains('\0')).then_some(key.1)
    }
}

/// A number as everybody writes it: `+` and digits.
fn digits(phone: &str) -> String {
    let digits: String = phone.chars().filter(char::is_ascii_digit).collect();
    format!("+{digits}")
}
