//! What commands print.

use std::io::Write;

use anyhow::Result;
use serde_json::Value;

/// Prints text and a line end; a closed pipe ends the output, not the command.
pub(crate) fn line(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
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
        return line(&serde_json::to_string_pretty(answer)?);
    }
    line(safe(brief).trim_end())
}

/// Text from others, safe for a terminal: no escape sequences, no hidden direction changes.
pub(crate) fn safe(text: &str) -> String {
    let hidden = |c: char| {
        matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
            || matches!(c, '\u{e0000}'..='\u{e007f}')
    };
    let unsafe_to_print = |c: char| (c.is_control() && c != '\n' && c != '\t') || hidden(c);
    text.chars().map(|c| if unsafe_to_print(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_commands_from_messages() {
        let shown = safe("a\x1b]52;c;aGk=\x07b\u{9b}2Jc\u{202e}d\te\n");
        assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'), "{shown:?}");
        assert_eq!(shown, "a\u{fffd}]52;c;aGk=\u{fffd}b\u{fffd}2Jc\u{fffd}d\te\n");
    }
}
