//! What a service would make something of, though the agent only wrote text: it is broken up with a
//! sign that nobody sees.

use super::Flavour;

/// The sign.
pub(crate) const UNSEEN: char = '\u{200b}';

/// Whether a sign, standing between these texts, calls somebody, links something or looks like one of
/// our own marks unless [`UNSEEN`] follows it.
pub(super) fn is_call(flavour: Flavour, before: &str, sign: char, after: &str) -> bool {
    let next = after.chars().next();
    match sign {
        '@' => {
            let is_address = before.ends_with(|sign: char| sign.is_ascii_alphanumeric());
            flavour != Flavour::Slack
                && !is_address
                && next.is_some_and(|next| next.is_alphanumeric() || next == '_')
        }
        '#' => flavour != Flavour::Slack && next.is_some_and(|next| next.is_ascii_digit()),
        '-' => {
            let is_issue = flavour == Flavour::GitHub
                && ends_with_word(before, "gh")
                && next.is_some_and(|next| next.is_ascii_digit());
            is_issue || is_mark(before, after)
        }
        ':' => {
            let is_person = flavour == Flavour::OpenProject
                && next.is_some_and(|next| !next.is_whitespace())
                && (ends_with_word(before, "user") || ends_with_word(before, "group"));
            is_person || is_mark(before, after)
        }
        '[' => flavour != Flavour::Slack && next == Some('['),
        _ => false,
    }
}

/// The same for code, where services link nothing. OpenProject looks for people even there.
pub(super) fn is_call_in_code(flavour: Flavour, before: &str, sign: char, after: &str) -> bool {
    let is_person = flavour == Flavour::OpenProject
        && matches!(sign, '#' | ':')
        && (ends_with_word(before, "user") || ends_with_word(before, "group"));
    is_person || (matches!(sign, ':' | '-') && is_mark(before, after))
}

/// Whether a sign takes no room and so can hide what stands around it.
pub(super) fn is_invisible(sign: char) -> bool {
    matches!(sign, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Whether one of our marks would stand here.
fn is_mark(before: &str, after: &str) -> bool {
    let is_outbox = after.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("out_"));
    is_outbox
        && before
            .get(before.len().saturating_sub(2)..)
            .is_some_and(|end| end.eq_ignore_ascii_case("ws"))
}

fn ends_with_word(before: &str, word: &str) -> bool {
    let Some(start) = before.len().checked_sub(word.len()) else { return false };
    let is_word = before.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word));
    is_word && !before.get(..start).is_some_and(|rest| rest.ends_with(char::is_alphanumeric))
}
