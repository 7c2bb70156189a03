//! What is remembered, who recalls it, and how it is forgotten.

use std::time::Duration;

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller_in, generous};

use crate::world::{open, open_with, operator, refusal, worker};

crate::on_both! {
    what_is_remembered_is_recalled_by_words_and_by_likeness
    memories_of_a_thread_are_seen_by_those_who_may_see_the_thread
    a_memory_whose_time_is_up_is_never_answered_and_then_deleted
    what_was_of_use_lately_comes_first
    forgetting_is_for_good
    a_view_that_was_lost_is_built_again
    an_envelope_can_ask_for_something_to_be_remembered
    another_workspace_remembers_nothing_of_ours
}

async fn remember(hub: &TestHub, by: &str, text: &str) -> String {
    let input = json!({ "kind": "long_term", "data": { "text": text } });
    let answer = hub.ok(&worker(by), "remember", input).await;
    answer["memory_id"].as_str().unwrap().to_owned()
}

async fn recall(hub: &TestHub, by: &str, query: &str) -> Vec<String> {
    let answer = hub.ok(&worker(by), "recall", json!({ "query": query })).await;
    assert_eq!(answer["index_behind"], false, "the view has caught up");
    texts(&answer)
}

fn texts(answer: &Value) -> Vec<String> {
    let text = |memory: &Value| memory["data"]["text"].as_str().unwrap_or_default().to_owned();
    answer["memories"].as_array().unwrap().iter().map(text).collect()
}

/// Waits until a condition holds; fails when it never does.
pub(crate) async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    for _ in 0..400 {
        if holds().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("never came true: {what}");
}

async fn what_is_remembered_is_recalled_by_words_and_by_likeness(on: On) {
    let hub = TestHub::with(on, generous());
    remember(&hub, "author", "Deploys of the payments service need two approvals").await;
    remember(&hub, "author", "The cat of the office is called Turing").await;
    remember(&hub, "author", "デプロイの手順書は社内にある").await;
    let found = recall(&hub, "reviewer", "how many approvals does a payments deploy need?").await;
    assert!(found[0].starts_with("Deploys"), "{found:?}");
    let found = recall(&hub, "reviewer", "paymnts deployment").await;
    assert!(found[0].starts_with("Deploys"), "spelled wrongly: {found:?}");
    assert!(recall(&hub, "reviewer", "デプロイ手順").await[0].starts_with("デプロイ"));
    let newest = hub.ok(&worker("reviewer"), "recall", json!({})).await;
    assert_eq!(texts(&newest).len(), 3, "without a question, the newest: {newest}");
    hub.stop().await;
}

async fn memories_of_a_thread_are_seen_by_those_who_may_see_the_thread(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let input = json!({
        "kind": "episodic", "thread_id": thread, "data": { "text": "the flaky test is quarantined" },
    });
    hub.ok(&worker("author"), "remember", input.clone()).await;
    assert_eq!(recall(&hub, "reviewer", "flaky test").await.len(), 1);
    assert!(recall(&hub, "outsider", "flaky test").await.is_empty());
    let all = hub.ok(&operator(), "recall", json!({ "query": "flaky test" })).await;
    assert_eq!(all["memories"][0]["thread_id"], thread.as_str());
    assert!(texts(&hub.ok(&worker("outsider"), "recall", json!({})).await).is_empty());
    assert_eq!(hub.code(&worker("outsider"), "remember", input).await, "FORBIDDEN");
    let other = open_with(&hub, &["author"]).await;
    let asked = json!({ "query": "flaky test", "thread_id": other });
    assert!(texts(&hub.ok(&worker("author"), "recall", asked).await).is_empty());
    let lost = json!({ "kind": "episodic", "data": { "text": "where?" } });
    assert_eq!(hub.code(&worker("author"), "remember", lost).await, "VALIDATION_ERROR");
    hub.stop().await;
}

async fn a_memory_whose_time_is_up_is_never_answered_and_then_deleted(on: On) {
    let hub = TestHub::with(on, generous());
    let input = json!({ "kind": "long_term", "data": { "text": "freeze until noon" }, "ttl": 60 });
    hub.ok(&worker("author"), "remember", input).await;
    assert_eq!(recall(&hub, "author", "freeze").await.len(), 1);
    hub.clock.advance_ms(60_000);
    assert!(recall(&hub, "author", "freeze").await.is_empty(), "its time is up");
    assert!(texts(&hub.ok(&worker("author"), "recall", json!({})).await).is_empty());
    // Whatever is remembered next rings the bell of whoever forgets.
    remember(&hub, "author", "another").await;
    eventually("the row is gone", || async {
        let counts: Result<_, store::StoreError> =
            hub.hub.store.read(|tx| tx.count_memories()).await;
        counts.unwrap() == (0, 1)
    })
    .await;
    for ttl in [0, -1, i64::MAX] {
        let input = json!({ "kind": "long_term", "data": { "text": "x" }, "ttl": ttl });
        assert_eq!(hub.code(&worker("author"), "remember", input).await, "VALIDATION_ERROR");
    }
    hub.stop().await;
}

async fn what_was_of_use_lately_comes_first(on: On) {
    const DAY_MS: i64 = 86_400_000;
    let hub = TestHub::with(on, generous());
    remember(&hub, "author", "old note about the build cache").await;
    let pinned = json!({
        "kind": "long_term", "data": { "text": "pinned note about the build cache" }, "pinned": true,
    });
    hub.ok(&worker("author"), "remember", pinned).await;
    hub.clock.advance_ms(400 * DAY_MS);
    remember(&hub, "author", "new note about the build cache").await;
    let found = recall(&hub, "author", "note about the build cache").await;
    assert!(found[2].starts_with("old"), "{found:?}");
    // Being recalled is being of use: it is noted soon after.
    let used = || async {
        let answer = hub.ok(&worker("author"), "recall", json!({})).await;
        let memories = answer["memories"].as_array().unwrap().clone();
        memories.iter().all(|memory| memory["used_at"].as_str().unwrap() > "2027-03")
    };
    remember(&hub, "author", "unrelated").await;
    eventually("uses are noted", used).await;
    hub.stop().await;
}

async fn forgetting_is_for_good(on: On) {
    let hub = TestHub::with(on, generous());
    let id = remember(&hub, "author", "the secret handshake").await;
    let asked = json!({ "memory_id": id });
    let told = refusal(&hub, &worker("reviewer"), "forget", asked.clone()).await;
    assert_eq!(told.code.name(), "INSUFFICIENT_AUTHORITY");
    hub.ok(&worker("author"), "forget", asked.clone()).await;
    assert!(recall(&hub, "author", "secret handshake").await.is_empty());
    assert_eq!(hub.code(&worker("author"), "forget", asked).await, "NOT_FOUND");
    let id = remember(&hub, "author", "another").await;
    hub.ok(&operator(), "forget", json!({ "memory_id": id })).await;
    hub.stop().await;
}

async fn a_view_that_was_lost_is_built_again(on: On) {
    let hub = TestHub::with(on, generous());
    remember(&hub, "author", "kept in the store, found in the view").await;
    assert_eq!(recall(&hub, "author", "found in the view").await.len(), 1);
    let file = hub.views_folder().join("memory.db");
    let hub = hub.restart_after(|| std::fs::write(&file, b"this is no database").unwrap()).await;
    eventually("the view holds everything again", || async {
        !texts(&hub.ok(&worker("author"), "recall", json!({ "query": "found in the view" })).await)
            .is_empty()
    })
    .await;
    hub.stop().await;
}

async fn an_envelope_can_ask_for_something_to_be_remembered(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    for (id, kind) in [("a", "long_term"), ("b", "episodic")] {
        let envelope = json!({
            "id": id, "timestamp": "2026-02-17T12:00:00Z", "channel": "internal", "role": "assistant",
            "content": "noted", "meta": { "thread_id": thread },
            "memory_update": {
                "kind": kind, "data": { "text": format!("{kind}: write to bob@example.org") },
            },
        });
        hub.ok(&worker("author"), "post_envelope", json!({ "envelope": envelope })).await;
    }
    let mut found = recall(&hub, "author", "write to").await;
    found.sort();
    assert_eq!(found[0], "episodic: write to bob@example.org");
    assert!(found[1].starts_with("long_term: write to ⟨email:"), "{found:?}");
    let metrics = hub.hub.metrics_text();
    assert!(metrics.contains("waystation_redactions_total{class=\"email\"} 1"), "{metrics}");
    assert!(!metrics.contains("bob"));
    hub.stop().await;
}

async fn another_workspace_remembers_nothing_of_ours(on: On) {
    let hub = TestHub::with(on, generous());
    remember(&hub, "author", "ours alone").await;
    let stranger = caller_in("wk_other", "author", Role::Operator);
    let found = hub.ok(&stranger, "recall", json!({ "query": "ours alone" })).await;
    assert!(texts(&found).is_empty());
    assert!(texts(&hub.ok(&stranger, "recall", json!({})).await).is_empty());
    hub.stop().await;
}
