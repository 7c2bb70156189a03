//! One person, one identity.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::world::{add, message, operator, refusal, texts};

crate::on_both! {
    a_phone_makes_one_person_of_two_sources
    a_handle_that_changes_hands_makes_nobody_one
    two_ids_that_the_source_calls_one_are_one
    names_resolve_from_exact_to_part
}

async fn from(hub: &TestHub, source: &str, sender: &str) -> Value {
    hub.ok(&operator(), "get_messages", json!({ "source": source, "sender": sender })).await
}

async fn a_phone_makes_one_person_of_two_sources(on: On) {
    let hub = TestHub::with(on, generous());
    let person = |id: &str, name: &str| {
        json!({ "person_id": id, "name": name,
                "aliases": [{ "kind": "phone", "value": "+49 151 1234" }] })
    };
    let signal = json!({ "people": [person("uuid-1", "Alice A.")],
        "messages": [{ "chat_id": "g", "message_id": "1", "sent_at": "2025-01-13T12:00:00Z",
                       "sender_id": "uuid-1", "text": "on signal" }] });
    add(&hub, "signal", signal).await;
    let whatsapp = json!({ "people": [person("4915112 34", "Alice")],
        "messages": [{ "chat_id": "h", "message_id": "1", "sent_at": "2025-01-13T12:00:00Z",
                       "sender_id": "4915112 34", "text": "on whatsapp" }] });
    add(&hub, "whatsapp", whatsapp).await;
    let page = hub.ok(&operator(), "get_messages", json!({ "sender": "Alice" })).await;
    assert_eq!(texts(&page), ["on whatsapp", "on signal"]);
    hub.stop().await;
}

async fn a_handle_that_changes_hands_makes_nobody_one(on: On) {
    let hub = TestHub::with(on, generous());
    let person = |id: &str, name: &str| {
        json!({ "person_id": id, "name": name,
                "aliases": [{ "kind": "username", "value": "captain" }] })
    };
    let facts = json!({
        "people": [person("1", "Ahab"), person("2", "Nemo")],
        "messages": [
            { "chat_id": "g", "message_id": "1", "sent_at": "2025-01-13T12:00:00Z",
              "sender_id": "1", "text": "the whale" },
            { "chat_id": "g", "message_id": "2", "sent_at": "2025-01-13T12:01:00Z",
              "sender_id": "2", "text": "the nautilus" },
        ],
    });
    add(&hub, "telegram", facts).await;
    assert_eq!(texts(&from(&hub, "telegram", "Ahab").await), ["the whale"]);
    assert_eq!(texts(&from(&hub, "telegram", "Nemo").await), ["the nautilus"]);
    hub.stop().await;
}

async fn two_ids_that_the_source_calls_one_are_one(on: On) {
    let hub = TestHub::with(on, generous());
    let facts = json!({ "messages": [
        message("g", 1, 0, "4911", "before the new number"),
        message("g", 2, 1, "4922", "after it"),
    ] });
    add(&hub, "whatsapp", facts).await;
    let same = json!({ "people": [{ "person_id": "4922", "name": "Alice",
        "aliases": [{ "kind": "id", "value": "4911" }] }] });
    add(&hub, "whatsapp", same).await;
    let page = from(&hub, "whatsapp", "Alice").await;
    assert_eq!(texts(&page), ["after it", "before the new number"]);
    hub.stop().await;
}

async fn names_resolve_from_exact_to_part(on: On) {
    let hub = TestHub::with(on, generous());
    let facts = json!({ "messages": [
        message("g", 1, 0, "Alice", "a"), message("g", 2, 1, "Alice Smith", "b"),
        message("g", 3, 2, "Лена", "c"), message("g", 4, 3, "Леня", "d"),
    ] });
    add(&hub, "telegram", facts).await;
    assert_eq!(texts(&from(&hub, "telegram", "Alice").await), ["a"]);
    assert_eq!(texts(&from(&hub, "telegram", "ALICE SMITH").await), ["b"]);
    assert_eq!(texts(&from(&hub, "telegram", "smi").await), ["b"]);
    assert_eq!(texts(&from(&hub, "telegram", "леня").await), ["d"]);
    let error = refusal(
        &hub,
        &operator(),
        "get_messages",
        json!({ "source": "telegram", "sender": "лен" }),
    )
    .await;
    assert_eq!(error.code.name(), "INVALID_PARAMETER");
    assert!(error.hint.unwrap().contains("'Лена', 'Леня'"));
    hub.stop().await;
}
