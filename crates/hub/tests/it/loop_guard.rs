//! Quotas, and the guard against agents that talk to each other for ever.

use serde_json::json;
use testkit::{On, TestHub, generous};
use waystation_hub::{Rate, Settings};

use crate::world::{coordinator, messages, open, operator, post, refusal, worker};

crate::on_both! {
    agents_that_talk_too_long_are_paused_visibly
    a_person_or_an_orchestrator_lets_them_go_on
    posts_beyond_the_quota_wait_as_long_as_it_says
    other_calls_have_a_quota_of_their_own
}

fn three_turns() -> Settings {
    Settings { agent_turns_max: 3, ..generous() }
}

async fn agents_that_talk_too_long_are_paused_visibly(on: On) {
    let hub = TestHub::with(on, three_turns());
    let thread = open(&hub).await;
    let (author, reviewer) = (worker("author"), worker("reviewer"));
    for _ in 0..5 {
        post(&hub, &author, &thread, "one speaker is one turn").await;
    }
    post(&hub, &reviewer, &thread, "two").await;
    post(&hub, &author, &thread, "three").await;
    let fourth = post(&hub, &reviewer, &thread, "four").await;
    assert_eq!(fourth["seq"], 8, "the message that went too far is still taken");
    let said = messages(&hub, &thread).await;
    assert_eq!(said[8]["kind"], "system");
    assert_eq!(said[8]["metadata"]["event_type"], "thread_paused");
    for by in [&author, &reviewer, &coordinator()] {
        let more = json!({ "thread_id": thread, "body": "more" });
        let error = refusal(&hub, by, "post_message", more).await;
        assert_eq!(error.code.name(), "CONFLICT");
        assert!(error.message.contains("paused"), "{}", error.message);
        assert!(error.hint.unwrap().contains("operator"));
    }
    let seen = hub.ok(&author, "get_thread", json!({ "thread_id": thread })).await;
    assert_eq!(seen["paused_at"], "2026-02-17T12:00:00Z");
    let listed = hub.ok(&author, "list_threads", json!({})).await;
    assert_eq!(listed["threads"][0]["paused"], true);
    hub.ok(&author, "read_messages", json!({ "thread_id": thread })).await;
    hub.stop().await;
}

async fn a_person_or_an_orchestrator_lets_them_go_on(on: On) {
    let hub = TestHub::with(on, three_turns());
    let thread = open(&hub).await;
    let (author, reviewer) = (worker("author"), worker("reviewer"));
    let talk = async || {
        for (by, body) in [(&author, "1"), (&reviewer, "2"), (&author, "3"), (&reviewer, "4")] {
            post(&hub, by, &thread, body).await;
        }
        let more = json!({ "thread_id": thread, "body": "more" });
        assert_eq!(hub.code(&author, "post_message", more).await, "CONFLICT");
    };
    talk().await;
    post(&hub, &operator(), &thread, "go on").await;
    let seen = hub.ok(&author, "get_thread", json!({ "thread_id": thread })).await;
    assert_eq!(seen.get("paused_at"), None);
    talk().await;
    let active = json!({ "thread_id": thread, "status": "active" });
    // A worker cannot let itself go on.
    hub.ok(&author, "update_thread_status", active.clone()).await;
    let seen = hub.ok(&author, "get_thread", json!({ "thread_id": thread })).await;
    assert!(seen["paused_at"].is_string());
    let before = messages(&hub, &thread).await.len();
    hub.clock.advance_ms(60_000);
    let lifted = hub.ok(&coordinator(), "update_thread_status", active.clone()).await;
    assert_eq!(lifted["updated_at"], "2026-02-17T12:01:00Z");
    let listed = hub.ok(&author, "list_threads", json!({})).await;
    assert_eq!(listed["threads"][0].get("paused"), None);
    assert_eq!(listed["threads"][0]["updated_at"], lifted["updated_at"]);
    // Everyone in the thread sees it, once.
    hub.ok(&coordinator(), "update_thread_status", active).await;
    let said = messages(&hub, &thread).await;
    assert_eq!(said.len(), before + 1);
    assert_eq!(said[before]["metadata"]["event_type"], "thread_continued");
    assert_eq!(said[before]["metadata"]["by"], "coordinator");
    // Whoever spoke last begins a turn again.
    let (first, last) = (worker("reviewer"), worker("author"));
    for (by, body) in [(&first, "1"), (&last, "2"), (&first, "3"), (&last, "4")] {
        post(&hub, by, &thread, body).await;
    }
    let more = json!({ "thread_id": thread, "body": "more" });
    assert_eq!(hub.code(&first, "post_message", more).await, "CONFLICT");
    hub.stop().await;
}

async fn posts_beyond_the_quota_wait_as_long_as_it_says(on: On) {
    let posts = Rate { per_second: 2, burst: 3 };
    let hub = TestHub::with(on, Settings { posts, ..generous() });
    let thread = open(&hub).await;
    let author = worker("author");
    for _ in 0..3 {
        post(&hub, &author, &thread, "x").await;
    }
    let input = json!({ "thread_id": thread, "body": "x" });
    let error = refusal(&hub, &author, "post_message", input.clone()).await;
    assert_eq!(error.code.name(), "RATE_LIMITED");
    assert!(error.retryable);
    let wait_ms = error.retry_after_ms.unwrap();
    assert!((1..=501).contains(&wait_ms), "{wait_ms}");
    // Somebody else is not held up, and neither is reading.
    post(&hub, &worker("reviewer"), &thread, "y").await;
    hub.ok(&author, "read_messages", json!({ "thread_id": thread })).await;
    hub.clock.advance_ms(i64::try_from(wait_ms).unwrap());
    hub.ok(&author, "post_message", input.clone()).await;
    assert_eq!(hub.code(&author, "post_message", input).await, "RATE_LIMITED");
    assert_eq!(messages(&hub, &thread).await.len(), 5);
    hub.stop().await;
}

async fn other_calls_have_a_quota_of_their_own(on: On) {
    let calls = Rate { per_second: 1, burst: 2 };
    let hub = TestHub::with(on, Settings { calls, ..generous() });
    let thread = open(&hub).await;
    let author = worker("author");
    let read = json!({ "thread_id": thread });
    hub.ok(&author, "read_messages", read.clone()).await;
    let look = json!({ "timeout_ms": 0 });
    hub.ok(&author, "wait_for_messages", look.clone()).await;
    let error = refusal(&hub, &author, "read_messages", read).await;
    assert_eq!(error.code.name(), "RATE_LIMITED");
    assert!(error.message.contains("calls"), "{}", error.message);
    assert_eq!(hub.code(&author, "wait_for_messages", look).await, "RATE_LIMITED");
    post(&hub, &author, &thread, "posting is counted apart").await;
    hub.stop().await;
}
