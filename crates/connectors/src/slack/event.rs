//! Events, as facts. Socket Mode and the Events API deliver the same ones.

use protocol::Timestamp;
use protocol::chat::{ChatFact, DeletionFact, EditFact, Facts, ReactionFact};
use serde_json::Value;

use super::json::{moment_of, text};
use super::message::{is_tombstone, message};
use super::names::Names;
use super::people::{chat_type, person};

/// What an `event_callback` says; nothing where it concerns no chat or person.
pub(super) fn facts(callback: &Value, names: &Names) -> Facts {
    let Some(event) = callback.get("event") else { return Facts::default() };
    let own_id = own_id(callback);
    let mut facts = Facts::default();
    match text(event, "type").unwrap_or_default() {
        "message" | "app_mention" => return message_facts(event, names),
        kind @ ("reaction_added" | "reaction_removed") => {
            facts.reactions.extend(reaction(event, kind == "reaction_removed"));
        }
        "channel_rename" | "group_rename" => facts.chats.extend(renamed(event, names)),
        "channel_id_changed" => facts.chats.extend(moved(event)),
        "member_joined_channel" if own_id.is_some() && text(event, "user") == own_id => {
            facts.chats.extend(text(event, "channel").map(|id| ChatFact {
                chat_id: id.to_owned(),
                chat_type: text(event, "channel_type").and_then(chat_type),
                ..ChatFact::default()
            }));
        }
        "user_change" | "team_join" | "user_profile_changed" => {
            facts.people.extend(event.get("user").and_then(|user| person(user, own_id)));
        }
        kind => tracing::debug!(kind, "an event that concerns no chat"),
    }
    facts
}

/// Whether the link itself was just taken into a chat, of whose past it was told nothing.
pub(super) fn is_own_arrival(callback: &Value) -> bool {
    let Some(event) = callback.get("event") else { return false };
    let own_id = own_id(callback);
    text(event, "type") == Some("member_joined_channel")
        && own_id.is_some()
        && text(event, "user") == own_id
}

/// For whom the event was delivered.
pub(super) fn own_id(callback: &Value) -> Option<&str> {
    callback.pointer("/authorizations/0/user_id").and_then(Value::as_str)
}

/// A message, a change of one, or its end.
pub(super) fn message_facts(event: &Value, names: &Names) -> Facts {
    let Some(chat_id) = text(event, "channel") else { return Facts::default() };
    let mut facts = said(chat_id, event, names);
    let sort = text(event, "channel_type").and_then(chat_type);
    if sort.is_some() && !facts.is_empty() && facts.chats.is_empty() {
        let chat_id = chat_id.to_owned();
        facts.chats.push(ChatFact { chat_id, chat_type: sort, ..ChatFact::default() });
    }
    facts
}

/// What a message object of a chat says; exports and history have the same ones as events.
pub(super) fn said(chat_id: &str, value: &Value, names: &Names) -> Facts {
    let mut facts = Facts::default();
    let at = moment_of(value, "event_ts").or_else(|| moment_of(value, "ts"));
    match text(value, "subtype").unwrap_or_default() {
        "message_changed" => return changed(chat_id, value, at, names),
        "message_deleted" => {
            let before = value.get("previous_message").unwrap_or(&Value::Null);
            let deleted = text(value, "deleted_ts").or_else(|| text(before, "ts"));
            facts.deletions.extend(deletion(chat_id, deleted, at));
        }
        // The reply comes by itself; this only says that there is one.
        "message_replied" => {}
        "tombstone" => facts.deletions.extend(deletion(chat_id, text(value, "ts"), at)),
        subtype => {
            if matches!(subtype, "channel_name" | "group_name") {
                facts.chats.extend(text(value, "name").map(|name| ChatFact {
                    chat_id: chat_id.to_owned(),
                    name: Some(name.to_owned()),
                    ..ChatFact::default()
                }));
            }
            facts.messages.extend(message(chat_id, value, names));
        }
    }
    facts
}

fn changed(chat_id: &str, value: &Value, at: Option<Timestamp>, names: &Names) -> Facts {
    let mut facts = Facts::default();
    let Some(now) = value.get("message") else { return facts };
    if is_tombstone(now) {
        facts.deletions.extend(deletion(chat_id, text(now, "ts"), at));
        return facts;
    }
    let Some(mut edited) = message(chat_id, now, names) else { return facts };
    let before = value.get("previous_message").and_then(|old| message(chat_id, old, names));
    // Slack also says "changed" when it adds the preview of a link, which nobody wrote.
    if before.as_ref() == Some(&edited) {
        return facts;
    }
    edited.edited_at = edited.edited_at.or(at);
    facts.edits.push(EditFact { message: edited });
    facts
}

fn deletion(
    chat_id: &str,
    message_id: Option<&str>,
    at: Option<Timestamp>,
) -> Option<DeletionFact> {
    Some(DeletionFact {
        chat_id: chat_id.to_owned(),
        message_id: message_id?.to_owned(),
        at: at?,
        by: None,
    })
}

fn reaction(event: &Value, is_removed: bool) -> Option<ReactionFact> {
    let item = event.get("item")?;
    if text(item, "type") != Some("message") {
        return None;
    }
    Some(ReactionFact {
        chat_id: text(item, "channel")?.to_owned(),
        message_id: text(item, "ts")?.to_owned(),
        person_id: text(event, "user")?.to_owned(),
        emoji: text(event, "reaction")?.to_owned(),
        at: moment_of(event, "event_ts")?,
        is_removed,
    })
}

/// A new name. Renames of channels the link takes no part in are delivered too, and are no news; in
/// one where it does, a message says the same.
fn renamed(event: &Value, names: &Names) -> Option<ChatFact> {
    let channel = event.get("channel")?;
    names.chat(text(channel, "id")?)?;
    Some(ChatFact {
        chat_id: text(channel, "id")?.to_owned(),
        name: Some(text(channel, "name")?.to_owned()),
        ..ChatFact::default()
    })
}

/// A channel that is shared with another workspace may get a new id.
fn moved(event: &Value) -> Option<ChatFact> {
    Some(ChatFact {
        chat_id: text(event, "new_channel_id")?.to_owned(),
        former_ids: vec![text(event, "old_channel_id")?.to_owned()],
        ..ChatFact::default()
    })
}
