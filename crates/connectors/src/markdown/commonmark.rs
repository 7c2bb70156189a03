//! The Markdown of GitHub, Sentry and OpenProject: text is escaped, so that it stays text.

use protocol::limits::outbound as limits;

use super::flavour::{Flavour, Place};
use super::line::Line;
use super::neutral::{UNSEEN, is_call, is_call_in_code};

/// Writes a text.
pub(super) fn text(flavour: Flavour, line: &mut Line, text: &str, place: Place) {
    for (at, sign) in text.char_indices() {
        let is_start = line.text.is_empty();
        if is_start && sign.is_whitespace() {
            // It would be code, or nothing.
            continue;
        }
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + sign.len_utf8()..).unwrap_or_default();
        let mut atom = escaped(line, sign, before, after, place);
        if is_call(flavour, before, sign, after) {
            atom.push(UNSEEN);
        }
        line.atom(&atom, place.depth);
    }
}

fn escaped(line: &Line, sign: char, before: &str, after: &str, place: Place) -> String {
    let is_start = line.text.is_empty();
    let is_word = |text: &str, is_before: bool| {
        let sign = if is_before { text.chars().next_back() } else { text.chars().next() };
        sign.is_some_and(char::is_alphanumeric)
    };
    let is_number = || line.text.len() <= 9 && line.text.bytes().all(|byte| byte.is_ascii_digit());
    match sign {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '\\' | '`' | '*' | '~' | '[' | ']' | '$' => format!("\\{sign}"),
        '_' if !(is_word(before, true) && is_word(after, false)) => "\\_".to_owned(),
        '|' if place.is_cell || is_start => "\\|".to_owned(),
        '#' | '-' | '+' | '=' | ':' if is_start => format!("\\{sign}"),
        // What follows may be a link, and would be a picture.
        '!' if after.is_empty() => "\\!".to_owned(),
        '.' | ')' if !is_start && is_number() => format!("\\{sign}"),
        sign => sign.to_string(),
    }
}

/// Writes code.
pub(super) fn code(flavour: Flavour, line: &mut Line, code: &str, place: Place) {
    // A break inside would be read as a blank, and a bar in a cell as the end of it.
    let code: String = code.chars().map(|sign| if sign == '\n' { ' ' } else { sign }).collect();
    if code.trim().is_empty() || (place.is_cell && code.contains('|')) {
        text(flavour, line, &code, place);
        return;
    }
    let mut inner = Line::default();
    code_text(flavour, &mut inner, &code, place.depth + 1);
    let ticks = "`".repeat(longest_row(&inner.text) + 1);
    let needs_blank = inner.text.starts_with('`')
        || inner.text.ends_with('`')
        || (inner.text.starts_with(' ') && inner.text.ends_with(' '));
    let blank = if needs_blank { " " } else { "" };
    line.glue(&ticks);
    line.glue(blank);
    code_text(flavour, line, &code, place.depth + 1);
    line.glue(blank);
    line.atom(&ticks, place.depth);
}

/// A link.
pub(super) fn link(url: &str, label: &str) -> String {
    let label = label.trim();
    if label.is_empty() { format!("<{url}>") } else { format!("[{label}]({url})") }
}

/// Writes a line of a code block.
pub(super) fn code_line(flavour: Flavour, line: &mut Line, text: &str) {
    code_text(flavour, line, text, 0);
}

/// The ticks around a code block.
pub(super) fn fence(text: &str) -> String {
    let row = text.lines().map(longest_row).max().unwrap_or(0).min(limits::MARKDOWN_TICKS_MAX);
    "`".repeat(row.max(2) + 1)
}

fn code_text(flavour: Flavour, line: &mut Line, text: &str, depth: usize) {
    let mut row = 0;
    for (at, sign) in text.char_indices() {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + sign.len_utf8()..).unwrap_or_default();
        row = if sign == '`' { row + 1 } else { 0 };
        let mut atom = sign.to_string();
        if row == limits::MARKDOWN_TICKS_MAX || is_call_in_code(flavour, before, sign, after) {
            atom.push(UNSEEN);
            row = 0;
        }
        line.atom(&atom, depth);
    }
}

/// The longest row of ticks.
fn longest_row(text: &str) -> usize {
    let (mut longest, mut row) = (0, 0);
    for sign in text.chars() {
        row = if sign == '`' { row + 1 } else { 0 };
        longest = longest.max(row);
    }
    longest
}
