//! Every answer says what it does not hold.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::world::{add, message, operator};

crate::on_both! {
    what_is_not_held_is_said
    stretches_that_touch_become_one
    a_context_says_what_its_stretch_does_not_hold
    long_messages_end_a_context_early_and_it_says_so
    a_source_says_how_much_of_it_is_held
}

async fn ask(hub: &TestHub, since: &str, before: &str) -> Value {
    let input = json!({ "source": "telegram", "chat": "1", "since": since, "before": before });
    hub.ok(&operator(), "get_messages", input).await
}

async fn what_is_not_held_is_said(on: On) {
    let hub = TestHub::with(on, generous());
    let facts = json!({
        "messages": [message("1", 1, 0, "A", "hello")],
        "held": [{ "chat_id": "1", "from": "2025-01-10T00:00:00Z", "to": "2025-01-14T00:00:00Z" }],
    });
    add(&hub, "telegram", facts).await;
    let inside = ask(&hub, "2025-01-11T00:00:00Z", "2025-01-12T00:00:00Z").await;
    assert_eq!((&inside["complete"], inside.get("gaps")), (&true.into(), None));
    assert_eq!(inside["oldest_synced"], "2025-01-10T00:00:00Z");
    let outside = ask(&hub, "2025-01-09T00:00:00Z", "2025-01-12T00:00:00Z").await;
    assert_eq!(outside["complete"], false);
    let gap =
        json!([{ "chat_id": "1", "from": "2025-01-09T00:00:00Z", "to": "2025-01-10T00:00:00Z" }]);
    assert_eq!(outside["gaps"], gap);
    hub.stop().await;
}

async fn stretches_that_touch_become_one(on: On) {
    let hub = TestHub::with(on, generous());
    add(&hub, "telegram", json!({ "messages": [message("1", 1, 0, "A", "hello")] })).await;
    for (from, to) in [
        (Some("2025-01-12"), "2025-01-13"),
        (None, "2025-01-10"),
        (Some("2025-01-10"), "2025-01-12"),
    ] {
        let from = from.map(|day| format!("{day}T00:00:00Z"));
        let held =
            json!({ "held": [{ "chat_id": "1", "from": from, "to": format!("{to}T00:00:00Z") }] });
        add(&hub, "telegram", held).await;
    }
    let page = ask(&hub, "2024-01-01", "2025-01-13T00:00:00Z").await;
    assert_eq!(page["complete"], true, "{page}");
    hub.stop().await;
}

async fn context(hub: &TestHub, search: &str, input: Value) -> Value {
    let ask = json!({ "source": "telegram", "chat": "1", "search": search });
    let page = hub.ok(&operator(), "get_messages", ask).await;
    let mut input = input;
    input["message_id"] = page["messages"][0]["id"].clone();
    hub.ok(&operator(), "get_context", input).await
}

async fn a_context_says_what_its_stretch_does_not_hold(on: On) {
    let hub = TestHub::with(on, generous());
    let messages: Vec<Value> =
        (0..9).map(|n| message("1", n, n * 60, "A", &format!("word{n}"))).collect();
    let held = |from: &str, to: &str| json!({ "chat_id": "1", "from": format!("2025-01-13T{from}:00Z"), "to": format!("2025-01-13T{to}:00Z") });
    let facts = json!({
        "messages": messages, "held": [held("12:00", "15:00"), held("16:00", "23:00")],
    });
    add(&hub, "telegram", facts).await;
    let inside = context(&hub, "word5", json!({ "before": 1, "after": 1 })).await;
    assert_eq!((&inside["complete"], inside.get("gaps")), (&true.into(), None), "{inside}");
    assert_eq!(inside["truncated"], false);
    let across = context(&hub, "word4", json!({ "before": 1, "after": 1 })).await;
    assert_eq!(across["complete"], false);
    let gap =
        json!([{ "chat_id": "1", "from": "2025-01-13T15:00:00Z", "to": "2025-01-13T16:00:00Z" }]);
    assert_eq!(across["gaps"], gap);
    let whole = context(&hub, "word4", json!({})).await;
    assert_eq!(whole["gaps"].as_array().unwrap().len(), 3, "before, between and since: {whole}");
    hub.stop().await;
}

async fn long_messages_end_a_context_early_and_it_says_so(on: On) {
    let hub = TestHub::with(on, generous());
    let long = "x".repeat(60_000);
    for part in 0..3 {
        let messages: Vec<Value> = (part * 10..part * 10 + 10)
            .map(|n| message("1", n, n, "A", &format!("word{n} {long}")))
            .collect();
        add(&hub, "telegram", json!({ "messages": messages })).await;
    }
    let found = context(&hub, "word15", json!({ "before": 15, "after": 14 })).await;
    assert_eq!(found["truncated"], true);
    assert_eq!((&found["has_earlier"], &found["has_later"]), (&true.into(), &true.into()));
    assert!(found["messages"].as_array().unwrap().len() < 30);
    hub.stop().await;
}

async fn a_source_says_how_much_of_it_is_held(on: On) {
    let hub = TestHub::with(on, generous());
    let facts = json!({
        "messages": [message("1", 1, 0, "A", "hello")],
        "held": [{ "chat_id": "1", "to": "2025-01-14T00:00:00Z" }],
    });
    add(&hub, "telegram", facts).await;
    let told = hub.ok(&operator(), "list_sources", json!({})).await;
    assert_eq!((&told["complete"], &told["truncated"]), (&false.into(), &false.into()));
    let source = &told["sources"][0];
    assert_eq!(source["complete"], false);
    assert_eq!(source["oldest_synced"], "2025-01-13T12:00:00Z");
    assert_eq!(source["gaps"], json!([{ "chat_id": "1", "from": "2025-01-14T00:00:00Z" }]));
    let other = crate::world::agent(&["telegram/2"], &[]);
    let told = hub.ok(&other, "list_sources", json!({})).await;
    assert_eq!(told["sources"][0].get("gaps"), None, "a chat it does not see leaves no trace");
    hub.stop().await;
}
