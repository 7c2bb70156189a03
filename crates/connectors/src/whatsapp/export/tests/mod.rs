//! Whole exports, read: every language on both platforms, and whatever else may be handed in.

mod archives;
mod chats;
mod fixtures;
mod properties;
mod rules;
mod styles;

use std::path::{Path, PathBuf};

use connector_api::{
    ImportError, ImportOptions, ImportProgress, ImportSink, Importer as _, Skipped,
};
use protocol::chat::{Facts, MessageFact};

use super::WhatsAppExport;

/// Keeps what an import hands over.
#[derive(Debug, Default)]
struct Kept {
    facts: Facts,
    messages: u64,
    takes: Vec<u64>,
    progress: Vec<ImportProgress>,
    skipped: Vec<Skipped>,
}

impl ImportSink for Kept {
    fn take(&mut self, facts: Facts, messages: u64) -> Result<(), ImportError> {
        self.facts.extend(facts);
        self.takes.push(messages);
        self.messages = messages;
        Ok(())
    }

    fn progress(&mut self, progress: ImportProgress) {
        self.progress.push(progress);
    }

    fn skipped(&mut self, skipped: Skipped) {
        self.skipped.push(skipped);
    }
}

impl Kept {
    fn ids(&self) -> Vec<&str> {
        self.facts.messages.iter().map(|message| message.message_id.as_str()).collect()
    }

    fn texts(&self) -> Vec<&str> {
        self.facts.messages.iter().map(|message| message.text.as_str()).collect()
    }

    fn senders(&self) -> Vec<Option<&str>> {
        self.facts.messages.iter().map(|message| message.sender_id.as_deref()).collect()
    }

    fn message(&self, index: usize) -> &MessageFact {
        &self.facts.messages[index]
    }
}

/// A folder with one file in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn try_read(path: &Path, options: &ImportOptions) -> Result<Kept, ImportError> {
    let mut kept = Kept::default();
    WhatsAppExport.read(path, options, &mut kept).map(|()| kept)
}

/// Reads a text under this name.
fn try_import(name: &str, text: &str, options: &ImportOptions) -> Result<Kept, ImportError> {
    let place = Place::new();
    try_read(&place.write(name, text.as_bytes()), options)
}

fn import(name: &str, text: &str) -> Kept {
    try_import(name, text, &ImportOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}
