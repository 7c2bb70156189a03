//! A conversation as text: `[timestamp] sender: content`, which nobody in it can forge.
//!
//! ```text
//! [2025-01-13T09:30:00Z] Alice: the first line of her message
//!   | [2025-01-13T09:31:00Z] Bob: her second line, which only looks like Bob
//! [2025-01-13T09:32:00Z] "Bob: I agree": a person who chose a strange name
//! [2025-01-13T09:33:00Z] -: Alice joined
//! # next: messages://telegram/42?cursor=…
//! ```
//!
//! - Only a head begins with `[`, only a further line of the same message with two spaces and a bar,
//!   and only the hub's own notes begin with `#`. Text and names pass through [`clean`], which leaves
//!   the line feed as the one way to end a line, and every line feed within a text is followed by the
//!   bar.
//! - A name ends at the first `: ` after the timestamp. A name that holds a colon, a quote, a bracket,
//!   a bar or a backslash, or is a lone `-`, stands in quotes, in which `\"` and `\\` mean `"` and
//!   `\`.
//! - `-` is a message that nobody sent, such as the service's own word.
//!
//! [`clean`]: super::clean::clean

use std::fmt::{self, Write};

use super::clean::{clean, clean_name};
use crate::time::Timestamp;

/// What a further line of a message begins with.
pub const CONTINUATION: &str = "  | ";
/// What stands for the sender where there is none.
pub const NOBODY: &str = "-";

/// One message. `Display` writes its lines, without a line feed at the end.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// When it was sent.
    pub at: Timestamp,
    /// Who sent it, as their service says; a name without anything to see counts as nobody.
    pub sender: Option<&'a str>,
    /// What it says, or what stands for what is not text.
    pub content: &'a str,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] ", self.at)?;
        write_sender(f, self.sender)?;
        f.write_str(": ")?;
        for (number, line) in clean(self.content).split('\n').enumerate() {
            if number > 0 {
                f.write_char('\n')?;
                f.write_str(CONTINUATION)?;
            }
            f.write_str(line)?;
        }
        Ok(())
    }
}

/// A word of the hub between messages, such as `# next: messages://…`. `Display` writes one line,
/// without a line feed at the end.
#[derive(Clone, Copy)]
pub struct Note<'a> {
    /// What it is about: a word of the hub's own.
    pub about: &'static str,
    /// What there is to say. It may name a chat, so it is cleaned as a text on one line.
    pub text: &'a str,
}

impl fmt::Display for Note<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "# {}: ", self.about)?;
        for c in clean(self.text).chars() {
            f.write_char(if c == '\n' { ' ' } else { c })?;
        }
        Ok(())
    }
}

/// Messages as text, each ended by a line feed.
pub fn render<'a>(lines: impl IntoIterator<Item = Line<'a>>) -> String {
    let mut text = String::new();
    for line in lines {
        text += &line.to_string();
        text.push('\n');
    }
    text
}

fn write_sender(f: &mut fmt::Formatter<'_>, sender: Option<&str>) -> fmt::Result {
    let name = clean_name(sender.unwrap_or_default());
    if name.is_empty() {
        return f.write_str(NOBODY);
    }
    if name != NOBODY && !name.contains(needs_quotes) {
        return f.write_str(&name);
    }
    f.write_char('"')?;
    for c in name.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}

/// Whether a character could be taken for part of a head. What merely looks like a colon cannot
/// mislead a program, but a model reads as people do.
fn needs_quotes(c: char) -> bool {
    matches!(
        c,
        ':' | '"'
            | '['
            | ']'
            | '|'
            | '\\'
            | '\u{2d0}'
            | '\u{589}'
            | '\u{5c3}'
            | '\u{2236}'
            | '\u{a789}'
            | '\u{fe13}'
            | '\u{fe55}'
            | '\u{ff1a}'
    )
}
