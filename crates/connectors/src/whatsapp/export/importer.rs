//! The importer: finds the chats, surveys each, and reads it.

use std::path::Path;

use connector_api::{
    Detected, ImportError, ImportOptions, ImportProgress, ImportSink, Importer, Probe, Skipped,
};
use protocol::limits;

use super::lines::{Line, Lines};
use super::source::{self, Chat};
use super::survey::{Survey, Surveyor};
use super::writer::{Gathered, Writer};
use super::{dates, media, stamp, title, words};

/// Reads chats that were exported from the app, on Android or an iPhone, in any language.
#[derive(Clone, Copy, Debug, Default)]
pub struct WhatsAppExport;

impl Importer for WhatsAppExport {
    fn service(&self) -> &'static str {
        "whatsapp"
    }

    fn format(&self) -> &'static str {
        "WhatsApp chat export"
    }

    fn detect(&self, probe: &Probe<'_>) -> Option<Detected> {
        let file_name = probe
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        if probe.names.is_empty() {
            return detect_text(&file_name, probe.head);
        }
        detect_names(&file_name, probe.names)
    }

    fn read(
        &self,
        path: &Path,
        options: &ImportOptions,
        sink: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let chats = source::find(path)?;
        // Every text is read twice.
        let total = chats.iter().fold(0_u64, |sum, chat| sum.saturating_add(chat.bytes));
        let mut progress = Progress {
            shown: ImportProgress { bytes_done: 0, bytes_total: total.saturating_mul(2) },
            before: 0,
        };
        let is_only = chats.len() == 1;
        let mut messages = 0;
        for chat in &chats {
            let survey = survey(chat, options, &mut progress, sink)?;
            let stated = options.chat_name.as_deref().filter(|_| is_only);
            let title = title_of(chat, &survey, stated)?;
            let writer = Writer::new(title, &survey, options, &chat.files, sink, messages);
            messages = read_chat(chat, &survey, writer, &mut progress)?;
        }
        progress.finish(sink);
        Ok(())
    }
}

fn detect_text(file_name: &str, head: &[u8]) -> Option<Detected> {
    let found = source::messages_in(head);
    if found == 0 {
        return None;
    }
    let title = title::from_file_name(file_name);
    let confidence = match (&title, title::is_nameless(file_name)) {
        (Some(_), _) => 95,
        (None, true) => 90,
        (None, false) if found > 2 => 75,
        (None, false) => 50,
    };
    Some(Detected { what: describe(title), confidence })
}

fn detect_names(file_name: &str, names: &[String]) -> Option<Detected> {
    let base = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let texts: Vec<String> = names.iter().map(|name| base(name)).collect();
    let is_chat = |name: &&String| *name == "_chat.txt" || title::from_file_name(name).is_some();
    let chats: Vec<&String> = texts.iter().filter(is_chat).collect();
    match chats.as_slice() {
        [] => {
            // A text whose name was changed, beside files that still have the app's names.
            let has_text = texts.iter().any(|name| name.to_ascii_lowercase().ends_with(".txt"));
            let has_media = texts.iter().any(|name| media::is_given_name(name));
            (has_text && has_media).then(|| Detected { what: describe(None), confidence: 60 })
        }
        [chat] => {
            let title = title::from_file_name(chat).or_else(|| title::from_file_name(file_name));
            Some(Detected { what: describe(title), confidence: 95 })
        }
        several => Some(Detected { what: format!("{} chats", several.len()), confidence: 95 }),
    }
}

fn describe(title: Option<String>) -> String {
    title.map_or_else(|| "one chat".to_owned(), |title| format!("one chat, \"{title}\""))
}

/// The chat's name: as it was stated, as the files say, or as the chat itself says.
fn title_of(chat: &Chat, survey: &Survey, stated: Option<&str>) -> Result<String, ImportError> {
    let stated = stated.map(words::trim).filter(|name| !name.is_empty());
    let known = stated
        .map(str::to_owned)
        .or_else(|| chat.title.clone())
        .or_else(|| survey.title.clone())
        .or_else(|| chat.fallback.clone());
    let Some(name) = known else {
        return Err(ImportError::Undecided(format!(
            "{}: nothing says which chat this is; say it with --chat-name \"Anna\", or import the \
             archive that it came in",
            chat.place
        )));
    };
    // A second download of the same chat has a number; what is in the chat tells its name.
    let plain = title::without_copy_number(&name).filter(|plain| {
        stated.is_none() && (survey.is_person(plain) || survey.title.as_deref() == Some(*plain))
    });
    Ok(plain.map_or(name.clone(), str::to_owned))
}

/// How far the reading of all chats is.
struct Progress {
    shown: ImportProgress,
    /// Bytes of earlier readings.
    before: u64,
}

impl Progress {
    fn at(&mut self, bytes: u64, sink: &mut dyn ImportSink) {
        let done = self.before.saturating_add(bytes).min(self.shown.bytes_total);
        if done.saturating_sub(self.shown.bytes_done) >= limits::import::PROGRESS_EVERY_BYTES {
            self.shown.bytes_done = done;
            sink.progress(self.shown);
        }
    }

    fn next(&mut self, bytes: u64) {
        self.before = self.before.saturating_add(bytes);
    }

    fn finish(mut self, sink: &mut dyn ImportSink) {
        self.shown.bytes_done = self.shown.bytes_total;
        sink.progress(self.shown);
    }
}

fn survey(
    chat: &Chat,
    options: &ImportOptions,
    progress: &mut Progress,
    sink: &mut dyn ImportSink,
) -> Result<Survey, ImportError> {
    let surveyor = chat.read(|source| {
        let mut surveyor = Surveyor::default();
        let mut lines = Lines::new(source);
        let mut line = Line::default();
        while lines.read(&mut line).map_err(|error| chat.unreadable(error))? {
            surveyor.add(&line.text);
            progress.at(lines.bytes_read(), sink);
        }
        progress.next(lines.bytes_read());
        Ok(surveyor)
    })?;
    surveyor.finish(&chat.place, options.day_order)
}

fn read_chat(
    chat: &Chat,
    survey: &Survey,
    mut writer: Writer<'_>,
    progress: &mut Progress,
) -> Result<u64, ImportError> {
    let mut skips = Skips { place: chat.place.clone(), count: 0 };
    chat.read(|source| {
        let mut lines = Lines::new(source);
        let mut line = Line::default();
        let mut open: Option<Gathered> = None;
        while lines.read(&mut line).map_err(|error| chat.unreadable(error))? {
            progress.at(lines.bytes_read(), writer.sink());
            if line.is_cut {
                skips.report(&line, "the end of a line that is far too long", writer.sink());
            }
            if let Some((civil, body)) = beginning(&line.text, survey) {
                if let Some(gathered) = open.take() {
                    writer.take(&gathered)?;
                }
                open = Some(Gathered { civil, body: body.to_owned() });
            } else if let Some(gathered) = &mut open {
                if !append(gathered, &line.text) {
                    skips.report(&line, "the end of a message that is far too long", writer.sink());
                }
            } else if !words::trim(&line.text).is_empty() {
                skips.report(&line, "it belongs to no message", writer.sink());
            }
        }
        progress.next(lines.bytes_read());
        if let Some(gathered) = open.take() {
            writer.take(&gathered)?;
        }
        skips.finish(writer.sink());
        writer.finish()
    })
}

/// The time with which a line begins a message. Lines that somebody copied from another chat are
/// written differently, or name days that are none.
fn beginning<'a>(line: &'a str, survey: &Survey) -> Option<(jiff::civil::DateTime, &'a str)> {
    let (stamp, body) = stamp::read(line)?;
    if stamp.shape != survey.shape {
        return None;
    }
    Some((dates::civil(&stamp, survey.order)?, body))
}

/// Adds a line to a message; `false` where there is no room left.
fn append(gathered: &mut Gathered, line: &str) -> bool {
    let length = gathered.body.len().saturating_add(line.len()).saturating_add(1);
    let has_room = length <= limits::MESSAGE_BODY_BYTES_MAX;
    if has_room {
        gathered.body.push('\n');
        gathered.body.push_str(line);
    }
    has_room
}

/// Reports what was left out, the first ones each, the rest as a number.
struct Skips {
    place: String,
    count: u64,
}

impl Skips {
    fn report(&mut self, line: &Line, reason: &str, sink: &mut dyn ImportSink) {
        self.count = self.count.saturating_add(1);
        if self.count <= limits::import::SKIPPED_REPORTS_MAX {
            let place = format!("{}: line {}", self.place, line.number);
            sink.skipped(Skipped { place, reason: reason.to_owned() });
        }
    }

    fn finish(self, sink: &mut dyn ImportSink) {
        let more = self.count.saturating_sub(limits::import::SKIPPED_REPORTS_MAX);
        if more > 0 {
            let reason = format!("{more} more lines were left out");
            sink.skipped(Skipped { place: self.place, reason });
        }
    }
}
