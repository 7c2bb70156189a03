//! Asking the person at the terminal.

use std::io::{BufRead, IsTerminal, Read, Write};

use anyhow::{Context, Result};

/// An answer is short.
const ANSWER_BYTES_MAX: u64 = 64;

/// Whether there is a person who can be asked.
pub(super) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks a question; anything but yes is no.
pub(super) fn confirm(question: &str) -> Result<bool> {
    let mut out = std::io::stderr().lock();
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    let mut stdin = std::io::stdin().lock();
    (&mut stdin).take(ANSWER_BYTES_MAX).read_line(&mut answer).context("stdin is not text")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

/// Words that are no answer: for the person, beside the output.
pub(super) fn say(text: &str) -> Result<()> {
    writeln!(std::io::stderr().lock(), "{text}").context("stderr is closed")
}
