//! Turns the lines of a chat into facts, and hands them over.

use std::collections::HashSet;

use connector_api::{ImportError, ImportOptions, ImportSink, Skipped};
use jiff::civil::DateTime;
use protocol::chat::{
    Alias, ChatFact, ChatType, ContentType, Facts, HeldFact, MessageFact, PersonFact,
};
use protocol::limits::import as limits;
use protocol::time::Timestamp;

use super::content::{self, Body};
use super::media::MediaFiles;
use super::moments::Moments;
use super::stamp::Precision;
use super::survey::Survey;
use super::system::{self, Notice};
use super::words::{self, OWN_MARK};
use super::{dates, names, title};

/// A message, gathered from its lines.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) civil: DateTime,
    /// What stands behind the time, all lines.
    pub(super) body: String,
}

/// Makes the facts of one chat.
pub(super) struct Writer<'a> {
    chat_id: String,
    title: String,
    survey: &'a Survey,
    options: &'a ImportOptions,
    files: &'a MediaFiles,
    sink: &'a mut dyn ImportSink,
    moments: Moments,
    facts: Facts,
    introduced: HashSet<String>,
    /// Messages of all chats of this import so far.
    messages: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    previous: Option<Timestamp>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(
        title: String,
        survey: &'a Survey,
        options: &'a ImportOptions,
        files: &'a MediaFiles,
        sink: &'a mut dyn ImportSink,
        messages: u64,
    ) -> Self {
        let chat_id = title::chat_id(&title);
        let chat_type = if survey.is_group { ChatType::Group } else { ChatType::Direct };
        let chat = ChatFact {
            chat_id: chat_id.clone(),
            chat_type: Some(chat_type),
            name: Some(title.clone()),
            ..ChatFact::default()
        };
        Self {
            chat_id,
            title,
            survey,
            options,
            files,
            sink,
            moments: Moments::default(),
            facts: Facts { chats: vec![chat], ..Facts::default() },
            introduced: HashSet::new(),
            messages,
            first: None,
            last: None,
            previous: None,
        }
    }

    pub(super) fn sink(&mut self) -> &mut dyn ImportSink {
        self.sink
    }

    /// Takes a message.
    pub(super) fn take(&mut self, gathered: &Gathered) -> Result<(), ImportError> {
        self.messages = self.messages.saturating_add(1);
        let Some(moment) = dates::moment(gathered.civil, &self.options.zone, self.previous) else {
            let place = format!("message {}", self.messages);
            let reason = "its time cannot be told in this time zone".to_owned();
            self.sink.skipped(Skipped { place, reason });
            return Ok(());
        };
        let (sender, content) = self.read(&gathered.body);
        let place = self.moments.place(
            &self.chat_id,
            gathered.civil,
            sender.as_deref().unwrap_or_default(),
            &content.identity,
        );
        // Messages of one minute, or second, keep their order without leaving it.
        let room = match self.survey.shape.precision {
            Precision::Second => 999,
            Precision::Minute => 59_999,
        };
        let spread = i64::try_from(place.ordinal).unwrap_or(room).min(room);
        let sent_at = moment.plus_ms(spread);
        self.previous = Some(sent_at);
        self.first = Some(self.first.map_or(sent_at, |first| first.min(sent_at)));
        self.last = Some(self.last.map_or(sent_at, |last| last.max(sent_at)));
        if self.messages > self.options.messages_done {
            self.write(place.message_id, sent_at, sender, content);
        }
        if self.facts.messages.len() >= limits::MESSAGES_PER_TAKE {
            self.hand_over()?;
        }
        Ok(())
    }

    /// Who says what: the app itself has no name.
    fn read(&self, body: &str) -> (Option<String>, Body) {
        let Some((name, text)) = self.survey.names.split(body) else {
            let content = content::missed_call(body).unwrap_or_else(|| Body::service(body));
            return (None, content);
        };
        // Older iPhones do not mark it, but it is always the first line.
        let is_encrypted = (text.starts_with(OWN_MARK) || self.first.is_none())
            && matches!(system::notice(text), Some((Notice::Encrypted, _)));
        if is_encrypted {
            return (None, Body::service(text));
        }
        let content = content::read(text, self.files);
        let is_of_group = content.content == ContentType::Service
            && self.survey.is_group
            && words::fold(&name) == words::fold(&self.title);
        let sender = names::phone(&name).unwrap_or(name);
        ((!is_of_group).then_some(sender), content)
    }

    fn write(
        &mut self,
        message_id: String,
        sent_at: Timestamp,
        sender: Option<String>,
        content: Body,
    ) {
        if let Some(sender) = &sender
            && !self.introduced.contains(sender)
        {
            // In a chat of more people than anyone can know, some are introduced again.
            if self.introduced.len() >= limits::NAMES_MAX {
                self.introduced.clear();
            }
            self.introduced.insert(sender.clone());
            self.facts.people.push(person(sender));
        }
        let mut message = MessageFact::new(self.chat_id.clone(), message_id, sent_at, content.text);
        message.sender_name = sender.as_deref().map(|name| names::shown(name).to_owned());
        message.sender_id = sender;
        message.content = content.content;
        message.attachments = content.attachments;
        message.extra = content.extra;
        message.edited_at = content.is_edited.then_some(sent_at);
        self.facts.messages.push(message);
    }

    fn hand_over(&mut self) -> Result<(), ImportError> {
        self.sink.take(std::mem::take(&mut self.facts), self.messages)
    }

    /// Hands over the rest, and says of which time nothing is missing. Answers how many messages
    /// there were so far.
    pub(super) fn finish(mut self) -> Result<u64, ImportError> {
        if let (Some(first), Some(last)) = (self.first, self.last) {
            self.facts.held.push(HeldFact {
                chat_id: Some(self.chat_id.clone()),
                from: (!self.survey.is_whole).then_some(first),
                to: last,
            });
        }
        self.hand_over()?;
        Ok(self.messages)
    }
}

fn person(id: &str) -> PersonFact {
    let is_phone = names::phone(id).as_deref() == Some(id);
    PersonFact {
        person_id: id.to_owned(),
        name: (!is_phone).then(|| names::shown(id).to_owned()),
        aliases: if is_phone { vec![Alias::Phone(id.to_owned())] } else { Vec::new() },
        is_self: false,
    }
}
