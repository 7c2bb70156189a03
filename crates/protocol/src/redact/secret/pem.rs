//! Private keys in their armour.

use super::super::class::Class;
use super::super::find::Found;
use super::super::folded::Folded;

const HEAD: &str = "-----begin ";
const TAIL: &str = "-----end ";
/// The longest name of a kind of key.
const NAME_CHARS_MAX: usize = 40;
/// The longest key.
const BODY_CHARS_MAX: usize = 32 * 1024;
const PUTTY: &str = "putty-user-key-file-";

/// Finds private keys; one without an end ends with what looks like it.
pub(super) fn find(text: &Folded, found: &mut Found) {
    let mut place = 0;
    while place < text.len() {
        if text.at(place) == '-'
            && text.says(place, HEAD)
            && let Some(end) = armour(text, place)
        {
            found.add(Class::ApiKey, "private_key", place, end);
            place = end;
            continue;
        }
        if text.at(place) == 'P' && text.says(place, PUTTY) {
            let end = text.skip(place, BODY_CHARS_MAX, |c| c != '\0');
            found.add(Class::ApiKey, "private_key", place, end);
            place = end;
            continue;
        }
        place += 1;
    }
}

fn armour(text: &Folded, start: usize) -> Option<usize> {
    let name = start + HEAD.len();
    let name_end = text.skip(name, NAME_CHARS_MAX, |c| c.is_ascii_uppercase() || c == ' ');
    if !text.text(name, name_end).contains("PRIVATE KEY") || text.at(name_end) != '-' {
        return None;
    }
    let body = text.skip(name_end, 5, |c| c == '-');
    let last = text.len().min(body + BODY_CHARS_MAX);
    let mut place = body;
    while place < last {
        if text.at(place) == '-' && text.says(place, TAIL) {
            let end = text
                .skip(place + TAIL.len(), NAME_CHARS_MAX, |c| c.is_ascii_uppercase() || c == ' ');
            return Some(text.skip(end, 5, |c| c == '-'));
        }
        if !is_body(text.at(place)) {
            break;
        }
        place += 1;
    }
    Some(place)
}

fn is_body(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(
            c,
            '+' | '/'
                | '='
                | '\n'
                | '\r'
                | ' '
                | '\t'
                | ':'
                | ','
                | '-'
                | '.'
                | '\\'
                | '"'
                | '@'
                | '('
                | ')'
        )
}
