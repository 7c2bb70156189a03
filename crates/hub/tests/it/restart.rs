//! What a hub still knows after it was stopped and started again.

use std::sync::Arc;

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller_in, generous};
use waystation_hub::Settings;

use crate::world::{assert_invalid, messages, open, operator, post, worker};

crate::on_both! {
    a_retry_after_a_restart_gets_the_first_answer
    everything_is_found_again_after_a_restart
    a_key_is_forgotten_when_its_window_has_passed
    a_thread_is_opened_once_with_a_key
    the_key_of_a_thread_is_free_again_when_its_window_has_passed
    sixty_four_concurrent_retries_open_one_thread
}

fn keyed(thread: &str, body: &str) -> Value {
    json!({ "thread_id": thread, "body": body, "idempotency_key": "once" })
}

async fn a_retry_after_a_restart_gets_the_first_answer(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    let first = hub.ok(&author, "post_message", keyed(&thread, "x")).await;
    let hub = hub.restart().await;
    hub.clock.advance_ms(365 * 24 * 3_600_000);
    assert_eq!(hub.ok(&author, "post_message", keyed(&thread, "x")).await, first);
    let other = hub.code(&author, "post_message", keyed(&thread, "y")).await;
    assert_eq!(other, "IDEMPOTENCY_CONFLICT");
    assert_eq!(post(&hub, &author, &thread, "next").await["seq"], 2);
    hub.stop().await;
}

async fn everything_is_found_again_after_a_restart(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let here = json!({ "thread_id": thread });
    for n in 0..20 {
        post(&hub, &worker("author"), &thread, &format!("message {n}")).await;
    }
    let ack = json!({ "thread_id": thread, "last_read_seq": 7 });
    hub.ok(&worker("reviewer"), "ack_read", ack).await;
    hub.ok(&worker("author"), "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    let token = hub.ok(&operator(), "issue_token", json!({ "agent_id": "a" })).await;
    hub.ok(&operator(), "revoke_token", json!({ "jti": token["jti"] })).await;
    let mut before = Vec::new();
    for (operation, input) in [
        ("get_thread", here.clone()),
        ("summarize_thread", here.clone()),
        ("list_threads", json!({})),
        ("list_sessions", json!({})),
        ("list_tokens", json!({ "all": true })),
    ] {
        before.push((operation, input.clone(), hub.ok(&operator(), operation, input).await));
    }
    let log = messages(&hub, &thread).await;
    let hub = hub.restart().await;
    for (operation, input, answer) in before {
        assert_eq!(hub.ok(&operator(), operation, input).await, answer, "{operation}");
    }
    assert_eq!(messages(&hub, &thread).await, log);
    let page = hub.ok(&worker("reviewer"), "read_messages", here).await;
    assert_eq!(page["messages"][0]["seq"], 8);
    hub.stop().await;
}

async fn a_key_is_forgotten_when_its_window_has_passed(on: On) {
    let window = Settings { idempotency_window_ms: Some(3_600_000), ..generous() };
    let hub = TestHub::with(on, window);
    let thread = open(&hub).await;
    let author = worker("author");
    let first = hub.ok(&author, "post_message", keyed(&thread, "x")).await;
    hub.clock.advance_ms(3_600_000);
    assert_eq!(hub.ok(&author, "post_message", keyed(&thread, "x")).await, first);
    let hub = hub.restart().await;
    hub.clock.advance_ms(1);
    let second = hub.ok(&author, "post_message", keyed(&thread, "y")).await;
    assert_eq!(second["seq"], 2);
    // From now on the key means the newer one.
    assert_eq!(hub.ok(&author, "post_message", keyed(&thread, "y")).await, second);
    let old = hub.code(&author, "post_message", keyed(&thread, "x")).await;
    assert_eq!(old, "IDEMPOTENCY_CONFLICT");
    hub.stop().await;
}

/// A thread that is opened with a key.
fn opening(title: &str) -> Value {
    json!({ "title": title, "participants": ["b", "a"], "idempotency_key": "once" })
}

async fn threads(hub: &TestHub) -> usize {
    hub.ok(&operator(), "list_threads", json!({})).await["threads"].as_array().unwrap().len()
}

async fn a_thread_is_opened_once_with_a_key(on: On) {
    let hub = TestHub::with(on, generous());
    let author = worker("author");
    let first = hub.ok(&author, "create_thread", opening("x")).await;
    hub.clock.advance_ms(1_000);
    assert_eq!(hub.ok(&author, "create_thread", opening("x")).await, first);
    // The same in other words is the same.
    let mut same = opening("x");
    same["participants"] = json!(["a", "b", "a"]);
    same["type"] = json!("conversation");
    assert_eq!(hub.ok(&author, "create_thread", same).await, first);
    let hub = hub.restart().await;
    hub.clock.advance_ms(365 * 24 * 3_600_000);
    // Whatever became of the thread since.
    let thread = &first["thread_id"];
    let add = json!({ "thread_id": thread, "participants": ["c"] });
    hub.ok(&author, "add_participants", add).await;
    let close = json!({ "thread_id": thread, "status": "closed" });
    hub.ok(&author, "update_thread_status", close).await;
    assert_eq!(hub.ok(&author, "create_thread", opening("x")).await, first);
    assert_eq!(threads(&hub).await, 1);
    for (field, value) in [
        ("title", json!("y")),
        ("type", json!("incident")),
        ("participants", json!(["a"])),
        ("participants", json!([])),
    ] {
        let mut other = opening("x");
        other[field] = value;
        let code = hub.code(&author, "create_thread", other).await;
        assert_eq!(code, "IDEMPOTENCY_CONFLICT", "{field}");
    }
    // The key is the agent's own, in its workspace; without a key everything is new.
    let elsewhere = caller_in("wk_other", "author", Role::Worker);
    for by in [&worker("reviewer"), &elsewhere] {
        assert_ne!(hub.ok(by, "create_thread", opening("x")).await["thread_id"], *thread);
    }
    hub.ok(&author, "create_thread", json!({ "title": "x" })).await;
    hub.ok(&author, "create_thread", json!({ "title": "x" })).await;
    assert_eq!(threads(&hub).await, 4);
    let cases = ["", "a\nb", &"x".repeat(201)]
        .map(|key| ("idempotency_key", json!({ "title": "x", "idempotency_key": key })));
    assert_invalid(&hub, &author, "create_thread", &cases).await;
    hub.stop().await;
}

async fn the_key_of_a_thread_is_free_again_when_its_window_has_passed(on: On) {
    let window = Settings { idempotency_window_ms: Some(3_600_000), ..generous() };
    let hub = TestHub::with(on, window);
    let author = worker("author");
    let first = hub.ok(&author, "create_thread", opening("x")).await;
    hub.clock.advance_ms(3_600_000);
    assert_eq!(hub.ok(&author, "create_thread", opening("x")).await, first);
    hub.clock.advance_ms(1);
    let second = hub.ok(&author, "create_thread", opening("y")).await;
    assert_ne!(second["thread_id"], first["thread_id"]);
    assert_eq!(hub.ok(&author, "create_thread", opening("y")).await, second);
    let old = hub.code(&author, "create_thread", opening("x")).await;
    assert_eq!(old, "IDEMPOTENCY_CONFLICT");
    hub.stop().await;
}

async fn sixty_four_concurrent_retries_open_one_thread(on: On) {
    let hub = Arc::new(TestHub::with(on, generous()));
    let mut retries = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let hub = Arc::clone(&hub);
        retries
            .spawn(async move { hub.ok(&worker("author"), "create_thread", opening("x")).await });
    }
    let answers = retries.join_all().await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    assert_eq!(threads(&hub).await, 1);
}
