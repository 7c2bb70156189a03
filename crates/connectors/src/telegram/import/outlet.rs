//! Where an import hands over: in batches, counting, leaving out what an earlier run took.

use std::collections::HashMap;

use connector_api::{ImportError, ImportProgress, ImportSink, Skipped};
use protocol::chat::{Alias, ChatFact, Facts, HeldFact, MessageFact, PersonFact};
use protocol::limits;

/// Gathers facts until there are enough of them.
pub(super) struct Outlet<'a> {
    sink: &'a mut dyn ImportSink,
    facts: Facts,
    /// Messages read so far, skipped ones included.
    read: u64,
    /// Messages that an earlier run took.
    done: u64,
    since_batch: usize,
    bytes_total: u64,
    /// Who was named already, and how.
    people: HashMap<String, Option<String>>,
}

impl<'a> Outlet<'a> {
    pub(super) fn new(sink: &'a mut dyn ImportSink, done: u64, bytes_total: u64) -> Self {
        let people = HashMap::new();
        Self { sink, facts: Facts::default(), read: 0, done, since_batch: 0, bytes_total, people }
    }

    /// Counts a message that was found, before it is handed over or skipped.
    pub(super) fn count(&mut self) {
        self.read += 1;
        self.since_batch += 1;
    }

    /// Hands over if there is enough.
    pub(super) fn batch_if_full(&mut self, bytes_done: u64) -> Result<(), ImportError> {
        if self.since_batch < limits::chats::TELEGRAM_IMPORT_BATCH_MESSAGES {
            return Ok(());
        }
        self.flush()?;
        self.sink.progress(ImportProgress { bytes_done, bytes_total: self.bytes_total });
        Ok(())
    }

    /// Hands over whatever there is.
    pub(super) fn flush(&mut self) -> Result<(), ImportError> {
        self.since_batch = 0;
        if self.facts.is_empty() || self.is_done() {
            self.facts = Facts::default();
            return Ok(());
        }
        self.sink.take(std::mem::take(&mut self.facts), self.read)
    }

    /// Says that all was read.
    pub(super) fn finish(&mut self) -> Result<(), ImportError> {
        self.flush()?;
        let bytes_total = self.bytes_total;
        self.sink.progress(ImportProgress { bytes_done: bytes_total, bytes_total });
        Ok(())
    }

    /// Whether an earlier run took everything up to here.
    fn is_done(&self) -> bool {
        self.read < self.done
    }

    /// Whether an earlier run took the message that was counted last.
    fn is_message_done(&self) -> bool {
        self.read <= self.done
    }

    pub(super) fn message(&mut self, message: MessageFact) {
        if !self.is_message_done() {
            self.facts.messages.push(message);
        }
    }

    pub(super) fn skipped(&mut self, place: String, reason: String) {
        if !self.is_message_done() || self.read == 0 {
            self.sink.skipped(Skipped { place, reason });
        }
    }

    pub(super) fn chat(&mut self, chat: ChatFact) {
        if !self.is_done() {
            self.facts.chats.push(chat);
        }
    }

    pub(super) fn held(&mut self, held: HeldFact) {
        if !self.is_done() {
            self.facts.held.push(held);
        }
    }

    /// Names somebody, unless that was done.
    pub(super) fn person(&mut self, id: &str, name: Option<&str>) {
        if self.people.get(id).is_some_and(|known| name.is_none() || known.as_deref() == name) {
            return;
        }
        self.named(PersonFact {
            person_id: id.to_owned(),
            name: name.map(str::to_owned),
            ..PersonFact::default()
        });
    }

    /// Names somebody of whom more is known.
    pub(super) fn named(&mut self, person: PersonFact) {
        if self.people.len() >= limits::chats::TELEGRAM_IMPORT_PEOPLE_MAX {
            // Naming somebody again does no harm.
            self.people.clear();
        }
        self.people.insert(person.person_id.clone(), person.name.clone());
        if !self.is_message_done() || self.done == 0 {
            self.facts.people.push(person);
        }
    }
}

/// A telephone number without the blanks that people like; `None` where it is none.
pub(super) fn phone(written: &str) -> Option<Alias> {
    let mut digits: String = written.chars().filter(char::is_ascii_digit).collect();
    if digits.len() < 7 || digits.len() > 15 || !written.trim_start().starts_with(['+', '0']) {
        return None;
    }
    // `0049 151…` is `+49 151…`.
    if let Some(rest) = digits.strip_prefix("00") {
        digits = rest.to_owned();
    } else if digits.starts_with('0') {
        return None;
    }
    Some(Alias::Phone(format!("+{digits}")))
}
