//! Slack's mrkdwn: three signs are escaped, and everything else is text or simple marks.

use super::flavour::{Flavour, Place};
use super::line::Line;
use super::neutral::{UNSEEN, is_call, is_call_in_code};

/// Writes a text. Slack calls nobody unless `<…>` says so, and that is escaped.
pub(super) fn text(line: &mut Line, text: &str, place: Place) {
    for (at, sign) in text.char_indices() {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + sign.len_utf8()..).unwrap_or_default();
        let mut atom = escaped(sign);
        if is_call(Flavour::Slack, before, sign, after) {
            atom.push(UNSEEN);
        }
        line.atom(&atom, place.depth);
    }
}

/// Writes code. A tick inside would end it, so such code is text.
pub(super) fn code(line: &mut Line, code: &str, place: Place) {
    if code.contains('`') || code.trim().is_empty() {
        text(line, code, place);
        return;
    }
    line.glue("`");
    code_text(line, code, place.depth + 1);
    line.atom("`", place.depth);
}

/// A link.
pub(super) fn link(url: &str, label: &str) -> String {
    let url = url.replace('&', "&amp;");
    let label = label.trim();
    if label.is_empty() || label == url {
        return format!("<{url}>");
    }
    format!("<{url}|{label}>")
}

/// Writes a line of a code block.
pub(super) fn code_line(line: &mut Line, text: &str) {
    code_text(line, text, 0);
}

fn code_text(line: &mut Line, text: &str, depth: usize) {
    for (at, sign) in text.char_indices() {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + sign.len_utf8()..).unwrap_or_default();
        let mut atom = escaped(sign);
        // Three ticks would end the block.
        let ends_block = sign == '`' && after.starts_with('`');
        if ends_block || is_call_in_code(Flavour::Slack, before, sign, after) {
            atom.push(UNSEEN);
        }
        line.atom(&atom, depth);
    }
}

fn escaped(sign: char) -> String {
    match sign {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        sign => sign.to_string(),
    }
}
