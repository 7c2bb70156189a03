//! Going through an export from top to bottom, once.

use std::io::{Read, Seek};

use connector_api::ImportOptions;
use protocol::chat::{Alias, PersonFact};
use serde_json::Value;

use super::super::translate::json::{integer, name_of, text};
use super::chat::{Chat, Head};
use super::message;
use super::outlet::{self, Outlet};
use super::record::Record;
use super::scanner::{Broken, Cut, Scanner};

/// Somebody's way through an export.
pub(super) struct Walk<'a, R> {
    scanner: Scanner<R>,
    outlet: Outlet<'a>,
    options: &'a ImportOptions,
    /// Whose export it is, where it says so.
    owner: Option<String>,
}

/// Where a chat stands in the file.
struct Place {
    /// `chats.list[3].`, or nothing for the only chat.
    path: String,
    is_of_account: bool,
}

impl<'a, R: Read + Seek> Walk<'a, R> {
    pub(super) fn new(scanner: Scanner<R>, outlet: Outlet<'a>, options: &'a ImportOptions) -> Self {
        Self { scanner, outlet, options, owner: None }
    }

    /// Reads everything. Whatever was read before something is wrong is handed over.
    pub(super) fn all(&mut self) -> Result<(), Broken> {
        match self.top() {
            Ok(()) => self.outlet.finish()?,
            Err(stopped @ Broken::Stopped(_)) => return Err(stopped),
            Err(broken) => {
                self.outlet.flush()?;
                return Err(broken);
            }
        }
        Ok(())
    }

    fn top(&mut self) -> Result<(), Broken> {
        self.scanner.skip_mark()?;
        self.scanner.take(b'{', "the export of Telegram Desktop, which begins with {")?;
        let place = Place { path: String::new(), is_of_account: false };
        self.object(&place)
    }

    /// The top of the file, or a chat: the two look alike, because a file may be one chat.
    fn object(&mut self, place: &Place) -> Result<(), Broken> {
        let mut head = Head::default();
        let is_top = place.path.is_empty();
        while let Some(key) = self.key()? {
            match key.as_str() {
                "messages" if self.scanner.peek()? == b'[' => self.chat(&mut head, place)?,
                "chats" | "left_chats" if is_top => self.chats(&key)?,
                "contacts" if is_top => self.contacts()?,
                "personal_information" if is_top => {
                    if let Some(person) = self.small_value()? {
                        self.take_owner(&person);
                    }
                }
                "name" | "type" | "id" => {
                    let value = self.small_value()?;
                    head.set(&key, value.as_ref());
                }
                _ => self.scanner.skip()?,
            }
        }
        Ok(())
    }

    /// The next name in an object; `None` at its end.
    fn key(&mut self) -> Result<Option<String>, Broken> {
        self.scanner.took(b',')?;
        if self.scanner.took(b'}')? {
            return Ok(None);
        }
        if self.scanner.peek()? != b'"' {
            return Err(self.scanner.wrong("the name of a field"));
        }
        let key = match self.scanner.value()? {
            Cut::Whole(bytes) => serde_json::from_slice(bytes).unwrap_or_default(),
            Cut::TooLarge => String::new(),
        };
        self.scanner.take(b':', "a colon")?;
        Ok(Some(key))
    }

    /// A value that is read at once; `None` where it is none.
    fn small_value(&mut self) -> Result<Option<Value>, Broken> {
        Ok(match self.scanner.value()? {
            Cut::Whole(bytes) => serde_json::from_slice(bytes).ok(),
            Cut::TooLarge => None,
        })
    }

    /// `{about, list: […]}`, or the list alone.
    fn chats(&mut self, section: &str) -> Result<(), Broken> {
        if !self.scanner.took(b'{')? {
            return self.chat_list(section);
        }
        while let Some(key) = self.key()? {
            match key.as_str() {
                "list" => self.chat_list(&format!("{section}.list"))?,
                _ => self.scanner.skip()?,
            }
        }
        Ok(())
    }

    fn chat_list(&mut self, path: &str) -> Result<(), Broken> {
        if !self.scanner.took(b'[')? {
            return self.scanner.skip();
        }
        let mut index = 0_u64;
        while self.is_more()? {
            if self.scanner.took(b'{')? {
                let path = format!("{path}[{index}].");
                self.object(&Place { path, is_of_account: true })?;
            } else {
                self.pass_bare()?;
            }
            index += 1;
        }
        Ok(())
    }

    /// Whether a list goes on; its end is taken.
    fn is_more(&mut self) -> Result<bool, Broken> {
        self.scanner.took(b',')?;
        Ok(!self.scanner.took(b']')?)
    }

    /// Passes over something that should not be there, but not over a bracket that closes what was
    /// never opened: then nothing after it can be trusted.
    fn pass_bare(&mut self) -> Result<(), Broken> {
        if matches!(self.scanner.peek()?, b'}' | b':' | b',') {
            return Err(self.scanner.wrong("a value"));
        }
        self.scanner.skip()
    }

    fn contacts(&mut self) -> Result<(), Broken> {
        let is_nested = self.scanner.took(b'{')?;
        if !is_nested {
            return self.contact_list();
        }
        while let Some(key) = self.key()? {
            match key.as_str() {
                "list" => self.contact_list()?,
                _ => self.scanner.skip()?,
            }
        }
        Ok(())
    }

    fn contact_list(&mut self) -> Result<(), Broken> {
        if !self.scanner.took(b'[')? {
            return self.scanner.skip();
        }
        while self.is_more()? {
            if self.scanner.peek()? != b'{' {
                self.pass_bare()?;
            } else if let Some(contact) = self.small_value()?
                && let Some(person) = person(&contact)
            {
                self.outlet.named(person);
                self.outlet.batch_if_full(self.scanner.position())?;
            }
        }
        Ok(())
    }

    fn take_owner(&mut self, owner: &Value) {
        if let Some(person) = person(owner) {
            self.owner = Some(person.person_id.clone());
            self.outlet.named(PersonFact { is_self: true, ..person });
        }
    }

    /// The messages of a chat.
    fn chat(&mut self, head: &mut Head, place: &Place) -> Result<(), Broken> {
        if head.id.is_none() || head.sort.is_none() {
            self.look_ahead(head)?;
        }
        let name_given = self.options.chat_name.as_deref().filter(|_| !place.is_of_account);
        let Some(mut chat) = head.chat(name_given) else {
            let path = format!("{}messages", place.path);
            self.outlet.skipped(path, "the chat has neither an id nor a name".to_owned());
            return self.scanner.skip();
        };
        self.outlet.chat(chat.fact(head.shown_name(name_given)));
        let ended = self.messages(&mut chat, place);
        for held in chat.held(place.is_of_account, self.owner.as_deref()) {
            self.outlet.held(held);
        }
        ended
    }

    /// Programs that sort the names in a file put the messages before the chat's type.
    fn look_ahead(&mut self, head: &mut Head) -> Result<(), Broken> {
        let position = self.scanner.position();
        let looked = self.rest_of_head(head);
        self.scanner.go_to(position)?;
        match looked {
            // A file that was cut has no rest; its messages are still worth reading.
            Err(Broken::Read(error)) => Err(Broken::Read(error)),
            _ => Ok(()),
        }
    }

    fn rest_of_head(&mut self, head: &mut Head) -> Result<(), Broken> {
        self.scanner.skip()?;
        while let Some(key) = self.key()? {
            match key.as_str() {
                "name" | "type" | "id" => {
                    let value = self.small_value()?;
                    head.set(&key, value.as_ref());
                }
                _ => self.scanner.skip()?,
            }
        }
        Ok(())
    }

    fn messages(&mut self, chat: &mut Chat, place: &Place) -> Result<(), Broken> {
        self.scanner.take(b'[', "a list of messages")?;
        let mut index = 0_u64;
        while self.is_more()? {
            let found = self.message(chat)?;
            self.outlet.count();
            match found {
                Ok(fact) => {
                    if let Some(sender) = &fact.sender_id {
                        self.outlet.person(sender, fact.sender_name.as_deref());
                    }
                    self.outlet.message(fact);
                }
                Err(reason) => {
                    chat.missed();
                    self.outlet.skipped(format!("{}messages[{index}]", place.path), reason);
                }
            }
            self.outlet.batch_if_full(self.scanner.position())?;
            index += 1;
        }
        Ok(())
    }

    /// The next message, or why it is left out.
    fn message(
        &mut self,
        chat: &mut Chat,
    ) -> Result<Result<protocol::chat::MessageFact, String>, Broken> {
        if self.scanner.peek()? != b'{' {
            self.pass_bare()?;
            return Ok(Err("this is no message: expected an object".to_owned()));
        }
        let record = match self.scanner.value()? {
            Cut::Whole(bytes) => Record::read(bytes),
            Cut::TooLarge => return Ok(Err("the message is too large".to_owned())),
        };
        Ok(match record {
            Ok(record) => message::read(record, chat, &self.options.zone).map_err(str::to_owned),
            Err(at) => Err(format!(
                "the message is no valid JSON at its line {}, column {}",
                at.line, at.column
            )),
        })
    }
}

impl Head {
    fn set(&mut self, key: &str, value: Option<&Value>) {
        let word = value.and_then(Value::as_str).filter(|word| !word.is_empty());
        match key {
            "id" => {
                self.id = value.and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()));
            }
            "type" => self.sort = word.map(str::to_owned),
            _ => self.name = word.map(str::to_owned),
        }
    }
}

/// Somebody of whom an export tells more than a name.
fn person(value: &Value) -> Option<PersonFact> {
    let id = integer(value, "user_id").filter(|id| *id != 0)?;
    let username = text(value, "username").map(|name| name.trim_start_matches('@'));
    let username = username.filter(|name| !name.is_empty());
    let phone = text(value, "phone_number").and_then(outlet::phone);
    let aliases = username.map(|name| Alias::Username(name.to_owned())).into_iter().chain(phone);
    Some(PersonFact {
        person_id: id.to_string(),
        name: name_of(value),
        aliases: aliases.collect(),
        is_self: false,
    })
}
