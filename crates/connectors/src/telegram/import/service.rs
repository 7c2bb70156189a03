//! Telegram's own words in an export.

use protocol::chat::{ContentType, MessageFact};
use serde_json::{Map, Value};

use super::chat::Chat;
use super::record::Record;

/// What is said of an action. `{}` is who did it, `[name]` a field of the message.
const SENTENCES: [(&str, &str); 29] = [
    ("create_group", "{} created the group “[title]” with [members]"),
    ("create_channel", "{} created “[title]”"),
    ("edit_group_title", "{} changed the title to “[title]”"),
    ("edit_group_photo", "{} changed the photo"),
    ("delete_group_photo", "{} removed the photo"),
    ("invite_members", "{} added [members]"),
    ("remove_members", "{} removed [members]"),
    ("join_group_by_link", "{} joined by a link of [inviter]"),
    ("join_group_by_request", "{} joined by request"),
    ("migrate_to_supergroup", "the group became a supergroup"),
    ("migrate_from_group", "the group “[title]” became this supergroup"),
    ("pin_message", "{} pinned a message"),
    ("clear_history", "{} cleared the history"),
    ("score_in_game", "{} scored [score] in a game"),
    ("send_payment", "[amount] [currency] were paid"),
    ("take_screenshot", "{} took a screenshot"),
    ("joined_telegram", "{} joined Telegram"),
    ("proximity_reached", "{} is within [distance] m of [to]"),
    ("invite_to_group_call", "{} invited [members] to the video chat"),
    ("set_messages_ttl", "{} set messages to be deleted after [period] s"),
    ("group_call_scheduled", "{} scheduled a video chat"),
    ("edit_chat_theme", "{} changed the theme to [emoticon]"),
    ("send_premium_gift", "{} gave [months] months of Telegram Premium"),
    ("topic_created", "{} created the topic “[title]”"),
    ("topic_edit", "{} changed the topic to “[new_title]”"),
    ("suggest_profile_photo", "{} suggested a profile photo"),
    ("boost_apply", "{} boosted the chat [boosts] times"),
    ("allow_sending_messages", "the bot was allowed to write"),
    ("send_webview_data", "data of a web app was sent"),
];

/// Fills in a service message.
pub(super) fn fill(fact: &mut MessageFact, record: &Record, chat: &mut Chat) {
    let who = fact.sender_name.as_deref().unwrap_or("somebody");
    let action = record.action.as_deref().unwrap_or("custom_action");
    let members = record.rest.get("members").and_then(Value::as_array).map(Vec::as_slice);
    let is_own = matches!(members, Some([Value::String(one)]) if one == who);
    fact.content = ContentType::Service;
    let said = match (action, record.rest.get("information_text").and_then(Value::as_str)) {
        (_, Some(information)) => information.to_owned(),
        ("phone_call", _) => {
            fact.content = ContentType::Call;
            call(record.seconds, &record.rest)
        }
        ("group_call", _) => {
            fact.content = ContentType::Call;
            let seconds = record.rest.get("duration").and_then(Value::as_i64);
            seconds.map_or("video chat".to_owned(), |seconds| format!("video chat, {seconds} s"))
        }
        ("remove_members", _) if is_own => format!("{who} left"),
        ("invite_members", _) if is_own => format!("{who} joined"),
        _ => sentence(action, who, &record.rest),
    };
    fact.text = if fact.text.is_empty() { said } else { format!("{said}: {}", fact.text) };
    fact.extra.insert("kind".to_owned(), action.into());
    if action == "topic_created"
        && let Some(number) = record.id
    {
        chat.begin_topic(number);
    }
    if action == "pin_message"
        && let Some(number) = record.rest.get("message_id").and_then(Value::as_i64)
    {
        fact.extra.insert("pinned".to_owned(), chat.message(number).into());
    }
}

fn call(seconds: Option<i64>, rest: &Map<String, Value>) -> String {
    match (seconds, rest.get("discard_reason").and_then(Value::as_str)) {
        (Some(seconds), _) => format!("call, {seconds} s"),
        (None, Some(reason)) if !reason.is_empty() => format!("call, {reason}"),
        _ => "call".to_owned(),
    }
}

fn sentence(action: &str, who: &str, rest: &Map<String, Value>) -> String {
    let known = SENTENCES.iter().find(|(known, _)| *known == action);
    let Some((_, pattern)) = known else {
        return format!("{who}: {}", action.replace('_', " "));
    };
    let mut said = String::new();
    let mut pieces = pattern.split('[');
    said.push_str(&pieces.next().unwrap_or_default().replace("{}", who));
    for piece in pieces {
        let (field, words) = piece.split_once(']').unwrap_or((piece, ""));
        said.push_str(&shown(rest.get(field)));
        said.push_str(words);
    }
    said
}

/// A field as people read it.
fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(several)) => {
            let names = several.iter().map(|one| shown(Some(one)));
            names.collect::<Vec<_>>().join(", ")
        }
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Null) => "a deleted account".to_owned(),
        _ => "?".to_owned(),
    }
}
