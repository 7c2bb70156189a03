//! Telling a Telegram export from other files by its beginning.

use connector_api::{Detected, Probe};
use memchr::memmem;

use super::format::FILE_NAME;

/// What a chat may call its sort.
const SORTS: [&str; 9] = [
    "\"personal_chat\"",
    "\"bot_chat\"",
    "\"saved_messages\"",
    "\"private_group\"",
    "\"private_supergroup\"",
    "\"public_supergroup\"",
    "\"private_channel\"",
    "\"public_channel\"",
    "\"replies\"",
];

pub(super) fn detect(probe: &Probe<'_>) -> Option<Detected> {
    if probe.head.is_empty() {
        let has_file = probe.names.iter().any(|name| name == FILE_NAME);
        return has_file
            .then(|| found("a folder with an export of Telegram Desktop".to_owned(), 85));
    }
    let head =
        probe.head.strip_prefix("\u{feff}".as_bytes()).unwrap_or(probe.head).trim_ascii_start();
    if head.first() != Some(&b'{') {
        return None;
    }
    let has = |needle: &str| memmem::find(head, needle.as_bytes()).is_some();
    let has_sort = SORTS.iter().any(|sort| has(sort));
    let is_whole = has("\"chats\"") || has("\"left_chats\"") || has("\"personal_information\"");
    let is_dated = has("\"date_unixtime\"") || has("\"from_id\"") || has("\"date\"");
    if is_whole && (has_sort || has("Telegram")) {
        return Some(found("an account with its chats".to_owned(), 95));
    }
    if has("\"messages\"") && has_sort {
        let what = match name(head) {
            Some(name) => format!("one chat, \"{name}\""),
            None => "one chat".to_owned(),
        };
        return Some(found(what, 95));
    }
    let is_named = probe.path.file_name().is_some_and(|name| name == FILE_NAME);
    if has("\"messages\"") && is_dated && (is_named || has("\"text_entities\"")) {
        return Some(found("one chat of an old export".to_owned(), 60));
    }
    is_named.then(|| found("perhaps an export of Telegram Desktop".to_owned(), 20))
}

fn found(what: String, confidence: u8) -> Detected {
    Detected { what, confidence }
}

/// The name of the chat, if it stands before the messages.
fn name(head: &[u8]) -> Option<String> {
    const CHARS_MAX: usize = 80;
    let messages = memmem::find(head, b"\"messages\"")?;
    let before = head.get(..messages)?;
    let key = b"\"name\"";
    let after = before.get(memmem::find(before, key)?.checked_add(key.len())?..)?;
    let value = after.trim_ascii_start().strip_prefix(b":")?;
    let mut values = serde_json::Deserializer::from_slice(value).into_iter::<String>();
    Some(values.next()?.ok()?.chars().take(CHARS_MAX).collect())
}
