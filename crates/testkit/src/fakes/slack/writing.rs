//! What apps write at the fake: messages with blocks and metadata, changes of them, views.

use serde_json::{Value, json};

use super::super::trouble::{Hiding, Trouble};
use super::OWN_ID;
use super::api::{Fields, field, readable};
use super::state::{State, put, text};

/// The text of a section.
const SECTION_CHARS_MAX: usize = 3_000;
/// All of a message.
const MESSAGE_CHARS_MAX: usize = 13_200;
/// Blocks of a message.
const BLOCKS_MAX: usize = 50;
/// What an input is opened with.
const INPUT_CHARS_MAX: usize = 3_000;

pub(super) fn post(
    state: &mut State,
    trouble: &Trouble,
    fields: &Fields,
) -> Result<Value, &'static str> {
    readable(state, fields)?;
    let words = field(fields, "text").filter(|words| !words.is_empty()).ok_or("no_text")?;
    let blocks = blocks(fields)?;
    let metadata = metadata(fields)?;
    let channel = field(fields, "channel").unwrap_or_default();
    let thread = field(fields, "thread_ts");
    let (ts, event) = state.say(channel, OWN_ID, words, thread);
    change(state, channel, &ts, &blocks, &metadata);
    if trouble.hiding() != Hiding::No {
        state.hidden.insert(ts.clone(), trouble.hiding());
    }
    let callback = state.callback(&event);
    state.deliver(callback, 0);
    let mut message = json!({
        "type": "message", "user": OWN_ID, "ts": ts, "text": words, "blocks": blocks,
    });
    if let Some(thread) = thread {
        put(&mut message, "thread_ts", json!(thread));
    }
    Ok(json!({"ok": true, "channel": channel, "ts": ts, "message": message}))
}

pub(super) fn update(state: &mut State, fields: &Fields) -> Result<Value, &'static str> {
    readable(state, fields)?;
    let (blocks, metadata) = (blocks(fields)?, metadata(fields)?);
    let channel = field(fields, "channel").unwrap_or_default();
    let ts = field(fields, "ts").ok_or("message_not_found")?;
    let messages = state.messages.get_mut(channel).ok_or("message_not_found")?;
    let message =
        messages.iter_mut().find(|one| text(one, "ts") == ts).ok_or("message_not_found")?;
    if message["user"] != OWN_ID {
        return Err("cant_update_message");
    }
    let words = field(fields, "text").unwrap_or_default();
    put(message, "text", json!(words));
    put(message, "edited", json!({"user": OWN_ID, "ts": ts}));
    change(state, channel, ts, &blocks, &metadata);
    Ok(json!({"ok": true, "channel": channel, "ts": ts, "text": words}))
}

/// Opens a view with something that a click gave, once.
pub(super) fn open_view(state: &mut State, fields: &Fields) -> Result<Value, &'static str> {
    let trigger = field(fields, "trigger_id").unwrap_or_default();
    if !state.triggers.remove(trigger) {
        return Err("expired_trigger_id");
    }
    let view: Value = field(fields, "view")
        .and_then(|view| serde_json::from_str(view).ok())
        .ok_or("invalid_arguments")?;
    let is_too_long =
        view.get("blocks").and_then(Value::as_array).into_iter().flatten().any(|block| {
            let initial = block.pointer("/element/initial_value").and_then(Value::as_str);
            initial.is_some_and(|text| text.chars().count() > INPUT_CHARS_MAX)
        });
    let title = view.pointer("/title/text").and_then(Value::as_str).unwrap_or_default();
    if is_too_long || title.is_empty() || title.chars().count() > 24 {
        return Err("invalid_arguments");
    }
    let mut view = view;
    put(&mut view, "id", json!(format!("V{}", state.views.len() + 1)));
    state.views.push((trigger.to_owned(), view.clone()));
    Ok(json!({"ok": true, "view": view}))
}

/// Counts a look at a channel, and shows what was hidden for long enough.
pub(super) fn look(state: &mut State, trouble: &Trouble, fields: &Fields) {
    let channel = field(fields, "channel").unwrap_or_default().to_owned();
    let here: Vec<String> = state
        .messages
        .get(&channel)
        .into_iter()
        .flatten()
        .map(|message| text(message, "ts").to_owned())
        .collect();
    for ts in here {
        if let Some(hiding) = state.hidden.get_mut(&ts)
            && trouble.is_listed(hiding)
        {
            state.hidden.remove(&ts);
        }
    }
}

/// A message as a list shows it: its metadata only to whoever asks for it.
pub(super) fn shown(state: &State, mut message: Value, fields: &Fields) -> Value {
    let is_asked = field(fields, "include_all_metadata") == Some("true");
    let wants_metadata = is_asked && !state.withholds_metadata;
    if !wants_metadata && let Some(fields) = message.as_object_mut() {
        fields.remove("metadata");
    }
    message
}

fn change(state: &mut State, channel: &str, ts: &str, blocks: &Value, metadata: &Value) {
    let messages = state.messages.entry(channel.to_owned()).or_default();
    if let Some(message) = messages.iter_mut().find(|one| text(one, "ts") == ts) {
        put(message, "blocks", blocks.clone());
        if !metadata.is_null() {
            put(message, "metadata", metadata.clone());
        }
    }
}

fn blocks(fields: &Fields) -> Result<Value, &'static str> {
    let Some(spelled) = field(fields, "blocks") else { return Ok(json!([])) };
    let blocks: Value = serde_json::from_str(spelled).map_err(|_| "invalid_blocks")?;
    let list = blocks.as_array().ok_or("invalid_blocks_format")?;
    let lengths = list.iter().map(|block| {
        block.pointer("/text/text").and_then(Value::as_str).map_or(0, |text| text.chars().count())
    });
    let lengths: Vec<usize> = lengths.collect();
    if list.len() > BLOCKS_MAX || lengths.iter().any(|length| *length > SECTION_CHARS_MAX) {
        return Err("invalid_blocks");
    }
    if lengths.iter().sum::<usize>() > MESSAGE_CHARS_MAX {
        return Err("msg_blocks_too_long");
    }
    Ok(blocks)
}

fn metadata(fields: &Fields) -> Result<Value, &'static str> {
    let Some(spelled) = field(fields, "metadata") else { return Ok(Value::Null) };
    let metadata: Value = serde_json::from_str(spelled).map_err(|_| "invalid_metadata_format")?;
    let is_whole = metadata.get("event_type").is_some_and(Value::is_string)
        && metadata.get("event_payload").is_some_and(Value::is_object);
    if is_whole { Ok(metadata) } else { Err("invalid_metadata_schema") }
}
