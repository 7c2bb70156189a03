//! Words with what is written behind them.

use serde_json::Value;

use super::json::{integer, list, text};

/// A text in which hidden addresses are shown: `here (https://example.org/)`.
pub(super) fn shown(words: &str, entities: &[Value]) -> String {
    let mut links: Vec<(usize, &str)> = entities
        .iter()
        .filter(|entity| text(entity, "type") == Some("text_link"))
        .filter_map(|entity| {
            let end = integer(entity, "offset")?.checked_add(integer(entity, "length")?)?;
            Some((usize::try_from(end).ok()?, text(entity, "url")?))
        })
        .collect();
    if links.is_empty() {
        return words.to_owned();
    }
    links.sort_by_key(|(end, _)| *end);
    let mut links = links.into_iter().peekable();
    let mut shown = String::with_capacity(words.len() + 64);
    // Telegram counts in UTF-16.
    let mut at = 0;
    for letter in words.chars() {
        while let Some((_, url)) = links.next_if(|(end, _)| *end <= at) {
            append(&mut shown, url);
        }
        shown.push(letter);
        at += letter.len_utf16();
    }
    for (_, url) in links {
        append(&mut shown, url);
    }
    shown
}

fn append(shown: &mut String, url: &str) {
    if !shown.ends_with(url) {
        shown.push_str(" (");
        shown.push_str(url);
        shown.push(')');
    }
}

/// The words of a message: its text, or its caption.
pub(super) fn words_of(message: &Value) -> Option<String> {
    let of = |words: &str, entities: &str| {
        text(message, words).map(|found| shown(found, list(message, entities)))
    };
    of("text", "entities").or_else(|| of("caption", "caption_entities"))
}

/// The beginning of a text, for a sentence that speaks of it.
pub(super) fn beginning(words: &str) -> String {
    const CHARS_MAX: usize = 80;
    let line = words.lines().next().unwrap_or_default();
    let mut short: String = line.chars().take(CHARS_MAX).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    short
}
