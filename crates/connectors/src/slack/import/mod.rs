//! A workspace export: who is there, which chats, and a file for every day of every chat.

mod archive;
mod elements;
mod read;

use std::path::Path;

use connector_api::{Detected, ImportError, ImportOptions, ImportSink, Importer, Probe};

/// What reads workspace exports.
pub(super) const EXPORT: Export = Export;

/// Reads workspace exports, as the zip they come in or as a folder.
#[derive(Debug)]
pub(super) struct Export;

/// The lists of chats, at least one of which every export has.
const CHAT_LISTS: [&str; 4] = ["channels.json", "groups.json", "mpims.json", "dms.json"];

impl Importer for Export {
    fn service(&self) -> &'static str {
        "slack"
    }

    fn format(&self) -> &'static str {
        "Slack workspace export"
    }

    fn detect(&self, probe: &Probe<'_>) -> Option<Detected> {
        let names = || probe.names.iter().map(String::as_str);
        let root = archive::root(names())?;
        let within = || names().filter_map(|name| name.strip_prefix(root));
        if !within().any(|name| CHAT_LISTS.contains(&name)) {
            return None;
        }
        let days = within().filter(|name| read::day_of(name).is_some()).count();
        let what = match days {
            0 => "a workspace export".to_owned(),
            1 => "a workspace export, a day of one chat".to_owned(),
            days => format!("a workspace export, {days} files, each a day of a chat"),
        };
        Some(Detected { what, confidence: if days > 0 { 95 } else { 80 } })
    }

    fn read(
        &self,
        path: &Path,
        options: &ImportOptions,
        sink: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        read::read(path, options, sink)
    }
}
