//! What commands print.

use std::io::Write;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use serde_json::Value;

/// How often it is looked whether anybody reads what a command goes on printing.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Prints text and a line end; a closed pipe ends the output, not the command.
pub(crate) fn line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Ends when nobody reads what is printed any more, for commands that print until they are interrupted.
/// Nothing has to be printed to find out.
pub(crate) async fn nobody_reads() {
    while is_read() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Whether the other end of standard output is there: always, where it is a file.
fn is_read() -> bool {
    let stdout = std::io::stdout();
    let mut end = PollFd::new(&stdout, PollFlags::empty());
    let looked = poll(std::slice::from_mut(&mut end), Some(&Timespec::default()));
    looked.is_err() || !end.revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Prints a notice where Claude Code looks for it.
pub(crate) fn notice(text: &str) -> Result<()> {
    let mut out = std::io::stderr().lock();
    writeln!(out, "{}", safe(text))?;
    Ok(out.flush()?)
}

/// Tells the person something beside what a command prints.
pub(crate) fn note(text: &str) {
    let mut err = std::io::stderr().lock();
    if let Err(error) = writeln!(err, "{}", safe(text)) {
        tracing::debug!(%error, "a note could not be printed");
    }
}

/// Prints an answer: as JSON for scripts, in a few words for people.
pub(crate) fn answer(json: bool, answer: &Value, brief: &str) -> Result<()> {
    if json {
        return self::json(answer);
    }
    line(safe(brief).trim_end())
}

/// Prints a value for scripts, in lines that people can read too.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    line(&escaped(&serde_json::to_string_pretty(value)?))
}

/// Prints one of many values for scripts, each in a line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<()> {
    line(&escaped(&serde_json::to_string(value)?))
}

/// JSON that is safe for a terminal, and the same value. JSON itself escapes only the oldest of the
/// characters that a terminal obeys.
pub(crate) fn escaped(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe(c) {
            safe.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Text from others, safe for a terminal: no escape sequences, no hidden direction changes.
pub(crate) fn safe(text: &str) -> String {
    text.chars().map(|c| if is_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether a terminal would obey a character, or hide something because of it.
fn is_unsafe(c: char) -> bool {
    let hides = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{e0000}'..='\u{e007f}');
    hides || (c.is_control() && c != '\n' && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_safe_for_a_terminal_and_means_the_same() {
        let value =
            serde_json::json!({ "te\u{9b}2Jxt": "a\x1b[31m\u{7f}\u{85}\u{202e}\u{e0041}é\t\n" });
        let shown = escaped(&value.to_string());
        assert!(shown.chars().all(|c| !is_unsafe(c)) && shown.contains("\\u007f\\u0085\\u202e"));
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }

    #[test]
    fn a_terminal_gets_no_commands_from_messages() {
        let shown = safe("a\x1b]52;c;aGk=\x07b\u{9b}2Jc\u{202e}d\te\n");
        assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{shown:?}");
        assert_eq!(shown, "a\u{fffd}]52;c;aGk=\u{fffd}b\u{fffd}2Jc\u{fffd}d\te\n");
    }
}
