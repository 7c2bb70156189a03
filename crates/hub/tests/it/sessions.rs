//! Sessions: reports, freshness, filters.

use std::sync::Arc;

use protocol::{Caller, Role, Scope, Scopes};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, caller_in, generous};

use crate::world::{assert_invalid, open_with, operator, worker};

crate::on_both! {
    a_report_holds_while_it_is_fresh
    a_report_keeps_what_it_leaves_out
    sessions_are_filtered_and_counted
    sessions_come_in_pages
    who_is_online_is_found_behind_many_who_left
    a_session_that_nobody_heard_of_is_forgotten_unless_it_is_needed
    a_report_is_refused_when_a_field_is_wrong
    nobody_can_call_itself_managed
    an_opened_session_is_managed_and_its_token_short
    a_renewal_changes_nothing_but_the_token
    a_renewal_forgets_no_revocation_that_still_counts
    a_host_reports_for_the_sessions_it_runs
    who_runs_agents_hands_out_no_more_than_it_has
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
    let full = json!({
        "runtime": "codex_cli", "runtime_version": "1.2", "cwd": "/home/me/src", "resumable": true,
    });
    hub.ok(&agent, "heartbeat_session", full).await;
    hub.ok(&agent, "heartbeat_session", json!({ "runtime": "codex_cli" })).await;
    let found = sessions(&hub, json!({})).await;
    assert_eq!((found.len(), &found[0]["runtime_version"]), (1, &json!("1.2")));
    assert_eq!((&found[0]["cwd"], &found[0]["resumable"]), (&json!("/home/me/src"), &json!(true)));
    let no_more = json!({ "runtime": "codex_cli", "resumable": false });
    hub.ok(&agent, "heartbeat_session", no_more).await;
    assert_eq!(sessions(&hub, json!({})).await[0]["resumable"], false);
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

/// An agent in one of its sessions.
fn in_session(agent: &str, session: &str) -> Arc<Caller> {
    Arc::new(Caller { session_id: session.to_owned(), ..(*worker(agent)).clone() })
}

/// Every session, page by page, as agent and session.
async fn pages(hub: &TestHub, mut input: Value) -> Vec<(String, String)> {
    let mut all = Vec::new();
    loop {
        let page = hub.ok(&worker("looker"), "list_sessions", input.clone()).await;
        let text = |session: &Value, key: &str| session[key].as_str().unwrap().to_owned();
        let sessions = page["sessions"].as_array().unwrap().iter();
        all.extend(sessions.map(|s| (text(s, "agent_id"), text(s, "session_id"))));
        assert_eq!(page["truncated"], page.get("next_cursor").is_some());
        match page.get("next_cursor") {
            Some(next) => input["cursor"] = next.clone(),
            None => return all,
        }
    }
}

async fn sessions_come_in_pages(on: On) {
    let hub = TestHub::with(on, generous());
    // Many report in the same moment, and names hold whatever a name may hold.
    for (agent, session) in
        [("b", "s/1"), ("a", "s.2"), ("a", "s-1"), ("ä@x", "s+1"), ("b", "s:0"), ("c", "s_9")]
    {
        let beat = json!({ "runtime": "r" });
        hub.ok(&in_session(agent, session), "heartbeat_session", beat).await;
    }
    hub.clock.advance_ms(1_000);
    hub.ok(&in_session("d", "newest"), "heartbeat_session", json!({ "runtime": "r" })).await;
    let whole = pages(&hub, json!({})).await;
    assert_eq!(whole.len(), 7);
    assert_eq!(whole[0].0, "d");
    for limit in [1, 2, 3, 6, 7] {
        assert_eq!(pages(&hub, json!({ "limit": limit })).await, whole, "{limit} at a time");
    }
    let of_one = pages(&hub, json!({ "limit": 1, "agent_id": "b" })).await;
    assert_eq!(of_one.len(), 2);
    let cases = [
        ("cursor", json!({ "cursor": "" })),
        ("cursor", json!({ "cursor": "7b" })),
        ("cursor", json!({ "cursor": "7b.YQ" })),
        ("cursor", json!({ "cursor": "7b.YQ.IA" })),
        ("cursor", json!({ "cursor": "x.YQ.YQ" })),
    ];
    assert_invalid(&hub, &worker("looker"), "list_sessions", &cases).await;
    hub.stop().await;
}

async fn who_is_online_is_found_behind_many_who_left(on: On) {
    let hub = TestHub::with(on, generous());
    hub.ok(&worker("here"), "heartbeat_session", json!({ "runtime": "r" })).await;
    hub.clock.advance_ms(1_000);
    let bye = json!({ "runtime": "r", "status": "offline" });
    for number in 0..=protocol::limits::PAGE_MAX {
        let gone = in_session("gone", &format!("s{number}"));
        hub.ok(&gone, "heartbeat_session", bye.clone()).await;
    }
    let online = pages(&hub, json!({ "online_only": true, "limit": 1 })).await;
    assert_eq!(online, [("here".to_owned(), "sess_here".to_owned())]);
    assert_eq!(pages(&hub, json!({})).await.len(), protocol::limits::PAGE_MAX + 2);
    hub.stop().await;
}

async fn a_session_that_nobody_heard_of_is_forgotten_unless_it_is_needed(on: On) {
    let hub = TestHub::with(on, generous());
    for (agent, session) in
        [("member", "old"), ("former", "left"), ("loner", "first"), ("loner", "last")]
    {
        let beat = json!({ "runtime": "r" });
        hub.ok(&in_session(agent, session), "heartbeat_session", beat).await;
        hub.clock.advance_ms(1_000);
    }
    hub.ok(&in_session("member", "newer"), "heartbeat_session", json!({ "runtime": "r" })).await;
    open_with(&hub, &["member"]).await;
    let closed = open_with(&hub, &["former"]).await;
    let close = json!({ "thread_id": closed, "status": "closed" });
    hub.ok(&operator(), "update_thread_status", close).await;
    // Days go by, and the hub starts anew.
    hub.clock.advance_ms(protocol::limits::retention::AGENT_SESSION_MS - 60_000);
    let hub = hub.restart().await;
    let beat = json!({ "runtime": "r" });
    hub.ok(&in_session("loner", "last"), "heartbeat_session", beat).await;
    assert_eq!(pages(&hub, json!({})).await.len(), 5, "nothing is that old yet");
    hub.clock.advance_ms(120_000);
    let hub = hub.restart().await;
    let left = |(agent, session): (&str, &str)| (agent.to_owned(), session.to_owned());
    let kept = [("loner", "last"), ("member", "newer")].map(left);
    let patience = tokio::time::timeout(std::time::Duration::from_secs(20), async {
        while pages(&hub, json!({})).await != kept {
            tokio::task::yield_now().await;
        }
    });
    patience.await.expect("what is not needed is forgotten, and nothing else");
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

fn opening(more: &Value) -> Value {
    let mut input = json!({
        "agent_id": "agent", "runtime": "codex_cli", "host": "host_1", "cwd": "/src",
        "command": ["codex", "--model", "x"], "pid": 7, "pid_started": 8, "boot_id": "boot",
    });
    for (name, value) in more.as_object().unwrap() {
        input[name] = value.clone();
    }
    input
}

async fn an_opened_session_is_managed_and_its_token_short(on: On) {
    let hub = TestHub::with(on, generous());
    let opened = hub.ok(&operator(), "open_session", opening(&json!({}))).await;
    assert_eq!(opened["expires_at"], "2026-02-17T12:15:00Z");
    assert!(opened["session_id"].as_str().unwrap().starts_with("sess_"));
    let session = sessions(&hub, json!({})).await.remove(0);
    assert_eq!(
        (&session["management_mode"], &session["status"]),
        (&json!("managed"), &json!("idle"))
    );
    assert_eq!((&session["host"], &session["pid"]), (&json!("host_1"), &json!(7)));
    // A report of the session itself does not take that from it.
    let token = hub.ok(&operator(), "list_tokens", json!({})).await["tokens"][0].clone();
    assert_eq!((&token["agent_id"], &token["role"]), (&json!("agent"), &json!("worker")));
    let own = Caller {
        session_id: opened["session_id"].as_str().unwrap().to_owned(),
        ..(*worker("agent")).clone()
    };
    let beat = json!({ "runtime": "codex_cli", "vendor_session_id": "v-1", "resumable": true });
    hub.ok(&Arc::new(own), "heartbeat_session", beat).await;
    let session = sessions(&hub, json!({})).await.remove(0);
    assert_eq!(session["management_mode"], "managed");
    assert_eq!((&session["vendor_session_id"], &session["pid"]), (&json!("v-1"), &json!(7)));
    let trail = hub.ok(&operator(), "read_audit", json!({})).await.to_string();
    assert!(!trail.contains(opened["token"].as_str().unwrap()), "no token in the trail");
    let cases = [
        ("agent_id", opening(&json!({ "agent_id": "a b" }))),
        ("agent_id", opening(&json!({ "agent_id": "waystation" }))),
        ("host", opening(&json!({ "host": "" }))),
        ("pid", opening(&json!({ "pid": 0 }))),
        ("command[1]", opening(&json!({ "command": ["a", "b\u{0}c"] }))),
        ("command", opening(&json!({ "command": vec!["x"; 65] }))),
        ("role", opening(&json!({ "role": "operator" }))),
    ];
    assert_invalid(&hub, &operator(), "open_session", &cases).await;
    let vendor = json!({ "runtime": "codex_cli", "vendor_session_id": "--dangerously" });
    assert_invalid(&hub, &worker("agent"), "heartbeat_session", &[("vendor_session_id", vendor)])
        .await;
    hub.stop().await;
}

async fn a_renewal_forgets_no_revocation_that_still_counts(on: On) {
    let hub = TestHub::with(on, generous());
    let opened = hub.ok(&operator(), "open_session", opening(&json!({}))).await;
    let jti = hub.ok(&operator(), "list_tokens", json!({})).await["tokens"][0]["jti"].clone();
    hub.ok(&operator(), "revoke_token", json!({ "jti": jti })).await;
    let again = opening(&json!({ "session_id": opened["session_id"] }));
    // Its end lies ten seconds back, and clocks may disagree by thirty.
    hub.clock.advance_ms(15 * 60_000 + 10_000);
    for (is_known, wait_ms) in [(true, 25_000), (false, 0)] {
        hub.ok(&operator(), "open_session", again.clone()).await;
        let tokens = hub.ok(&operator(), "list_tokens", json!({ "all": true })).await;
        let mut tokens = tokens["tokens"].as_array().unwrap().iter();
        assert_eq!(tokens.any(|token| token["jti"] == jti), is_known);
        hub.clock.advance_ms(wait_ms);
    }
    hub.stop().await;
}

async fn a_renewal_changes_nothing_but_the_token(on: On) {
    let hub = TestHub::with(on, generous());
    let opened = hub.ok(&operator(), "open_session", opening(&json!({}))).await;
    let before = sessions(&hub, json!({})).await;
    for minutes in 1..=5 {
        hub.clock.advance_ms(5 * 60_000);
        let again = json!({
            "agent_id": "agent", "runtime": "codex_cli", "host": "host_1",
            "session_id": opened["session_id"],
        });
        let renewed = hub.ok(&operator(), "open_session", again).await;
        assert_eq!(renewed["session_id"], opened["session_id"]);
        assert_ne!(renewed["token"], opened["token"]);
        let tokens = hub.ok(&operator(), "list_tokens", json!({ "all": true })).await;
        let kept = tokens["tokens"].as_array().unwrap().len();
        assert!(kept <= 4, "tokens that ended are forgotten: {kept} after {minutes}");
    }
    let mut after = sessions(&hub, json!({})).await;
    after[0]["status"] = before[0]["status"].clone();
    assert_eq!(after, before, "a renewal is no report");
    hub.stop().await;
}

async fn a_host_reports_for_the_sessions_it_runs(on: On) {
    let hub = TestHub::with(on, generous());
    let opened = hub.ok(&operator(), "open_session", opening(&json!({}))).await;
    let scopes = Scopes::default().with(Scope::AgentsHost);
    let host = Arc::new(Caller { scopes, ..(*caller("agentd", Role::Service)).clone() });
    let beat = |by: &str| {
        json!({
            "runtime": "codex_cli", "agent_id": "agent", "session_id": opened["session_id"],
            "host": by, "status": "active",
        })
    };
    hub.ok(&host, "heartbeat_session", beat("host_1")).await;
    assert_eq!(sessions(&hub, json!({})).await[0]["status"], "active");
    let code = hub.code(&host, "heartbeat_session", beat("host_2")).await;
    assert_eq!(code, "CLAIM_MISMATCH", "it runs elsewhere");
    assert_eq!(
        hub.code(&worker("other"), "heartbeat_session", beat("host_1")).await,
        "CLAIM_MISMATCH"
    );
    // Who may run agents speaks for them only as the host that runs them.
    let names = [("agent_id", json!("agent")), ("session_id", opened["session_id"].clone())];
    for (field, value) in names {
        let mut beat = json!({ "runtime": "codex_cli" });
        beat[field] = value;
        for by in [&operator(), &host] {
            let code = hub.code(by, "heartbeat_session", beat.clone()).await;
            assert_eq!(code, "CLAIM_MISMATCH", "{field} by {}", by.agent_id);
        }
    }
    let elsewhere = Arc::new(Caller { workspace_id: "wk_other".to_owned(), ..(*host).clone() });
    hub.ok(&elsewhere, "heartbeat_session", beat("host_2")).await;
    assert_eq!(sessions(&hub, json!({})).await.len(), 1, "another workspace's is another");
    hub.stop().await;
}

async fn who_runs_agents_hands_out_no_more_than_it_has(on: On) {
    let hub = TestHub::with(on, generous());
    let scopes = Scopes::default().with(Scope::AgentsHost);
    let host = Arc::new(Caller { scopes, ..(*caller("agentd", Role::Service)).clone() });
    let steering = opening(&json!({ "role": "orchestrator" }));
    let code = hub.code(&host, "open_session", steering.clone()).await;
    assert_eq!(code, "INSUFFICIENT_AUTHORITY");
    hub.ok(&operator(), "open_session", steering).await;
    hub.ok(&host, "open_session", opening(&json!({}))).await;
    assert_eq!(hub.code(&worker("agent"), "open_session", opening(&json!({}))).await, "FORBIDDEN");
    hub.stop().await;
}
