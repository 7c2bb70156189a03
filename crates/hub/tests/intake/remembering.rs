//! Whatever road something takes into long-term memory, nothing personal and no secret arrives there.

use serde_json::{Value, json};
use testkit::On;

use crate::service::said;
use crate::world::{eventually, linked, say, worker};

crate::on_both! {
    no_road_into_long_term_memory_carries_anything_personal
}

/// What must not arrive, in words that are found again.
const PRIVATE: &str = "The customer of the zebra order is ana@example.com, card 4111 1111 1111 1111, \
                       key ghp_aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5";

fn memory() -> Value {
    json!({ "kind": "long_term", "data": { "text": PRIVATE, "at": [{ "note": PRIVATE }] } })
}

fn envelope(id: &str, more: &Value) -> Value {
    let mut envelope = json!({
        "id": id, "timestamp": "2026-02-17T12:00:00Z", "channel": "internal", "role": "assistant",
        "content": "noted",
    });
    for (name, value) in more.as_object().unwrap() {
        envelope[name] = value.clone();
    }
    json!({ "envelope": envelope })
}

async fn no_road_into_long_term_memory_carries_anything_personal(on: On) {
    let hub = linked(on).await;
    let agent = worker("a");
    hub.ok(&agent, "remember", memory()).await;
    hub.ok(&agent, "post_envelope", envelope("e1", &json!({ "memory_update": memory() }))).await;
    // The tool runner, in the agent's name.
    let call = json!({ "tool_call": { "name": "remember", "args": memory(), "result": null } });
    let asked = hub.ok(&agent, "post_envelope", envelope("e2", &call)).await;
    let call = json!({ "call_id": asked["call_id"] });
    eventually("the tool has answered", async || {
        hub.ok(&agent, "get_tool_call", call.clone()).await["result"].is_object()
    })
    .await;
    // What is said when work is finished.
    say(&hub, &said("d1", "please look")).await;
    let pulled = hub.ok(&agent, "pull_work", json!({ "wait_ms": 0 })).await;
    let item = &pulled["items"][0];
    let done = json!({
        "work_id": item["work_id"], "fence": item["fence"],
        "replies": [{ "content": "noted", "memory_update": memory() }],
    });
    hub.ok(&agent, "complete_work", done).await;
    let query = json!({ "query": "zebra order customer", "limit": 10 });
    let found = hub.ok(&agent, "recall", query).await;
    assert_eq!(found["memories"].as_array().unwrap().len(), 4, "one by each road: {found}");
    for value in ["ana@example.com", "4111", "ghp_aB3d"] {
        assert!(!found.to_string().contains(value), "{value}: {found}");
    }
    hub.stop().await;
}
