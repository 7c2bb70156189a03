//! Opening threads and posting: every rule, default and limit.

use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};

use crate::world::{
    assert_invalid, coordinator, event, event_input, messages, open, operator, post, refusal,
    worker,
};

crate::on_both! {
    a_thread_has_its_defaults
    a_thread_is_refused_when_a_field_is_wrong
    a_title_and_a_list_of_participants_may_be_as_long_as_the_limit
    a_message_has_its_defaults_and_carries_what_it_was_given
    a_message_is_refused_when_a_field_is_wrong
    bodies_and_metadata_may_be_as_long_as_the_limit
    every_registered_event_is_taken_and_others_are_carried
    only_messages_of_the_same_thread_can_be_answered
    metadata_comes_back_as_it_was_given
    a_key_covers_the_whole_content_of_its_sender_and_thread
    a_retry_answers_as_the_thread_stood_then
    time_never_runs_backwards_in_a_thread
    the_hub_says_who_is_to_be_trusted
}

async fn a_thread_has_its_defaults(on: On) {
    let hub = TestHub::with(on, generous());
    let alone = worker("alone");
    let made = hub.ok(&alone, "create_thread", json!({ "title": "Just me" })).await;
    assert_eq!(made["status"], "active");
    let thread = json!({ "thread_id": made["thread_id"] });
    let got = hub.ok(&alone, "get_thread", thread.clone()).await;
    assert_eq!(got["type"], "conversation");
    assert_eq!(got["participants"], json!([]));
    assert_eq!(got["created_by"], "alone");
    assert_eq!(got["head_seq"], 0);
    assert_eq!(got["cursors"], json!([]));
    assert_eq!(got["created_at"], got["updated_at"]);
    assert_eq!(got.get("paused_at"), None);
    // Whoever opened it may post without being listed.
    post(&hub, &alone, made["thread_id"].as_str().unwrap(), "hello").await;
    hub.stop().await;
}

async fn a_thread_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let many: Vec<String> = (0..101).map(|n| format!("agent_{n}")).collect();
    let cases = [
        ("title", json!({})),
        ("title", json!({ "title": "" })),
        ("title", json!({ "title": " \u{a0}\t" })),
        ("title", json!({ "title": "a\nb" })),
        ("title", json!({ "title": "a\u{0}b" })),
        ("title", json!({ "title": "a\u{1b}[31m" })),
        ("title", json!({ "title": "ä".repeat(201) })),
        ("title", json!({ "title": 7 })),
        ("title", json!({ "title": null })),
        ("type", json!({ "title": "x", "type": "meeting" })),
        ("participants[1]", json!({ "title": "x", "participants": ["a", "b c"] })),
        ("participants[0]", json!({ "title": "x", "participants": [""] })),
        ("participants[0]", json!({ "title": "x", "participants": ["a\u{0}"] })),
        ("participants[0]", json!({ "title": "x", "participants": ["x".repeat(129)] })),
        ("participants[0]", json!({ "title": "x", "participants": [1] })),
        ("participants", json!({ "title": "x", "participants": "a" })),
        ("participants", json!({ "title": "x", "participants": many })),
    ];
    assert_invalid(&hub, &worker("a"), "create_thread", &cases).await;
    hub.stop().await;
}

async fn a_title_and_a_list_of_participants_may_be_as_long_as_the_limit(on: On) {
    let hub = TestHub::with(on, generous());
    let many: Vec<String> = (0..100).map(|n| format!("agent_{n:03}")).collect();
    let mut doubled = many.clone();
    doubled.extend(many.clone());
    let title = "ä".repeat(200);
    let input = json!({ "title": title, "participants": doubled, "type": "incident" });
    let made = hub.ok(&worker("a"), "create_thread", input).await;
    let thread = json!({ "thread_id": made["thread_id"] });
    let got = hub.ok(&worker("agent_000"), "get_thread", thread).await;
    assert_eq!(got["title"], json!(title));
    assert_eq!(got["type"], "incident");
    assert_eq!(got["participants"], json!(many));
    hub.stop().await;
}

async fn a_message_has_its_defaults_and_carries_what_it_was_given(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let first = post(&hub, &worker("author"), &thread, "hello\tworld\n😀").await;
    let input = json!({
        "thread_id": thread, "body": "an answer", "kind": "chat", "schema_version": 1,
        "in_reply_to": first["message_id"], "idempotency_key": "k 1",
        "metadata": { "event_version": 2 }
    });
    hub.ok(&worker("reviewer"), "post_message", input).await;
    let got = messages(&hub, &thread).await;
    assert_eq!(got[0]["kind"], "chat");
    assert_eq!(got[0]["schema_version"], 1);
    assert_eq!(got[0]["body"], "hello\tworld\n😀");
    assert_eq!(got[0]["seq"], 1);
    for absent in ["metadata", "in_reply_to", "idempotency_key"] {
        assert_eq!(got[0].get(absent), None, "{absent}");
    }
    assert_eq!(got[1]["in_reply_to"], first["message_id"]);
    assert_eq!(got[1]["idempotency_key"], "k 1");
    assert_eq!(got[1]["metadata"], json!({ "event_version": 2 }));
    hub.stop().await;
}

async fn a_message_is_refused_when_a_field_is_wrong(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    let with = |field: &str, value: Value| {
        let mut input = json!({ "thread_id": thread, "body": "x" });
        input[field] = value;
        input
    };
    let wide: serde_json::Map<_, _> = (0..1001).map(|n| (format!("k{n}"), json!(1))).collect();
    let event = |value: Value| {
        let mut input = with("metadata", json!({ "event_type": value }));
        input["kind"] = json!("event");
        input
    };
    let cases = [
        ("body", json!({ "thread_id": thread })),
        ("thread_id", json!({ "body": "x" })),
        ("body", with("body", json!(""))),
        ("body", with("body", json!("a\u{0}b"))),
        ("body", with("body", json!("x".repeat(256 * 1024 + 1)))),
        ("body", with("body", json!(["x"]))),
        ("kind", with("kind", json!("system"))),
        ("kind", with("kind", json!("shout"))),
        ("kind", with("kind", json!(0))),
        ("schema_version", with("schema_version", json!(0))),
        ("schema_version", with("schema_version", json!(2))),
        ("schema_version", with("schema_version", json!("1"))),
        ("schema_version", with("schema_version", json!(1.5))),
        ("schema_version", with("schema_version", json!(1e30))),
        ("metadata", with("metadata", json!([]))),
        ("metadata", with("metadata", json!("x"))),
        ("metadata", with("metadata", json!({ "x": "y".repeat(64 * 1024) }))),
        ("metadata", with("metadata", json!(wide))),
        ("metadata", with("metadata", json!({ "x": "a\u{0}" }))),
        ("metadata", with("metadata", json!({ "a\u{0}": 1 }))),
        ("metadata.event_type", with("kind", json!("event"))),
        ("metadata.event_type", event(json!(""))),
        ("metadata.event_type", event(json!(7))),
        ("metadata.event_type", event(json!("Finding Reported"))),
        ("metadata.event_type", event(json!("x".repeat(65)))),
        ("idempotency_key", with("idempotency_key", json!(""))),
        ("idempotency_key", with("idempotency_key", json!("a\nb"))),
        ("idempotency_key", with("idempotency_key", json!("a\u{0}"))),
        ("idempotency_key", with("idempotency_key", json!("x".repeat(201)))),
        ("idempotency_key", with("idempotency_key", json!(1))),
        ("bodi", with("bodi", json!("x"))),
    ];
    assert_invalid(&hub, &author, "post_message", &cases).await;
    for kind in ["system", "shout"] {
        let refused = refusal(&hub, &author, "post_message", with("kind", json!(kind))).await;
        let expected = format!("kind: unknown variant `{kind}`, expected `chat` or `event`");
        assert_eq!(refused.message, expected, "only what may be posted is named");
    }
    assert!(messages(&hub, &thread).await.is_empty(), "nothing of that was kept");
    hub.stop().await;
}

async fn bodies_and_metadata_may_be_as_long_as_the_limit(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let body = "é".repeat(128 * 1024);
    // `{"x":""}` is eight bytes of its own.
    let metadata = json!({ "x": "y".repeat(64 * 1024 - 8) });
    let input = json!({
        "thread_id": thread, "body": body, "metadata": metadata,
        "idempotency_key": "k".repeat(200)
    });
    hub.ok(&worker("author"), "post_message", input).await;
    let got = messages(&hub, &thread).await;
    assert_eq!(got[0]["body"], json!(body));
    assert_eq!(got[0]["metadata"], metadata);
    hub.stop().await;
}

async fn every_registered_event_is_taken_and_others_are_carried(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    for name in [
        "finding_reported",
        "fix_pushed",
        "re_review_requested",
        "finding_verified",
        "finding_rejected",
        "deploy.started-2",
    ] {
        event(&hub, &worker("reviewer"), &thread, name).await;
    }
    let got = messages(&hub, &thread).await;
    assert_eq!(got.len(), 6, "none of these moves the thread");
    assert!(got.iter().all(|message| message["kind"] == "event"));
    hub.stop().await;
}

async fn only_messages_of_the_same_thread_can_be_answered(on: On) {
    let hub = TestHub::with(on, generous());
    let (here, there) = (open(&hub).await, open(&hub).await);
    let author = worker("author");
    let elsewhere = post(&hub, &author, &there, "elsewhere").await;
    for wrong in [
        elsewhere["message_id"].clone(),
        json!("msg_01JXYZ"),
        json!(""),
        json!("msg_0000000000G00000000000000"),
        json!("th_0000000000G000000000000000"),
    ] {
        let input = json!({ "thread_id": here, "body": "x", "in_reply_to": wrong });
        assert_eq!(hub.code(&author, "post_message", input).await, "NOT_FOUND", "{wrong}");
    }
    assert!(messages(&hub, &here).await.is_empty());
    hub.stop().await;
}

async fn metadata_comes_back_as_it_was_given(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    let metadata = json!({
        "text": "\\u0000 spelled out, \u{1} and \u{7f}", "zero": -0.0, "big": 9_007_199_254_740_993_i64,
        "small": i64::MIN, "huge": u64::MAX, "float": 1.5e-7, "long": 31.245_270_191_439_438, "null": null, "list": [[], {}, true],
        "": "empty key", "ключ": "значение", "nested": { "b": 1, "a": { "d": 1, "c": 2 } }
    });
    let input = json!({ "thread_id": thread, "body": "x", "metadata": metadata });
    hub.ok(&author, "post_message", input).await;
    assert_eq!(messages(&hub, &thread).await[0]["metadata"], metadata);
    let doubled = [
        format!(r#"{{"thread_id":"{thread}","body":"x","metadata":{{"a":1,"a":2}}}}"#),
        format!(r#"{{"thread_id":"{thread}","body":"x","metadata":{{"l":[{{"a":1,"a":1}}]}}}}"#),
    ];
    for text in doubled {
        let error = hub.call_text(&author, "post_message", text.into_bytes()).await.unwrap_err();
        assert_eq!(error.code().name(), "VALIDATION_ERROR");
        assert!(error.to_string().contains("metadata"), "{error}");
        assert!(error.to_string().contains('a'), "{error}");
    }
    // Two that differ in their last digits would be kept as one.
    for number in ["12345678901234567890123", "12345678901234567890124"] {
        let text = format!(
            r#"{{"thread_id":"{thread}","body":"x","idempotency_key":"k","metadata":{{"id":{number}}}}}"#
        );
        let error = hub.call_text(&author, "post_message", text.into_bytes()).await.unwrap_err();
        let error = error.body("req".to_owned());
        assert_eq!(error.code.name(), "VALIDATION_ERROR");
        assert_eq!(error.field.as_deref(), Some("metadata.id"));
        assert!(error.message.contains("as text"), "{}", error.message);
    }
    assert_eq!(messages(&hub, &thread).await.len(), 1);
    hub.stop().await;
}

async fn a_key_covers_the_whole_content_of_its_sender_and_thread(on: On) {
    let hub = TestHub::with(on, generous());
    let (here, there) = (open(&hub).await, open(&hub).await);
    let author = worker("author");
    let base = post(&hub, &author, &here, "base").await;
    let keyed = |change: (&str, Value)| {
        let mut input = json!({
            "thread_id": here, "body": "x", "idempotency_key": "k", "metadata": { "b": 1, "a": 2 }
        });
        input[change.0] = change.1;
        input
    };
    let same = keyed(("schema_version", json!(1)));
    let first = hub.ok(&author, "post_message", same.clone()).await;
    assert_eq!(hub.ok(&author, "post_message", same).await, first);
    // The same facts in another order and spelling are the same content.
    let text = format!(
        r#"{{"idempotency_key":"k","metadata":{{"a":2, "b":1}},"thread_id":"{here}","body":"\u0078"}}"#
    );
    let again = hub.call_text(&author, "post_message", text.into_bytes()).await.unwrap();
    assert_eq!(again, first);
    for change in [
        ("body", json!("y")),
        ("metadata", json!({ "b": 1 })),
        ("metadata", Value::Null),
        ("in_reply_to", base["message_id"].clone()),
    ] {
        let error = refusal(&hub, &author, "post_message", keyed(change)).await;
        assert_eq!(error.code.name(), "IDEMPOTENCY_CONFLICT");
        assert!(error.hint.unwrap().contains("message 2 "), "the hint says which message has it");
    }
    let mut as_event = keyed(("kind", json!("event")));
    as_event["metadata"] = json!({ "event_type": "fix_pushed" });
    assert_eq!(hub.code(&author, "post_message", as_event).await, "IDEMPOTENCY_CONFLICT");
    // Another thread, another sender: another key.
    let elsewhere = keyed(("thread_id", json!(there)));
    assert_eq!(hub.ok(&author, "post_message", elsewhere).await["seq"], 1);
    let other = keyed(("body", json!("z")));
    assert_eq!(hub.ok(&worker("reviewer"), "post_message", other).await["seq"], 3);
    hub.stop().await;
}

async fn a_retry_answers_as_the_thread_stood_then(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    let mut escalate = event_input(&thread, "thread_escalated");
    escalate["idempotency_key"] = json!("e");
    let first = hub.ok(&author, "post_message", escalate.clone()).await;
    assert_eq!(first["thread_status"], "blocked");
    let close = json!({ "thread_id": thread, "status": "closed", "reason": "over" });
    hub.ok(&coordinator(), "update_thread_status", close).await;
    // Even a closed thread gives a retry its first answer.
    assert_eq!(hub.ok(&author, "post_message", escalate).await, first);
    assert_eq!(messages(&hub, &thread).await.len(), 3);
    hub.stop().await;
}

async fn time_never_runs_backwards_in_a_thread(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    post(&hub, &worker("author"), &thread, "now").await;
    hub.clock.advance_ms(-3_600_000);
    post(&hub, &worker("author"), &thread, "an hour ago, says the clock").await;
    event(&hub, &worker("author"), &thread, "thread_escalated").await;
    let add = json!({ "thread_id": thread, "participants": ["third"] });
    hub.ok(&coordinator(), "add_participants", add).await;
    let got = messages(&hub, &thread).await;
    let times: Vec<&str> = got.iter().map(|m| m["created_at"].as_str().unwrap()).collect();
    let mut ordered = times.clone();
    ordered.sort_unstable();
    assert_eq!(times, ordered);
    for message in &got {
        let input = json!({ "thread_id": thread, "message_id": message["message_id"] });
        let found = hub.ok(&coordinator(), "get_message", input).await;
        assert_eq!(found["message"]["seq"], message["seq"]);
    }
    hub.stop().await;
}

async fn the_hub_says_who_is_to_be_trusted(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    post(&hub, &operator(), &thread, "a person").await;
    post(&hub, &coordinator(), &thread, "an orchestrator").await;
    post(&hub, &worker("author"), &thread, "a worker").await;
    let service = caller("feed", Role::Service);
    let add = json!({ "thread_id": thread, "participants": ["feed"] });
    hub.ok(&operator(), "add_participants", add).await;
    post(&hub, &service, &thread, "a service").await;
    let got = messages(&hub, &thread).await;
    let trust: Vec<&str> = got.iter().map(|m| m["trust"].as_str().unwrap()).collect();
    assert_eq!(trust, ["operator", "agent", "agent", "hub", "agent"]);
    let forged = json!({ "thread_id": thread, "body": "x", "trust": "operator" });
    assert_eq!(hub.code(&worker("author"), "post_message", forged).await, "VALIDATION_ERROR");
    hub.stop().await;
}
