//! Claude Code's own record of what was said: one JSON object a line, appended as it happens. It proves
//! that a notice arrived, and when its turn began.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use memchr::{memchr, memmem, memrchr};
use serde_json::Value;

use crate::limits::{
    CLAUDE_PROJECTS_MAX, TRANSCRIPT_BLOCK_BYTES, TRANSCRIPT_BYTES_MAX, TRANSCRIPT_LINE_BYTES_MAX,
};

/// How far a notice came, by the transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// It waits for the running turn to end; if the process ends before that, it is lost.
    Queued,
    /// It is part of a turn.
    InTurn,
}

/// What a whole transcript says of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It never came.
    Nothing,
    /// It came so far.
    Marked(Mark),
    /// The transcript is longer than what is searched, and the notice is not in its end.
    TooLong,
}

/// The transcript of a session: in whichever project's folder it stands.
pub fn path_of(folder: &Path, vendor_id: &str) -> Option<PathBuf> {
    let projects = std::fs::read_dir(folder.join("projects")).ok()?;
    let name = format!("{vendor_id}.jsonl");
    let folders = projects.flatten().take(CLAUDE_PROJECTS_MAX);
    folders.map(|project| project.path().join(&name)).find(|path| path.is_file())
}

/// Searches a transcript for a notice, from its end backwards, a block at a time.
pub fn search(path: &Path, wake_id: &str) -> io::Result<Found> {
    let mut file = File::open(path)?;
    let mut end = file.seek(SeekFrom::End(0))?;
    let floor = end.saturating_sub(TRANSCRIPT_BYTES_MAX);
    let mut found = None;
    // The beginning of the lines that were read already: the end of a line that begins before them.
    let mut rest = Vec::new();
    while end > floor {
        let start = end.saturating_sub(TRANSCRIPT_BLOCK_BYTES).max(floor);
        let mut block = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut block)?;
        block.extend_from_slice(&rest);
        let whole = match memchr(b'\n', &block) {
            _ if start == 0 => block.as_slice(),
            Some(first) => block.get(first + 1..).unwrap_or_default(),
            None => &[],
        };
        found = found.max(mark_in(whole, wake_id));
        if found == Some(Mark::InTurn) {
            break;
        }
        let partial = block.len() - whole.len();
        block.truncate(partial.min(TRANSCRIPT_LINE_BYTES_MAX));
        rest = block;
        end = start;
    }
    Ok(match found {
        Some(mark) => Found::Marked(mark),
        None if floor > 0 => Found::TooLong,
        None => Found::Nothing,
    })
}

/// Follows a transcript while it grows.
#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    wake_id: String,
    /// How far it was read; nothing was yet when there is none.
    read_to: Option<u64>,
    /// The beginning of a line whose end is not written yet.
    rest: Vec<u8>,
}

impl Watch {
    /// Begins shortly before what is the end now.
    pub fn new(path: PathBuf, wake_id: &str) -> Self {
        Self { path, wake_id: wake_id.to_owned(), read_to: None, rest: Vec::new() }
    }

    /// Reads what was added since the last look, and says how far the notice is by that.
    pub fn look(&mut self) -> Option<Mark> {
        self.read_on().unwrap_or(None)
    }

    fn read_on(&mut self) -> io::Result<Option<Mark>> {
        let mut file = File::open(&self.path)?;
        let end = file.seek(SeekFrom::End(0))?;
        let start = self.read_to.unwrap_or(end.saturating_sub(TRANSCRIPT_BLOCK_BYTES));
        file.seek(SeekFrom::Start(start))?;
        let mut added = std::mem::take(&mut self.rest);
        let read = file.take(TRANSCRIPT_BLOCK_BYTES).read_to_end(&mut added)?;
        self.read_to = Some(start + read as u64);
        let whole = memrchr(b'\n', &added).map_or(0, |last| last + 1);
        let mark = mark_in(added.get(..whole).unwrap_or_default(), &self.wake_id);
        added.drain(..whole);
        if added.len() <= TRANSCRIPT_LINE_BYTES_MAX {
            self.rest = added;
        }
        Ok(mark)
    }
}

/// The farthest mark in these lines.
fn mark_in(lines: &[u8], wake_id: &str) -> Option<Mark> {
    let hits = memmem::find_iter(lines, wake_id);
    let line_of = |hit: usize| {
        let before = lines.get(..hit).unwrap_or_default();
        let after = lines.get(hit..).unwrap_or_default();
        let start = memrchr(b'\n', before).map_or(0, |end| end + 1);
        let end = memchr(b'\n', after).map_or(lines.len(), |end| hit + end);
        lines.get(start..end).unwrap_or_default()
    };
    hits.filter_map(|hit| mark_of(line_of(hit), wake_id)).max()
}

/// What a line says of a notice. Only what was said to the agent counts: its own words and the answers
/// of its tools may name a wake too.
fn mark_of(line: &[u8], wake_id: &str) -> Option<Mark> {
    let line: Value = serde_json::from_slice(line).ok()?;
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let (said, mark) = match line.get("type")?.as_str()? {
        "user" => (spoken(line.get("message")?.get("content")?), Mark::InTurn),
        "attachment" => {
            let attachment = line.get("attachment")?;
            let is_queued = attachment.get("type")?.as_str()? == "queued_command";
            (is_queued.then(|| text(attachment.get("prompt"))).flatten()?, Mark::InTurn)
        }
        "queue-operation" => {
            let is_added = line.get("operation")?.as_str()? == "enqueue";
            (is_added.then(|| text(line.get("content"))).flatten()?, Mark::Queued)
        }
        _ => return None,
    };
    names(&said, wake_id).then_some(mark)
}

/// The text of a message, without what tools answered.
fn spoken(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().into_iter().flatten();
    let texts = parts.filter_map(|part| part.get("text").and_then(Value::as_str));
    texts.collect::<Vec<_>>().join("\n")
}

/// Whether a text contains exactly this id, and not merely a longer one that begins or ends so.
pub fn names(text: &str, wake_id: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    text.match_indices(wake_id).any(|(at, found)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|after| after.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests;
