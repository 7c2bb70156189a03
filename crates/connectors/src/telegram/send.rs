//! Sending messages and fetching files.

use connector_api::{ChatPlace, ConnectorError, Outbound, Pace, Posting, Result, Sent};
use protocol::{Timestamp, limits};
use serde_json::{Map, Value, json};

use super::api::Api;
use super::ids;
use super::translate;
use super::translate::json::{integer, moment, text};

/// Sends a text.
pub(super) async fn send(api: &Api, bot_id: &str, message: &Outbound) -> Result<Sent> {
    if ids::is_personal(&message.chat_id) {
        return Err(refused("a bot cannot write into a chat between other people"));
    }
    let chat_id: i64 = message.chat_id.parse().map_err(|_| refused("this is no chat of a bot"))?;
    if message.text.chars().count() > limits::chats::TELEGRAM_TEXT_CHARS_MAX {
        return Err(refused("a message of Telegram has at most 4096 characters; send several"));
    }
    let mut parameters = Map::new();
    parameters.insert("chat_id".to_owned(), chat_id.into());
    parameters.insert("text".to_owned(), message.text.as_str().into());
    // Whoever makes a preview fetches the page: an address in a text would tell somebody of it.
    parameters.insert("link_preview_options".to_owned(), json!({ "is_disabled": true }));
    if let Some(reply_to) = &message.reply_to {
        let id = ids::bot_message(reply_to).ok_or_else(|| refused("there is no such message"))?;
        parameters.insert("reply_parameters".to_owned(), json!({ "message_id": id }));
    }
    if let Some(topic) = &message.topic {
        let id = ids::bot_message(topic).ok_or_else(|| refused("there is no such topic"))?;
        parameters.insert("message_thread_id".to_owned(), id.into());
    }
    let sent = api.call("sendMessage", Value::Object(parameters)).await?;
    read(&sent, bot_id).ok_or_else(|| ConnectorError::Protocol {
        reason: "expected the message that was sent".to_owned(),
    })
}

/// What was sent. Telegram never repeats it to its bot, so the archive takes it from here.
fn read(sent: &Value, bot_id: &str) -> Option<Sent> {
    let chat = sent.get("chat");
    let chat_type = chat.and_then(|chat| text(chat, "type"));
    let kind = if chat_type == Some("channel") { "channel_post" } else { "message" };
    let at: Timestamp = moment(sent, "date")?;
    let message_id = ids::live_message(chat_type, integer(sent, "message_id")?);
    let facts = translate::update(&json!({ "update_id": 0, kind: sent }), bot_id, at);
    Some(Sent { message_id, at, facts })
}

/// One message a second to a chat, fewer to a group, and so many in all.
pub(super) fn paces(posting: &Posting, bot_id: &str) -> Vec<Pace> {
    let Some(place) = ChatPlace::read(&posting.action.address) else { return Vec::new() };
    let pace = |destination: String, count: u32, per_ms: i64| Pace { destination, count, per_ms };
    let chat = format!("telegram:{bot_id}:{}", place.chat_id);
    let mut paces = vec![
        pace(chat.clone(), limits::chats::TELEGRAM_PER_CHAT_SECOND, 1_000),
        pace(format!("telegram:{bot_id}"), limits::chats::TELEGRAM_PER_SECOND, 1_000),
    ];
    if place.chat_id.starts_with('-') {
        let group = format!("{chat}:minute");
        paces.push(pace(group, limits::chats::TELEGRAM_PER_GROUP_MINUTE, 60_000));
    }
    paces
}

/// Fetches a file by its `file_id`.
pub(super) async fn fetch(api: &Api, file_id: &str, bytes_max: usize) -> Result<Vec<u8>> {
    let bytes_max = bytes_max.min(limits::chats::TELEGRAM_FILE_BYTES_MAX);
    let file = api.call("getFile", json!({ "file_id": file_id })).await?;
    let size = integer(&file, "file_size").and_then(|size| usize::try_from(size).ok());
    if size.is_some_and(|size| size > bytes_max) {
        return Err(refused("the file is larger than may be fetched"));
    }
    let path = text(&file, "file_path").ok_or_else(|| refused("the file cannot be downloaded"))?;
    api.download(path, bytes_max).await
}

fn refused(reason: &str) -> ConnectorError {
    ConnectorError::Refused { reason: reason.to_owned() }
}
