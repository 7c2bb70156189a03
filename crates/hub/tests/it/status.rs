//! How threads move: the written transitions, who may make them, and what is said about it.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};

use crate::world::{
    assert_invalid, coordinator, event, event_input, messages, open, operator, post, refusal,
    worker,
};

crate::on_both! {
    a_settled_thread_moves_as_written
    a_disputed_thread_moves_only_with_authority
    a_block_is_lifted_by_who_made_it_or_with_authority
    a_block_of_several_is_nobody_s_alone
    escalating_and_resolving_by_event_moves_the_thread
    an_event_that_may_not_move_the_thread_is_refused_whole
    an_override_by_event_says_why_and_leaves_it_in_the_trail
    the_reason_of_an_event_is_as_long_as_a_reason_may_be
    a_move_says_who_made_it_and_why
    moving_to_where_it_stands_changes_nothing
    a_status_is_refused_when_a_field_is_wrong
    a_closed_thread_is_read_only_until_it_is_opened_again
    a_service_moves_a_thread_like_a_worker
}

fn to(thread: &str, status: &str) -> Value {
    json!({ "thread_id": thread, "status": status })
}

fn because(thread: &str, status: &str) -> Value {
    json!({ "thread_id": thread, "status": status, "reason": "because" })
}

/// Brings a fresh thread there, with authority.
async fn standing(hub: &TestHub, status: &str) -> String {
    let thread = open(hub).await;
    if status != "active" {
        hub.ok(&operator(), "update_thread_status", because(&thread, status)).await;
    }
    thread
}

async fn a_settled_thread_moves_as_written(on: On) {
    let hub = TestHub::with(on, generous());
    // From, to, what a worker gets, what an operator gets with a reason.
    let table = [
        ("active", "blocked", "ok", "ok"),
        ("active", "resolved", "ok", "ok"),
        ("active", "closed", "ok", "ok"),
        ("blocked", "active", "INSUFFICIENT_AUTHORITY", "ok"),
        ("blocked", "resolved", "INSUFFICIENT_AUTHORITY", "ok"),
        ("blocked", "closed", "INSUFFICIENT_AUTHORITY", "ok"),
        ("resolved", "active", "ok", "ok"),
        ("resolved", "blocked", "ok", "ok"),
        ("resolved", "closed", "ok", "ok"),
        ("closed", "active", "INSUFFICIENT_AUTHORITY", "ok"),
        ("closed", "blocked", "CONFLICT", "CONFLICT"),
        ("closed", "resolved", "CONFLICT", "CONFLICT"),
    ];
    for (from, target, for_worker, for_operator) in table {
        for (by, expected) in [(worker("author"), for_worker), (operator(), for_operator)] {
            let thread = standing(&hub, from).await;
            let moved = hub.call(&by, "update_thread_status", because(&thread, target)).await;
            let code = moved.as_ref().map_or_else(|error| error.code().name(), |_| "ok");
            assert_eq!(code, expected, "{from} → {target} by {}", by.role);
            let now = hub.ok(&operator(), "get_thread", json!({ "thread_id": thread })).await;
            assert_eq!(now["status"], if code == "ok" { target } else { from });
        }
    }
    hub.stop().await;
}

async fn a_disputed_thread_moves_only_with_authority(on: On) {
    let hub = TestHub::with(on, generous());
    for last in ["finding_reported", "finding_rejected"] {
        for target in ["resolved", "closed"] {
            let thread = open(&hub).await;
            event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
            if last == "finding_rejected" {
                event(&hub, &worker("reviewer"), &thread, last).await;
            }
            let asked = because(&thread, target);
            let code = hub.code(&worker("author"), "update_thread_status", asked.clone()).await;
            assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{last} {target}");
            let unreasoned = refusal(
                &hub,
                &coordinator(),
                "update_thread_status",
                json!({ "thread_id": thread, "status": target, "reason": "" }),
            )
            .await;
            assert_eq!(unreasoned.field.as_deref(), Some("reason"));
            hub.ok(&coordinator(), "update_thread_status", asked).await;
        }
    }
    // A finding that was verified is no dispute.
    let thread = open(&hub).await;
    let found = event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    for (by, name) in [("author", "fix_pushed"), ("reviewer", "finding_verified")] {
        let mut input = event_input(&thread, name);
        input["in_reply_to"] = found["message_id"].clone();
        hub.ok(&worker(by), "post_message", input).await;
    }
    hub.ok(&worker("author"), "update_thread_status", to(&thread, "resolved")).await;
    hub.stop().await;
}

async fn a_block_is_lifted_by_who_made_it_or_with_authority(on: On) {
    let hub = TestHub::with(on, generous());
    let (author, reviewer) = (worker("author"), worker("reviewer"));
    // Also after a restart: who blocked it is written down.
    let thread = open(&hub).await;
    event(&hub, &author, &thread, "thread_escalated").await;
    let hub = hub.restart().await;
    let error = refusal(&hub, &reviewer, "update_thread_status", because(&thread, "active")).await;
    assert_eq!(error.code.name(), "INSUFFICIENT_AUTHORITY");
    let hint = error.hint.unwrap();
    assert!(hint.contains("author") && hint.contains("operator"), "{hint}");
    assert_eq!(messages(&hub, &thread).await.len(), 2, "nothing was said");
    let code = hub.code(&author, "update_thread_status", because(&thread, "closed")).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY", "what is blocked is not ended at once");
    hub.ok(&author, "update_thread_status", to(&thread, "active")).await;
    assert_eq!(messages(&hub, &thread).await[2]["metadata"]["override"], false);
    // What was lifted is nobody's block.
    hub.ok(&reviewer, "update_thread_status", to(&thread, "blocked")).await;
    let code = hub.code(&author, "update_thread_status", to(&thread, "active")).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let unreasoned =
        refusal(&hub, &operator(), "update_thread_status", to(&thread, "active")).await;
    assert_eq!(unreasoned.field.as_deref(), Some("reason"));
    hub.ok(&operator(), "update_thread_status", because(&thread, "active")).await;
    let said = messages(&hub, &thread).await.pop().unwrap();
    assert_eq!(
        (&said["metadata"]["override"], &said["metadata"]["by"]),
        (&json!(true), &json!("human"))
    );
    hub.stop().await;
}

async fn a_block_of_several_is_nobody_s_alone(on: On) {
    let hub = TestHub::with(on, generous());
    let (author, reviewer) = (worker("author"), worker("reviewer"));
    for by_event in [true, false] {
        let thread = open(&hub).await;
        event(&hub, &author, &thread, "thread_escalated").await;
        for _ in 0..2 {
            if by_event {
                event(&hub, &reviewer, &thread, "thread_escalated").await;
            } else {
                hub.ok(&reviewer, "update_thread_status", because(&thread, "blocked")).await;
            }
        }
        let said = messages(&hub, &thread).await;
        let shared = said.iter().filter(|m| m["metadata"]["event_type"] == "block_shared");
        assert_eq!(shared.count(), 1, "by event: {by_event}");
        for by in [&author, &reviewer] {
            let code = hub.code(by, "update_thread_status", to(&thread, "active")).await;
            assert_eq!(code, "INSUFFICIENT_AUTHORITY", "{}", by.agent_id);
        }
        hub.ok(&coordinator(), "update_thread_status", because(&thread, "active")).await;
    }
    hub.stop().await;
}

async fn escalating_and_resolving_by_event_moves_the_thread(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let escalated = event(&hub, &worker("author"), &thread, "thread_escalated").await;
    assert_eq!((&escalated["thread_status"], &escalated["seq"]), (&json!("blocked"), &json!(1)));
    let resolved = event(&hub, &operator(), &thread, "thread_resolved").await;
    assert_eq!((&resolved["thread_status"], &resolved["seq"]), (&json!("resolved"), &json!(3)));
    // The same once more is only talk.
    let again = event(&hub, &worker("author"), &thread, "thread_resolved").await;
    assert_eq!((&again["thread_status"], &again["seq"]), (&json!("resolved"), &json!(5)));
    let got = messages(&hub, &thread).await;
    let kinds: Vec<&str> = got.iter().map(|m| m["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["event", "system", "event", "system", "event"]);
    assert_eq!(got[1]["metadata"]["event_type"], "status_changed");
    assert_eq!(got[1]["metadata"]["to"], "blocked");
    assert_eq!(got[3]["metadata"]["override"], true);
    assert_eq!(got[3]["metadata"]["reason"], "thread_resolved");
    // In talk the same words move nothing.
    let talk = json!({
        "thread_id": thread, "body": "x", "metadata": { "event_type": "thread_escalated" }
    });
    assert_eq!(hub.ok(&worker("author"), "post_message", talk).await["thread_status"], "resolved");
    hub.stop().await;
}

async fn an_event_that_may_not_move_the_thread_is_refused_whole(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = standing(&hub, "blocked").await;
    let resolve = event_input(&thread, "thread_resolved");
    let code = hub.code(&worker("author"), "post_message", resolve).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let got = messages(&hub, &thread).await;
    assert_eq!(got.len(), 1, "the event was not kept either");
    hub.stop().await;
}

/// What the audit trail says of the last call of an operation that changed something.
async fn last_detail(hub: &TestHub, operation: &str) -> Value {
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let mut entries = trail["entries"].as_array().unwrap().iter();
    let changed = |entry: &&Value| entry["operation"] == operation && entry["outcome"] == "ok";
    let entry = entries.rfind(changed).unwrap();
    serde_json::from_str(entry["detail"].as_str().unwrap()).unwrap()
}

async fn an_override_by_event_says_why_and_leaves_it_in_the_trail(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = standing(&hub, "active").await;
    event(&hub, &worker("reviewer"), &thread, "finding_reported").await;
    let mut resolve = event_input(&thread, "thread_resolved");
    resolve["body"] = json!(" \n\r\n");
    let error = refusal(&hub, &coordinator(), "post_message", resolve.clone()).await;
    assert_eq!(error.field.as_deref(), Some("body"), "{}", error.message);
    assert!(error.hint.unwrap().contains("reason"));
    resolve["body"] = json!("\nsuperseded\nby another thread");
    resolve["metadata"]["ticket"] = json!(7);
    hub.ok(&coordinator(), "post_message", resolve).await;
    let said = messages(&hub, &thread).await.pop().unwrap();
    assert_eq!(said["body"], "coordinator set this thread from active to resolved: superseded");
    assert_eq!(said["metadata"]["reason"], "superseded");
    let detail = last_detail(&hub, "post_message").await;
    assert_eq!((&detail["to"], &detail["override"]), (&json!("resolved"), &json!(true)));
    assert_eq!(detail["reason"], "superseded");
    assert!(detail["metadata"].as_str().unwrap().contains("\"ticket\":7"), "{detail}");
    hub.stop().await;
}

async fn the_reason_of_an_event_is_as_long_as_a_reason_may_be(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let mut escalate = event_input(&thread, "thread_escalated");
    escalate["body"] = json!("ö".repeat(100_000));
    hub.ok(&worker("author"), "post_message", escalate).await;
    let said = &messages(&hub, &thread).await[1];
    let reason = said["metadata"]["reason"].as_str().unwrap();
    assert_eq!(reason.chars().count(), protocol::limits::REASON_CHARS_MAX);
    assert!(reason.ends_with("ö…"));
    assert!(said["body"].as_str().unwrap().len() < 3_000);
    hub.stop().await;
}

async fn a_move_says_who_made_it_and_why(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    hub.clock.advance_ms(60_000);
    let input = json!({
        "thread_id": thread, "status": "blocked", "reason": "needs a key", "agent_id": "author",
        "metadata": { "ticket": 7 }
    });
    let moved = hub.ok(&worker("author"), "update_thread_status", input).await;
    assert_eq!(moved["status"], "blocked");
    assert_eq!(moved["updated_at"], "2026-02-17T12:01:00Z");
    let said = &messages(&hub, &thread).await[0];
    assert_eq!(said["sender_agent_id"], "waystation");
    assert_eq!(said["body"], "author set this thread from active to blocked: needs a key");
    let facts = &said["metadata"];
    assert_eq!((&facts["from"], &facts["to"]), (&json!("active"), &json!("blocked")));
    assert_eq!((&facts["by"], &facts["role"]), (&json!("author"), &json!("worker")));
    assert_eq!((&facts["reason"], &facts["override"]), (&json!("needs a key"), &json!(false)));
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let mut entries = trail["entries"].as_array().unwrap().iter();
    let entry = entries.rfind(|entry| entry["operation"] == "update_thread_status").unwrap();
    assert_eq!((&entry["agent_id"], &entry["outcome"]), (&json!("author"), &json!("ok")));
    let detail = entry["detail"].as_str().unwrap();
    assert!(detail.contains("needs a key") && detail.contains("ticket"), "{detail}");
    hub.stop().await;
}

async fn moving_to_where_it_stands_changes_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = standing(&hub, "closed").await;
    let before = messages(&hub, &thread).await;
    let same = hub.ok(&worker("author"), "update_thread_status", to(&thread, "closed")).await;
    assert_eq!(same["status"], "closed");
    assert_eq!(messages(&hub, &thread).await, before);
    hub.stop().await;
}

async fn a_status_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let with = |field: &str, value: Value| {
        let mut input = to(&thread, "blocked");
        input[field] = value;
        input
    };
    let cases = [
        ("status", json!({ "thread_id": thread })),
        ("status", with("status", json!("done"))),
        ("status", with("status", json!("Blocked"))),
        ("status", with("status", Value::Null)),
        ("reason", with("reason", json!("a\nb"))),
        ("reason", with("reason", json!("a\u{0}"))),
        ("reason", with("reason", json!("x".repeat(1_001)))),
        ("metadata", with("metadata", json!({ "x": "y".repeat(64 * 1024) }))),
        ("metadata", with("metadata", json!({ "x": "\u{0}" }))),
        ("metadata", with("metadata", json!(7))),
    ];
    assert_invalid(&hub, &worker("author"), "update_thread_status", &cases).await;
    assert!(messages(&hub, &thread).await.is_empty());
    hub.stop().await;
}

async fn a_closed_thread_is_read_only_until_it_is_opened_again(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "last words").await;
    hub.ok(&worker("author"), "update_thread_status", to(&thread, "closed")).await;
    let late = json!({ "thread_id": thread, "body": "late" });
    for by in [worker("author"), coordinator(), operator()] {
        assert_eq!(hub.code(&by, "post_message", late.clone()).await, "CONFLICT");
    }
    let ack = json!({ "thread_id": thread, "last_read_seq": 2 });
    hub.ok(&worker("reviewer"), "ack_read", ack).await;
    hub.ok(&worker("reviewer"), "summarize_thread", json!({ "thread_id": thread })).await;
    let reopen = refusal(&hub, &operator(), "update_thread_status", to(&thread, "active")).await;
    assert_eq!(reopen.field.as_deref(), Some("reason"), "opening it again is an override");
    hub.ok(&operator(), "update_thread_status", because(&thread, "active")).await;
    hub.ok(&worker("author"), "post_message", late).await;
    hub.stop().await;
}

async fn a_service_moves_a_thread_like_a_worker(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = standing(&hub, "blocked").await;
    let add = json!({ "thread_id": thread, "participants": ["feed"] });
    hub.ok(&operator(), "add_participants", add).await;
    let service = caller("feed", Role::Service);
    let code = hub.code(&service, "update_thread_status", because(&thread, "closed")).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    hub.ok(&operator(), "update_thread_status", because(&thread, "active")).await;
    hub.ok(&service, "update_thread_status", to(&thread, "blocked")).await;
    hub.ok(&service, "update_thread_status", to(&thread, "active")).await;
    hub.stop().await;
}
