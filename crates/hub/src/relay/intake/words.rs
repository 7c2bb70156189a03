//! From what a service said to an envelope. Its words are a stranger's: they are made safe to look at,
//! and stand in the content and below `meta.source`, never where the hub's own words stand.

use std::fmt::Write as _;

use connector_api::Inbound;
use protocol::chat::clean::{clean, clean_name};
use protocol::limits::relay as limits;
use protocol::relay::{Envelope, channel, envelope_role};
use protocol::{DeliveryId, TaskId, limits as all_limits};
use serde_json::{Map, Value, json};
use store::LinkRow;

use super::keys::digest;
use crate::relay::envelope;

/// Where a long text is cut into pieces that are cleaned one by one.
const PIECE_BYTES: usize = 8 * 1024;
/// Facts of a length that cannot be too much, whatever else an envelope says: everything else in it is
/// of names, and short.
const SHORT_BYTES: usize = all_limits::METADATA_BYTES_MAX / 4;

/// The envelope of something that a service said, in its own thread.
pub(super) fn envelope_of(
    link: &LinkRow,
    inbound: &Inbound,
    delivery: DeliveryId,
    task: Option<TaskId>,
) -> Envelope {
    let mut envelope = Envelope {
        timestamp: inbound.at.map_or_else(String::new, |at| at.to_string()),
        channel: channel_of(link),
        role: envelope_role::USER.to_owned(),
        content: text(inbound),
        meta: meta(link, inbound, delivery, task),
        ..Envelope::default()
    };
    if !inbound.facts.is_empty() {
        let source = clean_map(&inbound.facts, 0);
        let is_long = weight(&source) > SHORT_BYTES;
        envelope.meta.insert("source".to_owned(), source);
        if is_long && envelope::to_metadata(&envelope).len() > all_limits::METADATA_BYTES_MAX {
            envelope.meta.insert("source".to_owned(), json!({ "is_cut": true }));
        }
    }
    envelope
}

fn meta(
    link: &LinkRow,
    inbound: &Inbound,
    delivery: DeliveryId,
    task: Option<TaskId>,
) -> Map<String, Value> {
    let mut meta = Map::new();
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            meta.insert(key.to_owned(), value);
        }
    };
    put("mcp_version", envelope::MCP_VERSION.into());
    put("delivery_id", json!(delivery));
    put("task_id", json!(task));
    put("link", link.name.as_str().into());
    put("event", name(&inbound.event).into());
    put("url", url_of(inbound).into());
    put("remote_id", inbound.remote_id.as_deref().map(name).into());
    put("changes", inbound.changes.as_deref().map(name).into());
    put(
        "actor",
        json!({
            "id": name(&inbound.actor.id),
            "name": name(&inbound.actor.name),
            "is_bot": inbound.actor.is_bot,
        }),
    );
    meta
}

/// The channel of a link: its service.
pub(super) fn channel_of(link: &LinkRow) -> String {
    let known = channel::ALL.iter().find(|known| **known == link.service);
    known.map_or_else(|| link.service.clone(), |known| (*known).to_owned())
}

/// Who speaks: the channel, and their id there.
pub(super) fn sender_of(link: &LinkRow, inbound: &Inbound) -> String {
    let who = [&inbound.actor.id, &inbound.actor.name].into_iter().find(|text| !text.is_empty());
    let who = who.map_or("unknown", String::as_str);
    let who: String = clean_name(who)
        .chars()
        .map(|c| if c.is_alphanumeric() || "_-.@+".contains(c) { c } else { '_' })
        .collect();
    let sender = format!("{}:{who}", channel_of(link));
    sender.chars().take(all_limits::NAME_CHARS_MAX).collect()
}

/// What a thread is called.
pub(super) fn title_of(inbound: &Inbound) -> String {
    let title = name(&inbound.title);
    let title = if title.is_empty() { name(&inbound.thread_key) } else { title };
    let title = if title.is_empty() { name(&inbound.event) } else { title };
    if title.is_empty() { "something happened".to_owned() } else { title }
}

/// What something belongs to. A key that is too long for an index is known by its digest.
pub(super) fn thread_key_of(inbound: &Inbound) -> String {
    let key = &inbound.thread_key;
    let is_plain = !key.is_empty() && !key.contains(char::is_control);
    if is_plain && key.len() <= limits::INBOUND_NAME_CHARS_MAX {
        return key.clone();
    }
    let digest = digest(&["thread", key, if key.is_empty() { &inbound.event } else { "" }]);
    let hex = protocol::relay::ActionHash(digest).to_hex();
    let head: String = name(key).chars().take(64).collect();
    format!("{head}#{hex}")
}

/// A name of a stranger's, on one line and not too long.
pub(super) fn name(text: &str) -> String {
    if text.len() < limits::INBOUND_NAME_CHARS_MAX && is_plain_name(text) {
        return text.to_owned();
    }
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut chars = line.chars();
    let head: String = chars.by_ref().take(limits::INBOUND_NAME_CHARS_MAX - 1).collect();
    let cut = if chars.next().is_some() { format!("{head}…") } else { head };
    clean(&cut).into_owned()
}

/// Whether a name is shown as it is, seen at a glance: most are.
fn is_plain_name(text: &str) -> bool {
    let is_spaced =
        |text: &str| text.starts_with(' ') || text.ends_with(' ') || text.contains("  ");
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) && !is_spaced(text)
}

/// An address of a page; what is none a person could open is not shown.
pub(super) fn url_of(inbound: &Inbound) -> Option<String> {
    let url = inbound.url.as_deref()?;
    let is_web = url.starts_with("https://") || url.starts_with("http://");
    let is_plain =
        url.len() <= 2_048 && !url.contains(|c: char| c.is_whitespace() || c.is_control());
    (is_web && is_plain).then(|| url.to_owned())
}

/// What was said, safe to look at. What says nothing is called by its event.
fn text(inbound: &Inbound) -> String {
    let text = long(&inbound.text);
    if text.trim().is_empty() { name(&inbound.event) } else { text }
}

/// The beginning of what was said, on one line.
pub(super) fn shown(inbound: &Inbound, chars_max: usize) -> String {
    let text = text(inbound).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// A text of any length: cleaned piece by piece, and cut where it is too long even so.
fn long(text: &str) -> String {
    let mut whole = String::with_capacity(text.len().min(limits::INBOUND_TEXT_BYTES_MAX));
    let mut done = 0;
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while !rest.is_empty() {
            let (piece, after) =
                rest.split_at(rest.floor_char_boundary(PIECE_BYTES.min(rest.len())));
            whole.push_str(&clean(piece));
            done += piece.len();
            rest = after;
            if whole.len() > limits::INBOUND_TEXT_BYTES_MAX {
                whole.truncate(whole.floor_char_boundary(limits::INBOUND_TEXT_BYTES_MAX));
                let hidden = text.len().saturating_sub(done);
                write!(whole, "\n[cut here: about {hidden} bytes more]")
                    .expect("a string takes whatever is written");
                return whole;
            }
        }
    }
    whole
}

/// Facts of a stranger's, safe to look at.
fn clean_value(value: &Value, depth: usize) -> Value {
    match value {
        // Deeper than any honest fact, and than the hub would read back.
        _ if depth > 32 => Value::Null,
        Value::String(text) => clean(text).into_owned().into(),
        Value::Array(items) => items.iter().map(|item| clean_value(item, depth + 1)).collect(),
        Value::Object(map) => clean_map(map, depth),
        other => other.clone(),
    }
}

fn clean_map(map: &Map<String, Value>, depth: usize) -> Value {
    let fields = map.iter().map(|(key, value)| (name(key), clean_value(value, depth + 1)));
    Value::Object(fields.collect())
}

/// No less than the bytes that a value takes when it is printed.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => 24,
        // A character takes at most as much as `\u0000` does.
        Value::String(text) => 6 * text.len() + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 2,
        Value::Object(map) => {
            map.iter().map(|(key, value)| 6 * key.len() + weight(value) + 4).sum::<usize>() + 2
        }
    }
}
