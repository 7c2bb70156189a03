//! What a hub still knows after it was stopped and started again.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous};
use waystation_hub::Settings;

use crate::world::{messages, open, operator, post, worker};

crate::on_both! {
    a_retry_after_a_restart_gets_the_first_answer
    everything_is_found_again_after_a_restart
    a_key_is_forgotten_when_its_window_has_passed
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
