//! Reading an export in order: people, chats, then chat by chat, day by day.
//!
//! Ids are those of the live service, so what was imported and what comes live are the same chats
//! and messages.

use std::collections::BTreeMap;
use std::path::Path;

use connector_api::{ImportError, ImportOptions, ImportProgress, ImportSink, Skipped};
use protocol::Timestamp;
use protocol::chat::{ChatType, Facts, HeldFact};
use protocol::limits::slack as limits;
use serde_json::Value;

use super::archive::{Archive, Entry};
use super::elements::{Ended, for_each};
use crate::slack::event::said;
use crate::slack::json::{moment_of, text};
use crate::slack::names::Names;
use crate::slack::people::{exported_chat, person};

/// The lists of chats, and what sort they list.
const LISTS: [(&str, ChatType); 4] = [
    ("channels.json", ChatType::Channel),
    ("groups.json", ChatType::Channel),
    ("mpims.json", ChatType::Group),
    ("dms.json", ChatType::Direct),
];

/// Files at the root of an export that say nothing of chats.
const BESIDE: [&str; 6] = [
    "users.json",
    "org_users.json",
    "integration_logs.json",
    "canvases.json",
    "lists.json",
    "file_conversations.json",
];

/// The folder of a file that holds a day: `general` of `general/2024-01-31.json`.
pub(super) fn day_of(name: &str) -> Option<&str> {
    let (folder, day) = name.split_once('/')?;
    let day = day.strip_suffix(".json")?;
    let is_date = day.len() == 10
        && day.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    is_date.then_some(folder)
}

/// Reads it all.
pub(super) fn read(
    path: &Path,
    options: &ImportOptions,
    sink: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    let mut archive = Archive::open(path, sink)?;
    let bytes_total = archive.entries.iter().map(|entry| entry.bytes).sum();
    let progress = ImportProgress { bytes_done: 0, bytes_total };
    let done = options.messages_done;
    let mut reading = Reading {
        sink,
        progress,
        names: Names::default(),
        chats: BTreeMap::new(),
        facts: Facts::default(),
        messages: 0,
        done,
    };
    let entries = std::mem::take(&mut archive.entries);
    let find = |name: &str| entries.iter().find(|entry| entry.name() == name);
    if let Some(entry) = find("users.json") {
        reading.people(&mut archive, entry)?;
    }
    for (name, chat_type) in LISTS {
        if let Some(entry) = find(name) {
            reading.list(&mut archive, entry, chat_type)?;
        }
    }
    reading.hand_over()?;
    reading.days(&mut archive, &entries)
}

/// A run through an export.
struct Reading<'a> {
    sink: &'a mut dyn ImportSink,
    progress: ImportProgress,
    names: Names,
    /// Ids of chats by the folder they lie in.
    chats: BTreeMap<String, String>,
    facts: Facts,
    messages: u64,
    done: u64,
}

/// What has been read of one chat.
#[derive(Default)]
struct Stretch {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    is_broken: bool,
}

impl Stretch {
    fn add(&mut self, at: Timestamp) {
        self.first = Some(self.first.map_or(at, |first| first.min(at)));
        self.last = Some(self.last.map_or(at, |last| last.max(at)));
    }
}

impl Reading<'_> {
    fn people(&mut self, archive: &mut Archive, entry: &Entry) -> Result<(), ImportError> {
        self.each(archive, entry, |reading, at, value| {
            match person(&value, None) {
                Some(person) => {
                    let facts = Facts { people: vec![person], ..Facts::default() };
                    reading.names.learn(&facts);
                    reading.facts.extend(facts);
                }
                None => reading.skip(entry, Some(at), "it has no id"),
            }
            reading.hand_over_if_full()
        })?;
        Ok(())
    }

    fn list(
        &mut self,
        archive: &mut Archive,
        entry: &Entry,
        chat_type: ChatType,
    ) -> Result<(), ImportError> {
        self.each(archive, entry, |reading, at, value| {
            let Some(chat) = exported_chat(&value, chat_type, &reading.names) else {
                reading.skip(entry, Some(at), "it has no id");
                return Ok(());
            };
            if let Some(name) = text(&value, "name") {
                reading.chats.insert(name.to_owned(), chat.chat_id.clone());
            }
            reading.chats.insert(chat.chat_id.clone(), chat.chat_id.clone());
            let facts = Facts { chats: vec![chat], ..Facts::default() };
            reading.names.learn(&facts);
            reading.facts.extend(facts);
            reading.hand_over_if_full()
        })?;
        Ok(())
    }

    fn days(&mut self, archive: &mut Archive, entries: &[Entry]) -> Result<(), ImportError> {
        let mut at_folder = None;
        let mut stretch = Stretch::default();
        for entry in entries {
            let Some(folder) = day_of(entry.name()) else {
                self.left_out(entry);
                continue;
            };
            if at_folder != Some(folder) {
                self.end_chat(at_folder, &std::mem::take(&mut stretch))?;
                at_folder = Some(folder);
            }
            match self.chats.get(folder).cloned() {
                Some(chat_id) => self.day(archive, entry, &chat_id, &mut stretch)?,
                None => self.skip(entry, None, "no list of chats names its folder"),
            }
        }
        self.end_chat(at_folder, &stretch)?;
        self.hand_over()
    }

    fn day(
        &mut self,
        archive: &mut Archive,
        entry: &Entry,
        chat_id: &str,
        stretch: &mut Stretch,
    ) -> Result<(), ImportError> {
        let is_whole = self.each(archive, entry, |reading, at, value| {
            reading.messages += 1;
            let mut facts = said(chat_id, &value, &reading.names);
            // Names of long ago are not today's.
            facts.chats.clear();
            for message in &facts.messages {
                stretch.add(message.sent_at);
            }
            if facts.is_empty() && moment_of(&value, "ts").is_none() {
                stretch.is_broken = true;
                reading.skip(entry, Some(at), "it is no message with a ts");
            } else if reading.messages > reading.done {
                reading.facts.extend(facts);
            }
            reading.hand_over_if_full()
        })?;
        stretch.is_broken |= !is_whole;
        Ok(())
    }

    /// Says what is whole: everything between the first and the last message. Before and after, the
    /// export may have been cut.
    fn end_chat(&mut self, folder: Option<&str>, stretch: &Stretch) -> Result<(), ImportError> {
        let chat_id = folder.and_then(|folder| self.chats.get(folder)).cloned();
        if let (Some(_), Some(to), false) = (&chat_id, stretch.last, stretch.is_broken) {
            self.facts.held.push(HeldFact { chat_id, from: stretch.first, to });
        }
        self.hand_over_if_full()
    }

    /// Reads a list, and answers whether all of it could be read.
    fn each(
        &mut self,
        archive: &mut Archive,
        entry: &Entry,
        mut take: impl FnMut(&mut Self, usize, Value) -> Result<(), ImportError>,
    ) -> Result<bool, ImportError> {
        let read = match archive.open_entry(entry) {
            Ok(reader) => {
                let mut at = 0;
                for_each(reader, |value| {
                    at += 1;
                    take(self, at - 1, value)
                })
            }
            Err(reason) => Err(Ended::Unreadable(reason)),
        };
        self.progress.bytes_done = self.progress.bytes_done.saturating_add(entry.bytes);
        self.sink.progress(self.progress);
        match read {
            Ok(()) => Ok(true),
            Err(Ended::Stopped(error)) => Err(error),
            Err(Ended::Unreadable(reason)) => {
                let reason = format!("the rest of it is left out: {reason}");
                self.skip(entry, None, &reason);
                Ok(false)
            }
        }
    }

    fn hand_over_if_full(&mut self) -> Result<(), ImportError> {
        if self.facts.len() >= limits::EXPORT_BATCH { self.hand_over() } else { Ok(()) }
    }

    fn hand_over(&mut self) -> Result<(), ImportError> {
        if self.facts.is_empty() {
            return Ok(());
        }
        // What an earlier run has taken stays taken, though this one is not there yet.
        let messages = self.messages.max(self.done);
        self.sink.take(std::mem::take(&mut self.facts), messages)
    }

    fn skip(&mut self, entry: &Entry, at: Option<usize>, reason: &str) {
        let place = match at {
            Some(at) => format!("{}[{at}]", entry.name()),
            None => entry.name().to_owned(),
        };
        self.sink.skipped(Skipped { place, reason: reason.to_owned() });
    }

    /// A file that holds no day.
    fn left_out(&mut self, entry: &Entry) {
        let is_list = LISTS.iter().any(|(name, _)| *name == entry.name());
        let is_of_the_system =
            entry.name().starts_with("__MACOSX/") || entry.name().ends_with(".DS_Store");
        if !is_list && !is_of_the_system && !BESIDE.contains(&entry.name()) {
            self.skip(entry, None, "it holds no day of a chat");
        }
    }
}
