//! Addresses of mail: around each `@`.

use super::class::Class;
use super::find::Found;
use super::folded::Folded;

/// The longest part before the `@` that is looked at.
const LOCAL_CHARS_MAX: usize = 64;
/// The longest host.
const HOST_CHARS_MAX: usize = 253;

/// Endings of files and units that look like hosts.
const NO_ENDING: [&str; 30] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "scss", "js", "mjs", "ts", "tsx",
    "jsx", "json", "html", "xml", "yml", "yaml", "toml", "lock", "service", "socket", "timer",
    "target", "mount", "slice", "path", "tgz", "zip",
];
/// Words before an `@` that name no mailbox: labels of a language, and how git spells a host.
const NO_MAILBOX: [&str; 5] = ["this", "super", "return", "break", "continue"];

/// Finds addresses.
pub(super) fn find(text: &Folded, found: &mut Found) {
    for (at, _) in text.chars().iter().enumerate().filter(|(_, c)| **c == '@') {
        if let Some((start, end)) = around(text, at) {
            found.add(Class::Email, "address", start, end);
        }
    }
}

fn around(text: &Folded, at: usize) -> Option<(usize, usize)> {
    let (left, right) = gaps(text, at)?;
    let start = local_start(text, left)?;
    let end = host_end(text, right)?;
    let local = text.text(start, left).to_lowercase();
    let host = text.text(right, end).to_lowercase();
    let ending = host.rsplit('.').next().unwrap_or_default();
    let is_spaced = (left, right) != (at, at + 1);
    let is_file = NO_ENDING.contains(&ending)
        && (host.matches('.').count() == 1 || ending.len() > 4 || local.is_empty());
    let is_git = local == "git" && text.at(end) == ':' && !text.at(end + 1).is_whitespace();
    let is_label = NO_MAILBOX.contains(&local.as_str()) && !is_spaced;
    (!is_file && !is_git && !is_label).then_some((start, end))
}

/// Where the mailbox ends and the host begins: spaces may stand on both sides of the `@`, not on one.
fn gaps(text: &Folded, at: usize) -> Option<(usize, usize)> {
    match (text.back(at, 1), text.at(at + 1)) {
        (' ', ' ') => Some((at - 1, at + 2)),
        (' ' | '\0', _) | (_, ' ' | '\0') => None,
        _ => Some((at, at + 1)),
    }
}

/// Where the mailbox begins that ends here.
pub(super) fn local_start(text: &Folded, end: usize) -> Option<usize> {
    if text.back(end, 1) == '"' {
        return quoted_start(text, end);
    }
    let mut start = end;
    while start > 0 && end - start < LOCAL_CHARS_MAX && is_local(text.back(start, 1)) {
        start -= 1;
    }
    while start < end && !text.at(start).is_alphanumeric() && text.at(start) != '_' {
        start += 1;
    }
    (start < end && text.back(end, 1) != '.').then_some(start)
}

/// `"very unusual"@example.org`
fn quoted_start(text: &Folded, end: usize) -> Option<usize> {
    let first = end.checked_sub(2)?;
    let open = (end.saturating_sub(LOCAL_CHARS_MAX)..=first)
        .rev()
        .find(|place| matches!(text.at(*place), '"' | '\n'))?;
    let is_quoted = text.at(open) == '"' && first > open;
    is_quoted.then_some(open)
}

/// Where the host ends that begins here.
pub(super) fn host_end(text: &Folded, start: usize) -> Option<usize> {
    if text.at(start) == '[' {
        // `user@[192.0.2.1]`
        let end = text.skip(start + 1, 45, |c| c.is_ascii_hexdigit() || matches!(c, '.' | ':'));
        return (text.at(end) == ']' && end > start + 7).then_some(end + 1);
    }
    let mut end =
        text.skip(start, HOST_CHARS_MAX, |c| c.is_alphanumeric() || matches!(c, '.' | '-'));
    // What follows a host without a space in languages that have none does not belong to it.
    if text.at(start).is_ascii() {
        let ascii = text.skip(start, HOST_CHARS_MAX, |c| {
            c.is_ascii_alphanumeric() || matches!(c, '.' | '-') || is_letter_of_hosts(c)
        });
        end = end.min(ascii);
    }
    while end > start && !text.at(end - 1).is_alphanumeric() {
        end -= 1;
    }
    let host = text.slice(start, end);
    let mut labels: Vec<&[char]> = host.split(|c| *c == '.').collect();
    let ending = labels.pop()?;
    let is_ending = (2..=24).contains(&ending.len())
        && (ending.iter().all(|c| c.is_alphabetic()) || ending.starts_with(&['x', 'n', '-', '-']));
    let is_whole = !labels.is_empty()
        && labels
            .iter()
            .all(|label| !label.is_empty() && label.len() <= 63 && label.first() != Some(&'-'));
    (is_ending && is_whole).then_some(end)
}

/// Letters of the scripts that put spaces between words.
fn is_letter_of_hosts(c: char) -> bool {
    c.is_alphabetic() && u32::from(c) < 0x0e00
}

fn is_local(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '.' | '_' | '-' | '+' | '%' | '~' | '!' | '^' | '\'')
        || (!c.is_ascii() && c.is_alphabetic() && u32::from(c) < 0x0e00)
}
