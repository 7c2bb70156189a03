//! Issuing, listing and revoking tokens, and what the audit trail says about calls.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller_in, generous};

use crate::world::{assert_invalid, open, operator, post, refusal, worker};

crate::on_both! {
    a_token_has_its_defaults_and_is_listed_without_itself
    a_token_is_refused_when_a_field_is_wrong
    a_token_is_revoked_once_and_stays_so
    tokens_are_listed_page_by_page_and_those_that_ended_when_asked_for
    a_token_is_forgotten_some_time_after_its_end_and_a_revocation_not_before
    the_trail_tells_changes_reads_and_refusals
    the_trail_names_what_was_read_and_what_was_refused
    what_was_done_before_is_entered_as_that_and_an_empty_queue_is_not
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
    let listed = hub.ok(&operator(), "list_tokens", json!({ "all": true })).await;
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
    let listed = hub.ok(&operator(), "list_tokens", json!({ "all": true })).await;
    assert_eq!(listed["tokens"][0]["state"], "revoked");
    assert_eq!(listed["tokens"][0]["revoked_at"], revoked["revoked_at"]);
    for wrong in ["jti_01JXYZ", "jti_", "jti_' OR '1'='1"] {
        let error = refusal(&hub, &operator(), "revoke_token", json!({ "jti": wrong })).await;
        assert_eq!(error.code.name(), "NOT_FOUND", "{wrong:?}");
    }
    let long = "x".repeat(201);
    let cases = ["", " ", "a\u{0}b", "a\nb", &long].map(|wrong| ("jti", json!({ "jti": wrong })));
    assert_invalid(&hub, &operator(), "revoke_token", &cases).await;
    hub.stop().await;
}

/// The ids of every token, page by page, each as long as it says.
async fn listed(hub: &TestHub, all: bool, limit: usize) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), None::<Value>);
    loop {
        let mut input = json!({ "all": all, "limit": limit });
        if let Some(cursor) = &cursor {
            input["cursor"] = cursor.clone();
        }
        let page = hub.ok(&operator(), "list_tokens", input).await;
        let tokens = page["tokens"].as_array().unwrap();
        found.extend(tokens.iter().map(|token| token["jti"].clone()));
        assert_eq!(page["truncated"], page.get("next_cursor").is_some());
        cursor = page.get("next_cursor").cloned();
        if cursor.is_none() {
            return found;
        }
        assert_eq!(tokens.len(), limit);
    }
}

async fn issue(hub: &TestHub, ttl_seconds: i64) -> Value {
    hub.clock.advance_ms(1_000);
    let input = json!({ "agent_id": "codex", "ttl_seconds": ttl_seconds });
    hub.ok(&operator(), "issue_token", input).await["jti"].clone()
}

async fn tokens_are_listed_page_by_page_and_those_that_ended_when_asked_for(on: On) {
    let hub = TestHub::with(on, generous());
    let mut issued = Vec::new();
    for number in 0..7 {
        issued.push(issue(&hub, if number == 3 { 60 } else { 3_600 }).await);
    }
    hub.ok(&operator(), "revoke_token", json!({ "jti": issued[5] })).await;
    hub.clock.advance_ms(60_000);
    issued.reverse();
    assert_eq!(listed(&hub, true, 2).await, issued, "the newest first");
    assert_eq!(listed(&hub, true, 7).await, issued);
    let good: Vec<Value> =
        [0, 2, 4, 5, 6].iter().map(|place: &usize| issued[*place].clone()).collect();
    assert_eq!(listed(&hub, false, 2).await, good);
    assert_eq!(listed(&hub, false, 5).await, good);
    let cases =
        ["", "14", "jti_x", "a\u{0}b"].map(|cursor| ("cursor", json!({ "cursor": cursor })));
    assert_invalid(&hub, &operator(), "list_tokens", &cases).await;
    hub.stop().await;
}

async fn revoked(hub: &TestHub) -> Vec<Value> {
    let now = hub.hub.now();
    let ids = hub.hub.store.read(move |tx| tx.revoked_tokens(now)).await.unwrap();
    ids.into_iter().map(|(_, jti)| Value::from(jti)).collect()
}

async fn a_token_is_forgotten_some_time_after_its_end_and_a_revocation_not_before(on: On) {
    const DAY_MS: i64 = 24 * 3_600_000;
    let hub = TestHub::with(on, generous());
    let short = issue(&hub, 60).await;
    let long = issue(&hub, 40 * 24 * 3_600).await;
    hub.ok(&operator(), "revoke_token", json!({ "jti": long })).await;
    hub.clock.advance_ms(29 * DAY_MS);
    let hub = hub.restart().await;
    assert_eq!(listed(&hub, true, 9).await, [long.clone(), short]);
    hub.clock.advance_ms(2 * DAY_MS);
    // A hub looks for what is over when it starts.
    let hub = hub.restart().await;
    let forgotten = async {
        while listed(&hub, true, 9).await != [long.clone()] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), forgotten).await.unwrap();
    assert_eq!(revoked(&hub).await, vec![long.clone()]);
    // Clocks may disagree about its end by half a minute, and it is accepted until then.
    hub.clock.advance_ms(9 * DAY_MS + 28_000);
    assert_eq!(revoked(&hub).await, [long]);
    hub.clock.advance_ms(3_000);
    assert!(revoked(&hub).await.is_empty());
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

/// What the trail says of an agent's calls: the operation, what it was about, how it ended.
async fn told(hub: &TestHub, agent: &str) -> Vec<[String; 3]> {
    let trail = hub.ok(&operator(), "read_audit", json!({ "limit": 200 })).await;
    let entries = trail["entries"].as_array().unwrap().iter();
    let of_agent = entries.filter(|entry| entry["agent_id"] == agent);
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    of_agent.map(|entry| ["operation", "object", "outcome"].map(|key| text(entry, key))).collect()
}

async fn the_trail_names_what_was_read_and_what_was_refused(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let message = post(&hub, &worker("author"), &thread, "hello").await;
    let message = message["message_id"].as_str().unwrap();
    let reader = worker("reviewer");
    let about = json!({ "thread_id": thread });
    for (operation, input) in [
        ("get_thread", about.clone()),
        ("read_messages", about.clone()),
        ("wait_for_messages", json!({ "thread_id": thread, "timeout_ms": 0 })),
        ("summarize_thread", about.clone()),
        ("search_messages", json!({ "thread_id": thread, "query": "hello" })),
        ("get_message", json!({ "thread_id": thread, "message_id": message })),
        ("list_threads", json!({})),
    ] {
        hub.ok(&reader, operation, input).await;
    }
    let outsider = worker("outsider");
    let token = "eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl";
    for (operation, input) in [
        ("get_thread", about.clone()),
        ("post_message", json!({ "thread_id": thread, "body": "x" })),
        ("get_thread", json!({ "thread_id": "a very private\nbody \u{0}\u{202e}" })),
        ("get_thread", json!({ "thread_id": "x".repeat(100_000) })),
        ("get_thread", json!({ "thread": thread })),
        ("revoke_token", json!({ "jti": token })),
    ] {
        hub.call(&outsider, operation, input).await.unwrap_err();
    }
    let admin = caller_in("wk_mobile_core", "admin", Role::Operator);
    hub.call(&admin, "revoke_token", json!({ "jti": token })).await.unwrap_err();
    let hub = hub.restart().await;
    let line = |operation: &str, object: &str, outcome: &str| {
        [operation, object, outcome].map(str::to_owned)
    };
    assert_eq!(
        told(&hub, "reviewer").await,
        [
            line("get_thread", &thread, "ok"),
            line("read_messages", &thread, "ok"),
            line("wait_for_messages", &thread, "ok"),
            line("summarize_thread", &thread, "ok"),
            line("search_messages", &thread, "ok"),
            line("get_message", &format!("{thread}/{message}"), "ok"),
            line("list_threads", "", "ok"),
        ]
    );
    assert_eq!(
        told(&hub, "outsider").await,
        [
            line("get_thread", &thread, "FORBIDDEN"),
            line("post_message", &thread, "FORBIDDEN"),
            // What is no name of anything may be anything else.
            line("get_thread", "", "NOT_FOUND"),
            line("get_thread", "", "NOT_FOUND"),
            line("get_thread", "", "VALIDATION_ERROR"),
            line("revoke_token", "", "FORBIDDEN"),
        ]
    );
    assert_eq!(told(&hub, "admin").await, [line("revoke_token", "", "VALIDATION_ERROR")]);
    hub.stop().await;
}

async fn what_was_done_before_is_entered_as_that_and_an_empty_queue_is_not(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    let again = json!({ "thread_id": thread, "body": "hello", "idempotency_key": "k" });
    let posted = hub.ok(&author, "post_message", again.clone()).await;
    for _ in 0..64 {
        assert_eq!(hub.ok(&author, "post_message", again.clone()).await, posted);
    }
    let ack = json!({ "thread_id": thread, "last_read_seq": 1 });
    for _ in 0..2 {
        hub.ok(&author, "ack_read", ack.clone()).await;
    }
    // Whoever looks for work all day does nothing all day.
    for _ in 0..3 {
        hub.ok(&author, "pull_work", json!({ "wait_ms": 0 })).await;
    }
    let host = caller_in("wk_mobile_core", "host", Role::Operator);
    hub.ok(&host, "claim_wakes", json!({ "host": "h", "wait_ms": 0, "restarted": true })).await;
    let hub = hub.restart().await;
    let told = told(&hub, "author").await;
    let line = |operation: &str, object: &str, outcome: &str| {
        [operation, object, outcome].map(str::to_owned)
    };
    let message = posted["message_id"].as_str().unwrap();
    let mut expected = vec![line("post_message", message, "ok")];
    expected.push(line("ack_read", &format!("{thread}#1"), "ok"));
    expected.push(line("ack_read", &thread, "unchanged"));
    expected.extend((0..64).map(|_| line("post_message", &thread, "unchanged")));
    let sorted = |mut lines: Vec<[String; 3]>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted(told), sorted(expected));
    assert_eq!(self::told(&hub, "host").await, [[""; 3]; 0]);
    hub.stop().await;
}
