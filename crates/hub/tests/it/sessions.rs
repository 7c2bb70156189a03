//! Sessions: reports, freshness, filters.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, caller_in, generous};

use crate::world::{assert_invalid, worker};

crate::on_both! {
    a_report_holds_while_it_is_fresh
    a_report_keeps_what_it_leaves_out
    sessions_are_filtered_and_counted
    a_report_is_refused_when_a_field_is_wrong
    nobody_can_call_itself_managed
}

async fn sessions(hub: &TestHub, input: Value) -> Vec<Value> {
    let page = hub.ok(&worker("looker"), "list_sessions", input).await;
    page["sessions"].as_array().unwrap().clone()
}

async fn a_report_holds_while_it_is_fresh(on: On) {
    let hub = TestHub::with(on, generous());
    let agent = worker("agent");
    hub.ok(&agent, "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    let first = sessions(&hub, json!({})).await;
    assert_eq!(first[0]["status"], "active", "unless it says otherwise");
    assert_eq!(first[0]["resumable"], false);
    assert_eq!(first[0]["session_id"], "sess_agent");
    assert_eq!(first[0]["last_heartbeat_at"], "2026-02-17T12:00:00Z");
    let idle = json!({ "runtime": "codex_cli", "status": "idle", "resumable": true });
    hub.ok(&agent, "heartbeat_session", idle).await;
    hub.clock.advance_ms(120_000);
    let old = sessions(&hub, json!({})).await;
    assert_eq!((&old[0]["status"], &old[0]["resumable"]), (&json!("idle"), &json!(true)));
    assert_eq!(sessions(&hub, json!({ "online_only": true })).await.len(), 1);
    hub.clock.advance_ms(1);
    let stale = sessions(&hub, json!({})).await;
    assert_eq!((stale.len(), &stale[0]["status"]), (1, &json!("offline")));
    assert!(sessions(&hub, json!({ "online_only": true })).await.is_empty());
    let leaving = json!({ "runtime": "codex_cli", "status": "offline" });
    hub.ok(&agent, "heartbeat_session", leaving).await;
    assert!(sessions(&hub, json!({ "online_only": true })).await.is_empty(), "it said goodbye");
    hub.stop().await;
}

async fn a_report_keeps_what_it_leaves_out(on: On) {
    let hub = TestHub::with(on, generous());
    let agent = worker("agent");
    let full = json!({ "runtime": "codex_cli", "runtime_version": "1.2", "cwd": "/home/me/src" });
    hub.ok(&agent, "heartbeat_session", full).await;
    hub.ok(&agent, "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    let found = sessions(&hub, json!({})).await;
    assert_eq!((found.len(), &found[0]["runtime_version"]), (1, &json!("1.2")));
    assert_eq!(found[0]["cwd"], "/home/me/src");
    hub.stop().await;
}

async fn sessions_are_filtered_and_counted(on: On) {
    let hub = TestHub::with(on, generous());
    for n in 0..3 {
        hub.clock.advance_ms(1_000);
        let agent = worker(&format!("agent_{n}"));
        hub.ok(&agent, "heartbeat_session", json!({ "runtime": "r" })).await;
    }
    let foreign = caller_in("wk_other", "agent_0", Role::Worker);
    hub.ok(&foreign, "heartbeat_session", json!({ "runtime": "r" })).await;
    let all = sessions(&hub, json!({})).await;
    let names: Vec<&str> = all.iter().map(|s| s["agent_id"].as_str().unwrap()).collect();
    assert_eq!(names, ["agent_2", "agent_1", "agent_0"]);
    assert_eq!(sessions(&hub, json!({ "agent_id": "agent_1" })).await.len(), 1);
    let page = hub.ok(&worker("looker"), "list_sessions", json!({ "limit": 2 })).await;
    assert_eq!((page["sessions"].as_array().unwrap().len(), &page["truncated"]), (2, &json!(true)));
    let page = hub.ok(&worker("looker"), "list_sessions", json!({ "limit": 3 })).await;
    assert_eq!(page["truncated"], false);
    hub.stop().await;
}

async fn a_report_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let with = |field: &str, value: Value| {
        let mut input = json!({ "runtime": "codex_cli" });
        input[field] = value;
        input
    };
    let cases = [
        ("runtime", json!({})),
        ("runtime", with("runtime", json!(""))),
        ("runtime", with("runtime", json!("a b"))),
        ("runtime", with("runtime", json!("x".repeat(129)))),
        ("runtime_version", with("runtime_version", json!(""))),
        ("runtime_version", with("runtime_version", json!("a\u{0}"))),
        ("cwd", with("cwd", json!("/a\nb"))),
        ("cwd", with("cwd", json!("x".repeat(4_097)))),
        ("resumable", with("resumable", json!("yes"))),
        ("status", with("status", json!("asleep"))),
    ];
    assert_invalid(&hub, &worker("agent"), "heartbeat_session", &cases).await;
    let cases = [
        ("agent_id", json!({ "agent_id": "a\u{0}b" })),
        ("limit", json!({ "limit": 0 })),
        ("online_only", json!({ "online_only": 1 })),
    ];
    assert_invalid(&hub, &worker("agent"), "list_sessions", &cases).await;
    let observer = caller("agent", Role::Observer);
    let beat = json!({ "runtime": "codex_cli" });
    assert_eq!(hub.code(&observer, "heartbeat_session", beat).await, "FORBIDDEN");
    hub.stop().await;
}

async fn nobody_can_call_itself_managed(on: On) {
    let hub = TestHub::with(on, generous());
    let agent = worker("agent");
    let forged = json!({ "runtime": "codex_cli", "management_mode": "managed" });
    assert_eq!(hub.code(&agent, "heartbeat_session", forged).await, "VALIDATION_ERROR");
    hub.ok(&agent, "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    assert_eq!(sessions(&hub, json!({})).await[0]["management_mode"], "unmanaged");
    hub.stop().await;
}
