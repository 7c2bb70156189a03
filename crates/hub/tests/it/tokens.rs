//! Issuing, listing and revoking tokens, and what the audit trail says about calls.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller_in, generous};

use crate::world::{assert_invalid, open, operator, post, refusal, worker};

crate::on_both! {
    a_token_has_its_defaults_and_is_listed_without_itself
    a_token_is_refused_when_a_field_is_wrong
    a_token_is_revoked_once_and_stays_so
    the_trail_tells_changes_reads_and_refusals
}

async fn a_token_has_its_defaults_and_is_listed_without_itself(on: On) {
    let hub = TestHub::with(on, generous());
    let issued = hub.ok(&operator(), "issue_token", json!({ "agent_id": "codex" })).await;
    assert_eq!((&issued["role"], &issued["agent_id"]), (&json!("worker"), &json!("codex")));
    assert_eq!(issued["workspace_id"], "wk_mobile_core");
    assert_eq!(issued["expires_at"], "2026-05-18T12:00:00Z");
    let scopes = "threads:read threads:write sessions:read sessions:write chats:read chats:search \
                  relay:work";
    assert_eq!(issued["scopes"], json!(scopes.split(' ').collect::<Vec<_>>()));
    let narrow = json!({
        "agent_id": "eye", "role": "observer", "scopes": ["threads:read", "audit:read"],
        "ttl_seconds": 60, "session_id": "s1"
    });
    let narrow = hub.ok(&operator(), "issue_token", narrow).await;
    assert_eq!(narrow["scopes"], json!(["threads:read", "audit:read"]));
    let listed = hub.ok(&operator(), "list_tokens", json!({})).await;
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 2);
    assert!(!listed.to_string().contains(issued["token"].as_str().unwrap()));
    hub.clock.advance_ms(60_000);
    let listed = hub.ok(&operator(), "list_tokens", json!({})).await;
    let states: Vec<&str> =
        listed["tokens"].as_array().unwrap().iter().map(|t| t["state"].as_str().unwrap()).collect();
    assert!(states.contains(&"expired") && states.contains(&"good"), "{states:?}");
    hub.stop().await;
}

async fn a_token_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let with = |field: &str, value: Value| {
        let mut input = json!({ "agent_id": "codex" });
        input[field] = value;
        input
    };
    let cases = [
        ("agent_id", json!({})),
        ("agent_id", with("agent_id", json!(""))),
        ("agent_id", with("agent_id", json!("a b"))),
        ("agent_id", with("agent_id", json!("waystation"))),
        ("agent_id", with("agent_id", json!("WAYSTATION"))),
        ("role", with("role", json!("king"))),
        ("scopes[0]", with("scopes", json!(["everything"]))),
        ("scopes[1]", with("scopes", json!(["threads:read", "admin"]))),
        ("ttl_seconds", with("ttl_seconds", json!(0))),
        ("ttl_seconds", with("ttl_seconds", json!(-5))),
        ("ttl_seconds", with("ttl_seconds", json!(i64::MAX))),
        ("session_id", with("session_id", json!("a b"))),
        ("session_id", with("session_id", json!(""))),
    ];
    assert_invalid(&hub, &operator(), "issue_token", &cases).await;
    let listed = hub.ok(&operator(), "list_tokens", json!({})).await;
    assert_eq!(listed["tokens"], json!([]));
    hub.stop().await;
}

async fn a_token_is_revoked_once_and_stays_so(on: On) {
    let hub = TestHub::with(on, generous());
    let issued = hub.ok(&operator(), "issue_token", json!({ "agent_id": "codex" })).await;
    let jti = json!({ "jti": issued["jti"] });
    let foreigner = caller_in("wk_other", "human", Role::Operator);
    assert_eq!(hub.code(&foreigner, "revoke_token", jti.clone()).await, "NOT_FOUND");
    let revoked = hub.ok(&operator(), "revoke_token", jti.clone()).await;
    hub.clock.advance_ms(1_000);
    assert_eq!(hub.ok(&operator(), "revoke_token", jti).await, revoked, "again is the same");
    let listed = hub.ok(&operator(), "list_tokens", json!({})).await;
    assert_eq!(listed["tokens"][0]["state"], "revoked");
    assert_eq!(listed["tokens"][0]["revoked_at"], revoked["revoked_at"]);
    for wrong in ["jti_01JXYZ", "", "a\u{0}b", "' OR '1'='1"] {
        let error = refusal(&hub, &operator(), "revoke_token", json!({ "jti": wrong })).await;
        assert_eq!(error.code.name(), "NOT_FOUND", "{wrong:?}");
    }
    hub.stop().await;
}

async fn the_trail_tells_changes_reads_and_refusals(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "a very private body").await;
    hub.ok(&worker("author"), "read_messages", json!({ "thread_id": thread })).await;
    let denied = json!({ "thread_id": thread, "body": "x" });
    assert_eq!(hub.code(&worker("outsider"), "post_message", denied).await, "FORBIDDEN");
    // Reads are entered off the request's path; a stopped hub has entered them all.
    let hub = hub.restart().await;
    let trail = hub.ok(&operator(), "read_audit", json!({})).await;
    let told: Vec<[&str; 3]> = trail["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| ["agent_id", "operation", "outcome"].map(|key| e[key].as_str().unwrap()))
        .collect();
    for expected in [
        ["coordinator", "create_thread", "ok"],
        ["author", "post_message", "ok"],
        ["author", "read_messages", "ok"],
        ["outsider", "post_message", "FORBIDDEN"],
    ] {
        assert_eq!(told.iter().filter(|entry| **entry == expected).count(), 1, "{expected:?}");
    }
    assert!(!trail.to_string().contains("very private"), "the trail holds no text");
    let after = json!({ "after": trail["entries"][0]["id"], "limit": 1 });
    let page = hub.ok(&operator(), "read_audit", after).await;
    assert_eq!(page["entries"][0]["id"], trail["entries"][1]["id"]);
    hub.stop().await;
}
