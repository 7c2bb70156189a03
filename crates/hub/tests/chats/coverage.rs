//! Every answer says what it does not hold.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};

use crate::world::{add, message, operator};

crate::on_both! {
    what_is_not_held_is_said
    stretches_that_touch_become_one
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
