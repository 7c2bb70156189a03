//! Reading what people export from a service. Importers block and never hold a whole file.

use std::path::Path;

use protocol::chat::Facts;

/// What reads one format of export.
pub trait Importer: Send + Sync {
    /// The service: `telegram`.
    fn service(&self) -> &'static str;

    /// The format for people: `Telegram Desktop export`.
    fn format(&self) -> &'static str;

    /// Whether a file or folder is of this format, from a look at its beginning.
    fn detect(&self, probe: &Probe<'_>) -> Option<Detected>;

    /// Reads it all, in order, handing facts over as they come. Blocks.
    fn read(
        &self,
        path: &Path,
        options: &ImportOptions,
        sink: &mut dyn ImportSink,
    ) -> Result<(), ImportError>;
}

/// The beginning of a file, or what lies in an archive or a folder.
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    /// The file or folder.
    pub path: &'a Path,
    /// Its first bytes, at most 64 KiB; empty for a folder.
    pub head: &'a [u8],
    /// The names of what lies in it, where it is an archive or a folder; at most 10,000.
    pub names: &'a [String],
}

/// What a file was found to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The same in words, with what could be seen: `one chat, "Family"`.
    pub what: String,
    /// How sure this is, from 1 to 100; the surest importer reads the file.
    pub confidence: u8,
}

/// How to read.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The zone of times that name none.
    pub zone: jiff::tz::TimeZone,
    /// Whether 3/4 is in April or in March, where the file cannot tell.
    pub day_order: Option<DayOrder>,
    /// The chat's name, where the file does not say.
    pub chat_name: Option<String>,
    /// So many messages were taken by an earlier run: read on, but do not hand them over again.
    pub messages_done: u64,
}

impl Default for ImportOptions {
    fn default() -> Self {
        Self { zone: jiff::tz::TimeZone::UTC, day_order: None, chat_name: None, messages_done: 0 }
    }
}

/// In which order a date names day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DayOrder {
    /// 31/12
    DayFirst,
    /// 12/31
    MonthFirst,
}

/// Where an importer hands over what it reads.
pub trait ImportSink {
    /// Takes facts. `messages` is how many messages have been read up to here, counted from the
    /// beginning of the file, skipped ones included: the place where another run goes on.
    fn take(&mut self, facts: Facts, messages: u64) -> Result<(), ImportError>;

    /// Says how far the reading is.
    fn progress(&mut self, progress: ImportProgress);

    /// Something was left out.
    fn skipped(&mut self, skipped: Skipped);
}

/// How far the reading is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportProgress {
    /// Bytes read.
    pub bytes_done: u64,
    /// Bytes there are.
    pub bytes_total: u64,
}

/// Something that was left out, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Where: `messages[17]`, `line 42`, a file in the archive.
    pub place: String,
    /// Why.
    pub reason: String,
}

/// Why an import ended early.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("cannot read {what}")]
    Read {
        /// Which.
        what: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file is not what it seemed.
    #[error("{place}: {reason}")]
    Malformed {
        /// Where: a line and column, a path in the archive.
        place: String,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// A person must decide first.
    #[error("{0}")]
    Undecided(String),
    /// The archive is larger, deeper or fuller than anything honest.
    #[error("{0}")]
    Hostile(String),
    /// Whoever takes the facts cannot go on.
    #[error("{0}")]
    Stopped(String),
}
