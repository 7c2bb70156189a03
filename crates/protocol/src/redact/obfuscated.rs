//! Addresses of mail that are spelled for people: `name (at) host dot org`.

use super::class::Class;
use super::email::{host_end, local_start};
use super::find::Found;
use super::folded::Folded;

/// Words for the `@`, in lower case, with the word for the dot that goes with them.
const SIGNS: [(&str, &[&str]); 6] = [
    ("at", &["dot", "punkt", "."]),
    ("ät", &["punkt", "dot", "."]),
    ("arroba", &["punto", "dot", "."]),
    ("arobase", &["point", "dot", "."]),
    ("małpa", &["kropka", "dot", "."]),
    ("chiocciola", &["punto", "."]),
];
/// Endings that a spelled host may have; whatever is bracketed may have any.
const ENDINGS: [&str; 44] = [
    "com", "org", "net", "edu", "gov", "io", "de", "fr", "es", "pl", "it", "nl", "uk", "jp", "eu",
    "us", "ca", "ch", "at", "be", "br", "mx", "ar", "cl", "se", "no", "fi", "dk", "ie", "pt", "cz",
    "in", "au", "nz", "cn", "ru", "info", "dev", "app", "test", "example", "co", "me", "invalid",
];
const HOST_LABELS_MAX: usize = 5;
const LABEL_CHARS_MAX: usize = 63;

/// Finds addresses that are spelled.
pub(super) fn find(text: &Folded, found: &mut Found) {
    for place in 0..text.len() {
        let last = text.back(place, 1);
        if !matches!(last, ' ' | '(' | '[' | '{' | '<' | '-' | '_') {
            continue;
        }
        for (sign, dots) in SIGNS {
            if says(text, place, sign)
                && let Some((start, end)) = around(text, place, place + sign.chars().count(), dots)
            {
                found.add(Class::Email, "spelled", start, end);
            }
        }
    }
}

fn says(text: &Folded, place: usize, word: &str) -> bool {
    word.chars().enumerate().all(|(n, c)| {
        let there = text.at(place + n);
        there == c || there.to_lowercase().eq(c.to_lowercase())
    })
}

fn around(text: &Folded, start: usize, end: usize, dots: &[&str]) -> Option<(usize, usize)> {
    let (left, is_bracketed) = open(text, start);
    let right = close(text, end, is_bracketed)?;
    let from = local_start(text, left)?;
    if let Some(end) = is_bracketed.then(|| host_end(text, right)).flatten() {
        return Some((from, end));
    }
    let end = spelled_host(text, right, dots, is_bracketed)?;
    Some((from, end))
}

/// Where the mailbox before the sign ends, and whether the sign is bracketed.
fn open(text: &Folded, start: usize) -> (usize, bool) {
    let mut left = start;
    let is_bracketed = matches!(text.back(left, 1), '(' | '[' | '{' | '<' | '-' | '_');
    left -= usize::from(is_bracketed);
    while left > 0 && start - left < 4 && text.back(left, 1) == ' ' {
        left -= 1;
    }
    (left, is_bracketed)
}

/// Where the host after the sign begins.
fn close(text: &Folded, end: usize, is_bracketed: bool) -> Option<usize> {
    let mut right = end;
    if is_bracketed {
        if !matches!(text.at(right), ')' | ']' | '}' | '>' | '-' | '_') {
            return None;
        }
        right += 1;
    } else if text.at(right) != ' ' {
        return None;
    }
    Some(text.skip(right, 3, |c| c == ' '))
}

/// `example dot co dot uk`
fn spelled_host(text: &Folded, start: usize, dots: &[&str], is_bracketed: bool) -> Option<usize> {
    let mut place = start;
    let mut end = None;
    for _ in 0..HOST_LABELS_MAX {
        // What follows without a space in languages that have none does not belong to it.
        let label = text.skip(place, LABEL_CHARS_MAX, |c| {
            (c.is_alphanumeric() && u32::from(c) < 0x0e00) || c == '-'
        });
        if label == place {
            break;
        }
        let ending = text.text(place, label).to_lowercase();
        if place > start && (is_bracketed || ENDINGS.contains(&ending.as_str())) {
            end = Some(label);
        }
        // Without brackets a plain dot says nothing: `look at example.com`.
        let dots = dots.iter().filter(|dot| is_bracketed || **dot != ".");
        let Some(next) = dots.into_iter().find_map(|dot| spelled_dot(text, label, dot)) else {
            break;
        };
        place = next;
    }
    end
}

/// Where the label after a spelled dot begins.
fn spelled_dot(text: &Folded, from: usize, dot: &str) -> Option<usize> {
    let mut place = text.skip(from, 2, |c| c == ' ');
    let is_spaced = place > from;
    let is_bracketed = matches!(text.at(place), '(' | '[' | '{' | '<' | '-' | '_');
    place += usize::from(is_bracketed);
    if dot == "." {
        return (!is_spaced && !is_bracketed && text.at(place) == '.').then_some(place + 1);
    }
    if !(is_spaced || is_bracketed) || !says(text, place, dot) {
        return None;
    }
    place += dot.chars().count();
    if is_bracketed {
        if !matches!(text.at(place), ')' | ']' | '}' | '>' | '-' | '_') {
            return None;
        }
        place += 1;
    } else if text.at(place) != ' ' {
        return None;
    }
    Some(text.skip(place, 2, |c| c == ' '))
}
