//! Messages to chats, as postings: each stands in its chat, or in the thread of what it answers.

use connector_api::{ChatPlace, Connector, Outbound, Part, Receipt, Result};
use parking_lot::RwLock;
use protocol::chat::Facts;
use serde_json::Value;

use super::api::Api;
use super::client::SlackLink;
use super::message::message as read_message;
use super::names::Names;
use super::post_relay;

/// Posts one part, once.
pub(super) async fn post(link: &SlackLink, place: ChatPlace, part: &Part) -> Result<Receipt> {
    let topic = thread(&place);
    let text = part.body.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mark = part.mark.clone();
    let outbound = Outbound { chat_id: place.chat_id, text, reply_to: None, topic, mark };
    let sent = link.send(&outbound).await?;
    let topic = outbound.topic.as_deref();
    let receipt = post_relay::receipt(&outbound.chat_id, &sent.message_id, topic);
    Ok(Receipt { facts: sent.facts, ..receipt })
}

/// Looks for a part by its mark.
pub(super) async fn find(
    api: &Api,
    names: &RwLock<Names>,
    place: ChatPlace,
    part: &Part,
) -> Result<Option<Receipt>> {
    let outbox_id = part.mark.split(' ').next().unwrap_or_default();
    let thread = thread(&place);
    let found =
        post_relay::look(api, &place.chat_id, thread.as_deref(), outbox_id, part.index).await?;
    Ok(found.map(|(receipt, message)| {
        let fact = read_message(&place.chat_id, &message, &names.read());
        let facts = Facts { messages: fact.into_iter().collect(), ..Facts::default() };
        Receipt { facts, ..receipt }
    }))
}

/// An answer at Slack is a message in the thread of what it answers, or in the thread that begins.
fn thread(place: &ChatPlace) -> Option<String> {
    place.topic.clone().or_else(|| place.reply_to.clone())
}
