//! What the stories share: a Telegram archive with a few people in it.

use std::sync::Arc;

use protocol::chat::{ChatGrant, ChatLists};
use protocol::{Caller, ErrorBody, Role};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};

/// The person in charge, who sees every chat.
pub(crate) fn operator() -> Arc<Caller> {
    caller("human", Role::Operator)
}

/// An agent that was given these chats.
pub(crate) fn agent(allow: &[&str], deny: &[&str]) -> Arc<Caller> {
    let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
    let chats = ChatGrant::Lists(ChatLists { allow: parse(allow), deny: parse(deny) });
    Arc::new(Caller { chats, ..(*caller("agent", Role::Worker)).clone() })
}

/// A message of somebody, so many minutes after noon of the 13th of January 2025.
pub(crate) fn message(chat: &str, id: i64, minutes: i64, sender: &str, text: &str) -> Value {
    let sent = protocol::Timestamp::from_ms(1_736_769_600_000 + minutes * 60_000);
    json!({
        "chat_id": chat, "message_id": id.to_string(), "sent_at": sent,
        "sender_id": sender.to_lowercase(), "sender_name": sender, "text": text,
    })
}

/// Adds facts to a source, as an import does.
pub(crate) async fn add(hub: &TestHub, source: &str, facts: Value) -> Value {
    hub.ok(&operator(), "add_messages", json!({ "source": source, "facts": facts })).await
}

/// A hub with an archive: `Antti` (direct), `Family` and `Work` (groups).
pub(crate) async fn archive(on: On) -> TestHub {
    let hub = TestHub::with(on, generous());
    let facts = json!({
        "chats": [
            { "chat_id": "1", "chat_type": "direct", "name": "Antti" },
            { "chat_id": "2", "chat_type": "group", "name": "Family", "participant_count": 4 },
            { "chat_id": "3", "chat_type": "group", "name": "Work" },
        ],
        "messages": [
            message("1", 1, 0, "Antti", "Are you coming to the meeting?"),
            message("1", 2, 1, "Alice", "Yes, the MEETING is at two"),
            message("1", 3, 2, "Antti", "Good"),
            message("2", 1, 3, "Mother", "Dinner on Sunday? 会議の後で"),
            message("3", 1, 4, "Bob", "The project ships on Friday"),
        ],
    });
    add(&hub, "telegram", facts).await;
    hub
}

/// The texts of an answer, in its order.
pub(crate) fn texts(answer: &Value) -> Vec<&str> {
    let messages = answer["messages"].as_array().unwrap();
    messages.iter().map(|message| message["content"].as_str().unwrap()).collect()
}

/// The error of a call that must fail.
pub(crate) async fn refusal(
    hub: &TestHub,
    by: &Arc<Caller>,
    operation: &str,
    input: Value,
) -> ErrorBody {
    match hub.call(by, operation, input.clone()).await {
        Ok(answer) => panic!("{operation} took {input} and answered {answer}"),
        Err(error) => error.body("req".to_owned()),
    }
}
