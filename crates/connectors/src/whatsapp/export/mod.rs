//! Chats that people export from the app: `_chat.txt` from an iPhone, `WhatsApp Chat with X.txt`
//! from Android, alone, in an archive or in a folder, with or without the files that were sent.
//!
//! The format is made for people: it is written in the language of the phone, has no ids, no time
//! zone, on Android no seconds, and does not say whether the day or the month comes first. So a
//! file is read twice: once to find out how it is written, and once for its messages.

mod archive;
mod attached;
mod content;
mod dates;
mod halves;
mod importer;
mod lines;
mod locales;
mod media;
mod moments;
mod names;
mod place;
mod poll;
mod source;
mod stamp;
mod survey;
mod system;
#[cfg(test)]
mod tests;
mod title;
mod tokens;
mod words;
mod writer;

pub use importer::WhatsAppExport;
