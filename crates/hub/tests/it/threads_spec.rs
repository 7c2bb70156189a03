//! The examples of the thread specification, word for word where they are JSON.

use std::sync::Arc;

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, caller_in, generous};

crate::on_both! {
    the_example_of_each_operation_works
    the_review_loop_ends_as_the_examples_show
    a_retry_gets_the_original_answer_and_other_content_a_conflict
    sixty_four_concurrent_retries_post_once
    outsiders_are_forbidden_and_foreigners_find_nothing
    payload_identity_must_match_the_claims
    a_worker_cannot_end_a_disputed_thread
}

/// The specification's workflow: a coordinator opens a thread for two agents.
async fn open(hub: &TestHub) -> String {
    let coordinator = caller("coordinator_agent", Role::Orchestrator);
    let thread = hub
        .ok(
            &coordinator,
            "create_thread",
            json!({
                "workspace_id": "wk_mobile_core",
                "title": "Profile mapper review loop",
                "type": "workflow",
                "participants": ["executioner_agent", "reviewer_agent"],
                "created_by": "coordinator_agent"
            }),
        )
        .await;
    assert_eq!(thread["status"], "active");
    assert_eq!(thread["created_at"], "2026-02-17T12:00:00Z");
    thread["thread_id"].as_str().unwrap().to_owned()
}

fn finding(thread: &str) -> Value {
    json!({
        "thread_id": thread,
        "schema_version": 1,
        "sender_agent_id": "reviewer_agent",
        "sender_session_id": "sess_reviewer_agent",
        "kind": "event",
        "body": "Blocking issue found in null fallback",
        "metadata": {
            "event_type": "finding_reported",
            "severity": "high",
            "file": "lib/features/profile/data/mappers/user_mapper.dart",
            "line": 42,
            "task_id": "TASK-219"
        },
        "idempotency_key": "rv-find-219-1"
    })
}

async fn the_example_of_each_operation_works(on: On) {
    let hub = TestHub::with(on, generous());
    let (reviewer, author) =
        (caller("reviewer_agent", Role::Worker), caller("executioner_agent", Role::Worker));
    let thread = open(&hub).await;

    let got = hub.ok(&author, "get_thread", json!({ "thread_id": thread })).await;
    assert_eq!(got["workspace_id"], "wk_mobile_core");
    assert_eq!(got["type"], "workflow");
    assert_eq!(got["participants"], json!(["executioner_agent", "reviewer_agent"]));

    hub.clock.advance_ms(300_000);
    let posted = hub.ok(&reviewer, "post_message", finding(&thread)).await;
    assert_eq!(posted["seq"], 1);
    assert_eq!(posted["thread_status"], "active");
    assert_eq!(posted["created_at"], "2026-02-17T12:05:00Z");
    let got = hub.ok(&author, "get_thread", json!({ "thread_id": thread })).await;
    assert_eq!(got["created_at"], "2026-02-17T12:00:00Z");
    assert_eq!(got["updated_at"], "2026-02-17T12:05:00Z");

    let read = json!({ "thread_id": thread, "agent_id": "executioner_agent", "since_seq": 0, "limit": 50 });
    let page = hub.ok(&author, "read_messages", read).await;
    assert_eq!(page["next_seq"], 1);
    assert_eq!(page["has_more"], false);
    let message = &page["messages"][0];
    assert_eq!(message["message_id"], posted["message_id"]);
    assert_eq!(message["sender_agent_id"], "reviewer_agent");
    assert_eq!(message["sender_session_id"], "sess_reviewer_agent");
    assert_eq!(message["schema_version"], 1);
    assert_eq!(message["metadata"]["event_type"], "finding_reported");
    assert_eq!(message["metadata"]["line"], 42);

    let ack = json!({ "thread_id": thread, "agent_id": "executioner_agent", "last_read_seq": 1 });
    let acked = hub.ok(&author, "ack_read", ack).await;
    assert_eq!(acked["ok"], true);
    assert_eq!(acked["last_acked_message_id"], posted["message_id"]);
    let back = json!({ "thread_id": thread, "last_read_seq": 0 });
    assert_eq!(hub.code(&author, "ack_read", back).await, "VALIDATION_ERROR");
    let beyond = json!({ "thread_id": thread, "last_read_seq": 2 });
    assert_eq!(hub.code(&author, "ack_read", beyond).await, "VALIDATION_ERROR");

    let life = json!({ "thread_id": thread, "message_id": posted["message_id"] });
    let life = hub.ok(&reviewer, "get_message", life).await;
    assert_eq!(life["read_by"][0]["agent_id"], "executioner_agent");

    let beat = json!({
        "agent_id": "reviewer_agent", "workspace_id": "wk_mobile_core",
        "session_id": "sess_reviewer_agent", "runtime": "codex_cli", "resumable": true, "status": "idle"
    });
    assert_eq!(hub.ok(&reviewer, "heartbeat_session", beat).await["ok"], true);
    let sessions = hub.ok(&author, "list_sessions", json!({})).await;
    assert_eq!(sessions["sessions"][0]["status"], "idle");
    assert_eq!(sessions["sessions"][0]["management_mode"], "unmanaged");
    hub.clock.advance_ms(121_000);
    let sessions = hub.ok(&author, "list_sessions", json!({})).await;
    assert_eq!(sessions["sessions"][0]["status"], "offline");
    hub.stop().await;
}

async fn the_review_loop_ends_as_the_examples_show(on: On) {
    let hub = TestHub::with(on, generous());
    let (reviewer, author) =
        (caller("reviewer_agent", Role::Worker), caller("executioner_agent", Role::Worker));
    let thread = open(&hub).await;
    let first = hub.ok(&reviewer, "post_message", finding(&thread)).await;
    let mut other = finding(&thread);
    other["idempotency_key"] = json!("rv-find-219-2");
    other["body"] = json!("The list may be empty");
    other["metadata"]["line"] = json!(57);
    let second = hub.ok(&reviewer, "post_message", other).await;
    let event = |body: &str, metadata: Value, answers: &Value| {
        json!({
            "thread_id": thread, "kind": "event", "body": body, "metadata": metadata,
            "in_reply_to": answers,
        })
    };
    let fix = json!({ "event_type": "fix_pushed", "commit": "abc1234" });
    let fix = event("Checked for null", fix, &first["message_id"]);
    let first_fix = hub.ok(&author, "post_message", fix).await;
    let fix =
        event("Pushed def5678.", json!({ "event_type": "fix_pushed" }), &second["message_id"]);
    let second_fix = hub.ok(&author, "post_message", fix).await;
    let resolve = json!({
        "thread_id": thread, "agent_id": "reviewer_agent", "status": "resolved",
        "reason": "all_findings_verified",
    });
    for fix in [first_fix, second_fix] {
        let code = hub.code(&reviewer, "update_thread_status", resolve.clone()).await;
        assert_eq!(code, "INSUFFICIENT_AUTHORITY", "not all are verified yet");
        let seen = json!({ "event_type": "finding_verified" });
        hub.ok(&reviewer, "post_message", event("It holds", seen, &fix["message_id"])).await;
    }
    hub.clock.advance_ms(1_200_000);
    let resolved = hub.ok(&reviewer, "update_thread_status", resolve).await;
    let expected =
        json!({ "thread_id": thread, "status": "resolved", "updated_at": "2026-02-17T12:20:00Z" });
    assert_eq!(resolved, expected);
    let input = json!({ "thread_id": thread, "max_messages": 200 });
    let summary = hub.ok(&author, "summarize_thread", input).await;
    assert_eq!(
        summary["summary"],
        "2 blocking findings reported; both resolved after commits abc1234 and def5678."
    );
    assert_eq!(summary["open_items"], json!([]));
    assert_eq!(summary["last_status"], "resolved");
    hub.stop().await;
}

async fn a_retry_gets_the_original_answer_and_other_content_a_conflict(on: On) {
    let hub = TestHub::with(on, generous());
    let reviewer = caller("reviewer_agent", Role::Worker);
    let thread = open(&hub).await;
    let first = hub.ok(&reviewer, "post_message", finding(&thread)).await;
    hub.clock.advance_ms(90_000_000);
    assert_eq!(hub.ok(&reviewer, "post_message", finding(&thread)).await, first);
    let mut other = finding(&thread);
    other["body"] = json!("Another finding");
    assert_eq!(hub.code(&reviewer, "post_message", other).await, "IDEMPOTENCY_CONFLICT");
    let mut other = finding(&thread);
    other["metadata"]["line"] = json!(43);
    assert_eq!(hub.code(&reviewer, "post_message", other).await, "IDEMPOTENCY_CONFLICT");
    // The key is the sender's own.
    let author = caller("executioner_agent", Role::Worker);
    let same_key =
        json!({ "thread_id": thread, "body": "hello", "idempotency_key": "rv-find-219-1" });
    assert_eq!(hub.ok(&author, "post_message", same_key).await["seq"], 2);
    hub.stop().await;
}

async fn sixty_four_concurrent_retries_post_once(on: On) {
    let hub = Arc::new(TestHub::with(on, generous()));
    let reviewer = caller("reviewer_agent", Role::Worker);
    let thread = open(&hub).await;
    let mut retries = tokio::task::JoinSet::new();
    for _ in 0..64 {
        let (hub, reviewer, input) = (Arc::clone(&hub), Arc::clone(&reviewer), finding(&thread));
        retries.spawn(async move { hub.ok(&reviewer, "post_message", input).await });
    }
    let answers = retries.join_all().await;
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let page = hub.ok(&reviewer, "read_messages", json!({ "thread_id": thread })).await;
    assert_eq!(page["messages"].as_array().unwrap().len(), 1);
}

async fn outsiders_are_forbidden_and_foreigners_find_nothing(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let post = json!({ "thread_id": thread, "body": "hello" });
    let outsider = caller("outsider", Role::Worker);
    let error = hub.call(&outsider, "post_message", post.clone()).await.unwrap_err();
    assert_eq!(error.code().name(), "FORBIDDEN");
    assert_eq!(error.to_string(), "agent not allowed to post to this thread");
    let foreigner = caller_in("wk_other", "reviewer_agent", Role::Operator);
    assert_eq!(hub.code(&foreigner, "post_message", post.clone()).await, "NOT_FOUND");
    let operator = caller("human", Role::Operator);
    hub.ok(&operator, "post_message", post.clone()).await;
    let coordinator = caller("coordinator_agent", Role::Worker);
    hub.ok(&coordinator, "post_message", post.clone()).await;
    let observer = caller("reviewer_agent", Role::Observer);
    assert_eq!(hub.code(&observer, "post_message", post).await, "FORBIDDEN");
    hub.ok(&observer, "read_messages", json!({ "thread_id": thread })).await;
    let missing = json!({ "thread_id": "th_01JXYZ" });
    assert_eq!(hub.code(&operator, "get_thread", missing).await, "NOT_FOUND");
    hub.stop().await;
}

async fn payload_identity_must_match_the_claims(on: On) {
    let hub = TestHub::with(on, generous());
    let reviewer = caller("reviewer_agent", Role::Worker);
    let thread = open(&hub).await;
    for (operation, input) in [
        ("create_thread", json!({ "title": "x", "created_by": "someone_else" })),
        ("post_message", json!({ "thread_id": thread, "body": "x", "sender_agent_id": "other" })),
        ("post_message", json!({ "thread_id": thread, "body": "x", "sender_session_id": "other" })),
        ("read_messages", json!({ "thread_id": thread, "agent_id": "other" })),
        ("ack_read", json!({ "thread_id": thread, "agent_id": "other", "last_read_seq": 0 })),
        (
            "update_thread_status",
            json!({ "thread_id": thread, "agent_id": "other", "status": "blocked" }),
        ),
        ("heartbeat_session", json!({ "runtime": "codex_cli", "session_id": "other" })),
    ] {
        assert_eq!(hub.code(&reviewer, operation, input).await, "CLAIM_MISMATCH", "{operation}");
    }
    for (operation, input) in [
        ("create_thread", json!({ "title": "x", "workspace_id": "wk_other" })),
        ("heartbeat_session", json!({ "runtime": "codex_cli", "workspace_id": "wk_other" })),
    ] {
        assert_eq!(hub.code(&reviewer, operation, input).await, "OUT_OF_SCOPE_WORKSPACE");
    }
    hub.stop().await;
}

async fn a_worker_cannot_end_a_disputed_thread(on: On) {
    let hub = TestHub::with(on, generous());
    let reviewer = caller("reviewer_agent", Role::Worker);
    let coordinator = caller("coordinator_agent", Role::Orchestrator);
    let thread = open(&hub).await;
    hub.ok(&reviewer, "post_message", finding(&thread)).await;
    let resolve = json!({ "thread_id": thread, "status": "resolved" });
    let code = hub.code(&reviewer, "update_thread_status", resolve.clone()).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    let by_event = json!({
        "thread_id": thread, "kind": "event", "body": "done", "metadata": { "event_type": "thread_resolved" }
    });
    assert_eq!(hub.code(&reviewer, "post_message", by_event).await, "INSUFFICIENT_AUTHORITY");
    let code = hub.code(&coordinator, "update_thread_status", resolve).await;
    assert_eq!(code, "VALIDATION_ERROR");
    let overridden = json!({ "thread_id": thread, "status": "closed", "reason": "superseded" });
    let answer = hub.ok(&coordinator, "update_thread_status", overridden).await;
    assert_eq!(answer["status"], "closed");
    let late = json!({ "thread_id": thread, "body": "late" });
    assert_eq!(hub.code(&reviewer, "post_message", late).await, "CONFLICT");
    let page = hub.ok(&reviewer, "read_messages", json!({ "thread_id": thread })).await;
    assert_eq!(page["messages"][1]["kind"], "system");
    assert_eq!(page["messages"][1]["metadata"]["override"], true);
    let blocked = json!({ "thread_id": thread, "status": "blocked" });
    assert_eq!(hub.code(&coordinator, "update_thread_status", blocked).await, "CONFLICT");
    hub.stop().await;
}
