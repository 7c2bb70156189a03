//! Sending a text.

use connector_api::{ChatPlace, ConnectorError, Outbound, Pace, Posting, Result, Sent, sent_facts};
use protocol::Timestamp;
use protocol::chat::{Facts, PersonFact};
use protocol::limits::chats as limits;
use serde_json::{Value, json};

use super::api::Graph;
use super::person::digits;
use crate::foreign::Foreign;

/// Hands a text to WhatsApp.
pub(super) async fn send(graph: &Graph, own_id: &str, message: &Outbound) -> Result<Sent> {
    let (answer, date) = graph.post_message(body(message)?).await?;
    let message_id = answer.list("messages").first().and_then(|sent| sent.text("id"));
    let message_id = message_id
        .ok_or_else(|| ConnectorError::Protocol { reason: "the id of the message".to_owned() })?;
    let at = date.unwrap_or_else(this_moment);
    let facts = facts(own_id, message, message_id, at);
    Ok(Sent { message_id: message_id.to_owned(), at, facts })
}

/// What the archive takes of a message that was sent: WhatsApp does not repeat it.
pub(super) fn facts(own_id: &str, message: &Outbound, message_id: &str, at: Timestamp) -> Facts {
    let own = PersonFact { person_id: own_id.to_owned(), is_self: true, ..PersonFact::default() };
    sent_facts(message, message_id, at, own)
}

/// One message to the same person in six seconds, and so many in all in one.
pub(super) fn paces(posting: &Posting, own_id: &str) -> Vec<Pace> {
    let Some(place) = ChatPlace::read(&posting.action.address) else { return Vec::new() };
    let pair_ms = limits::WHATSAPP_PAIR_PAUSE.as_millis();
    vec![
        Pace {
            destination: format!("whatsapp:{own_id}:{}", place.chat_id),
            count: 1,
            per_ms: i64::try_from(pair_ms).unwrap_or(i64::MAX),
        },
        Pace {
            destination: format!("whatsapp:{own_id}"),
            count: limits::WHATSAPP_PER_SECOND,
            per_ms: 1_000,
        },
    ]
}

/// The answer does not say when, save in its `Date`; without it, this machine's clock must do.
#[expect(clippy::disallowed_methods, reason = "the message is sent: only its time is not known")]
fn this_moment() -> Timestamp {
    let since_1970 = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let ms = since_1970.ok().and_then(|passed| i64::try_from(passed.as_millis()).ok());
    Timestamp::from_ms(ms.unwrap_or_default())
}

fn body(message: &Outbound) -> Result<Value> {
    if message.text.chars().count() > limits::WHATSAPP_TEXT_CHARS_MAX {
        let most = limits::WHATSAPP_TEXT_CHARS_MAX;
        let reason = format!("a text has at most {most} characters at WhatsApp");
        return Err(ConnectorError::Refused { reason });
    }
    let mut body = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "type": "text",
        "text": { "body": message.text, "preview_url": false },
    });
    let fields = body.as_object_mut().expect("it was written as an object");
    let to = message.chat_id.as_str();
    match recipient(to) {
        Recipient::Number => fields.insert("to".to_owned(), Value::from(to)),
        Recipient::UserId => fields.insert("recipient".to_owned(), Value::from(to)),
        Recipient::Group => {
            fields.insert("recipient_type".to_owned(), Value::from("group"));
            fields.insert("to".to_owned(), Value::from(to))
        }
    };
    if !message.mark.is_empty() {
        // Each report of how the message fares repeats it.
        fields.insert("biz_opaque_callback_data".to_owned(), Value::from(message.mark.as_str()));
    }
    if let Some(reply_to) = &message.reply_to {
        fields.insert("context".to_owned(), json!({ "message_id": reply_to }));
    }
    Ok(body)
}

#[derive(Debug, PartialEq, Eq)]
enum Recipient {
    Number,
    UserId,
    Group,
}

/// Whom an id means: digits are a number, `DE.1349…` is Meta's id for a person, the rest groups.
fn recipient(id: &str) -> Recipient {
    if digits(id) == id {
        return Recipient::Number;
    }
    let is_country =
        |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_uppercase());
    match id.split_once('.') {
        Some((country, _)) if is_country(country) => Recipient::UserId,
        _ => Recipient::Group,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_ids_and_groups_are_told_apart() {
        assert_eq!(recipient("4915112345678"), Recipient::Number);
        assert_eq!(recipient("US.13491208655302741918"), Recipient::UserId);
        assert_eq!(recipient("US.ENT.11815799212886844830"), Recipient::UserId);
        assert_eq!(recipient("Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM"), Recipient::Group);
    }

    #[test]
    fn a_text_that_is_too_long_is_not_sent() {
        let text = "ä".repeat(limits::WHATSAPP_TEXT_CHARS_MAX);
        let mut message = Outbound { chat_id: "49".to_owned(), text, ..Outbound::default() };
        assert!(body(&message).is_ok());
        message.text.push('!');
        assert!(matches!(body(&message), Err(ConnectorError::Refused { .. })));
    }
}
