//! What the tests of links share.

use std::sync::Arc;
use std::time::Duration;

use protocol::chat::{Facts, MessageFact};
use protocol::{Caller, Role, Timestamp};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};

use crate::service::Service;

/// 2026-02-17T12:00:00Z, where the hub's clock stands.
pub(crate) const NOON_MS: i64 = 1_771_329_600_000;
pub(crate) const TOKEN: &str = "hunter2-hunter2";

pub(crate) fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

/// A hub that can be linked to a service.
pub(crate) fn hub_for(service: &Arc<Service>) -> TestHub {
    TestHub::with_connectors(On::Sqlite, generous(), service.kinds())
}

/// A hub with a link to a service, which is up.
pub(crate) async fn linked(service: &Arc<Service>) -> TestHub {
    let hub = hub_for(service);
    link(&hub).await;
    until(&hub, "connected").await;
    hub
}

pub(crate) async fn link(hub: &TestHub) -> Value {
    let input = json!({ "service": "scripted", "settings": { "token": TOKEN } });
    hub.ok(&operator(), "add_link", input).await
}

/// Waits until the link is doing so.
pub(crate) async fn until(hub: &TestHub, status: &str) {
    eventually(status, async || state(hub).await["status"] == status).await;
}

/// How the link is doing.
pub(crate) async fn state(hub: &TestHub) -> Value {
    hub.ok(&operator(), "list_links", json!({})).await["links"][0].clone()
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..10_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it never came to this: {what}");
}

/// A message of Antti's in a chat, so many seconds after noon.
pub(crate) fn message(chat: &str, id: &str, seconds: i64, text: &str) -> MessageFact {
    let at = Timestamp::from_ms(NOON_MS + seconds * 1_000);
    let mut message = MessageFact::new(chat, id, at, text);
    message.sender_id = Some("antti".to_owned());
    message.sender_name = Some("Antti".to_owned());
    message
}

pub(crate) fn messages(messages: Vec<MessageFact>) -> Facts {
    Facts { messages, ..Facts::default() }
}

/// The messages of a chat as a reader gets them, the oldest first.
pub(crate) async fn read(hub: &TestHub, chat: &str) -> Vec<Value> {
    let input = json!({ "source": "scripted", "chat": chat, "limit": 200, "offline": true });
    let answer = hub.call(&operator(), "get_messages", input).await;
    let mut messages = answer.map_or_else(
        |error| {
            assert!(
                matches!(error.code().name(), "CHAT_NOT_FOUND" | "SOURCE_NOT_FOUND"),
                "{error}"
            );
            Vec::new()
        },
        |answer| answer["messages"].as_array().unwrap().clone(),
    );
    messages.reverse();
    messages
}

/// What was said in a chat, the oldest first.
pub(crate) async fn texts(hub: &TestHub, chat: &str) -> Vec<String> {
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    read(hub, chat).await.iter().map(text).collect()
}

/// Waits until so many messages of a chat are held.
pub(crate) async fn until_held(hub: &TestHub, chat: &str, count: usize) {
    let what = format!("{count} messages in {chat}");
    eventually(&what, async || read(hub, chat).await.len() == count).await;
}

/// What `get_messages` says of how much it holds.
pub(crate) async fn coverage(hub: &TestHub, chat: &str) -> Value {
    let input = json!({ "source": "scripted", "chat": chat, "offline": true, "limit": 1 });
    hub.ok(&operator(), "get_messages", input).await
}
