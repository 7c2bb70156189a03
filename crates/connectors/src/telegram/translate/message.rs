//! A message of the Bot API as a fact.

use protocol::chat::{ContentType, MessageFact};
use protocol::{Timestamp, limits};
use serde_json::{Map, Value};

use super::super::ids;
use super::json::{flag, integer, moment, name_of, text};
use super::people::{ChatName, Gathering, Way};
use super::text::words_of;
use super::{content, service};

/// What every message may have, whatever it holds.
const ENVELOPE: [&str; 47] = [
    "message_id",
    "message_thread_id",
    "direct_messages_topic",
    "from",
    "sender_chat",
    "sender_boost_count",
    "sender_business_bot",
    "sender_tag",
    "date",
    "guest_query_id",
    "guest_bot_caller_user",
    "guest_bot_caller_chat",
    "business_connection_id",
    "chat",
    "forward_origin",
    "forward_from",
    "forward_from_chat",
    "forward_from_message_id",
    "forward_signature",
    "forward_sender_name",
    "forward_date",
    "is_topic_message",
    "is_automatic_forward",
    "reply_to_message",
    "external_reply",
    "quote",
    "reply_to_story",
    "reply_to_checklist_task_id",
    "reply_to_poll_option_id",
    "via_bot",
    "edit_date",
    "has_protected_content",
    "is_from_offline",
    "is_paid_post",
    "media_group_id",
    "author_signature",
    "paid_star_count",
    "entities",
    "link_preview_options",
    "suggested_post_info",
    "effect_id",
    "caption",
    "caption_entities",
    "show_caption_above_media",
    "has_media_spoiler",
    "reply_markup",
    "text",
];

/// Reads a message; `None` where it names no chat or no id.
pub(super) fn read(
    message: &Value,
    way: Way,
    now: Timestamp,
    gathering: &mut Gathering<'_>,
) -> Option<MessageFact> {
    let chat_value = message.get("chat")?;
    let number = integer(message, "message_id")?;
    let chat = gathering.chat(chat_value, way)?;
    let sent_at = moment(message, "date").unwrap_or(now);
    let mut fact = MessageFact::new(chat.id.as_str(), chat.message(number), sent_at, String::new());
    sender(&mut fact, message, chat_value, gathering);
    fact.reply_to = reply_to(message, &chat);
    fact.topic = integer(message, "message_thread_id").map(|topic| chat.message(topic));
    fact.edited_at = moment(message, "edit_date");
    fact.forwarded_from = forwarded_from(message);
    fact.extra = extra(message);
    hold(&mut fact, message, &chat, gathering);
    Some(fact)
}

/// A chat speaks for itself where it is named: an anonymous administrator, a channel.
fn sender(fact: &mut MessageFact, message: &Value, chat: &Value, gathering: &mut Gathering<'_>) {
    let is_channel = text(chat, "type") == Some("channel");
    let of = |key: &str| message.get(key).filter(|speaker| speaker.is_object());
    let speaker = of("sender_chat").or_else(|| of("from")).or_else(|| is_channel.then_some(chat));
    if let Some((id, name)) = speaker.and_then(|speaker| gathering.person(speaker)) {
        fact.sender_id = Some(id);
        fact.sender_name = name;
    }
}

/// The message that is answered, if it stands in the same chat. In a topic, what answers nothing
/// answers the topic's first message; that is no reply.
fn reply_to(message: &Value, chat: &ChatName<'_>) -> Option<String> {
    let answered = message.get("reply_to_message")?;
    let of = |message: &Value| message.get("chat").and_then(|chat| integer(chat, "id"));
    let number = integer(answered, "message_id")?;
    let is_topic = flag(message, "is_topic_message")
        && integer(message, "message_thread_id") == Some(number)
        && answered.get("forum_topic_created").is_some();
    (of(answered) == of(message) && !is_topic).then(|| chat.message(number))
}

fn forwarded_from(message: &Value) -> Option<String> {
    let origin = message.get("forward_origin");
    let named = |value: &Value, key: &str| value.get(key).and_then(name_of);
    origin
        .and_then(|origin| {
            named(origin, "sender_user")
                .or_else(|| text(origin, "sender_user_name").map(str::to_owned))
                .or_else(|| named(origin, "sender_chat"))
                .or_else(|| named(origin, "chat"))
        })
        .or_else(|| named(message, "forward_from"))
        .or_else(|| named(message, "forward_from_chat"))
        .or_else(|| text(message, "forward_sender_name").map(str::to_owned))
}

fn extra(message: &Value) -> Map<String, Value> {
    let mut extra = Map::new();
    for key in ["media_group_id", "author_signature", "business_connection_id"] {
        if let Some(value) = message.get(key) {
            extra.insert(key.to_owned(), value.clone());
        }
    }
    let bot = message.get("via_bot").and_then(|bot| text(bot, "username"));
    if let Some(username) = bot {
        extra.insert("via_bot".to_owned(), username.into());
    }
    if let Some(quote) = message.get("quote").and_then(|quote| text(quote, "text")) {
        extra.insert("quote".to_owned(), quote.into());
    }
    if let Some(other) = message.get("external_reply") {
        let chat = other.get("chat").and_then(|chat| integer(chat, "id"));
        if let (Some(chat), Some(id)) = (chat, integer(other, "message_id")) {
            extra.insert("reply_to_other_chat".to_owned(), format!("{chat}/{id}").into());
        }
    }
    extra
}

/// Fills in what the message holds.
fn hold(
    fact: &mut MessageFact,
    message: &Value,
    chat: &ChatName<'_>,
    gathering: &mut Gathering<'_>,
) {
    let words = words_of(message);
    if let Some((kind, content)) = content::of(message) {
        fact.content = kind;
        fact.attachments = content.attachments;
        fact.extra.extend(content.extra);
        fact.text = words.unwrap_or(content.words);
        return;
    }
    if text(message, "text").is_some() {
        fact.text = words.unwrap_or_default();
        return;
    }
    let who = fact.sender_name.clone().unwrap_or_else(|| "somebody".to_owned());
    if let Some((kind, sentence)) = service::sentence(message, chat, &who, gathering) {
        fact.content = ContentType::Service;
        fact.text = sentence;
        let pinned = message.get("pinned_message").and_then(|pinned| integer(pinned, "message_id"));
        if let Some(pinned) = pinned {
            fact.extra.insert("pinned".to_owned(), ids::live_message(chat.kind, pinned).into());
        }
        fact.extra.insert("kind".to_owned(), kind.into());
        return;
    }
    fact.content = ContentType::Other;
    fact.text = words.unwrap_or_default();
    unknown(fact, message);
}

/// Keeps the name of what is not known, and what was said of it.
fn unknown(fact: &mut MessageFact, message: &Value) {
    let mut found = message.as_object().into_iter().flatten();
    let found = found.find(|(key, _)| !ENVELOPE.contains(&key.as_str()));
    let kind = found.map_or("empty", |(key, _)| key.as_str());
    fact.extra.insert("kind".to_owned(), kind.into());
    if let Some((_, value)) = found {
        keep(&mut fact.extra, value);
    }
}

/// Keeps a value whole, unless it is large.
pub(super) fn keep(extra: &mut Map<String, Value>, value: &Value) {
    if value.to_string().len() <= limits::chats::TELEGRAM_UNKNOWN_BYTES_MAX {
        extra.insert("value".to_owned(), value.clone());
    }
}
