//! Whatever a client sends, the door answers with a code and a field, and nothing is lost or broken.

use serde_json::{Value, json};
use testkit::{On, TestHub, generous, naughty};
use tokio_util::sync::CancellationToken;
use waystation_hub::Input;

use crate::world::{coordinator, messages, open, operator, refusal, worker};

crate::on_both! {
    naughty_text_is_kept_to_the_letter_or_refused
    naughty_text_in_every_text_field_breaks_nothing
}

/// Codes that say the client is wrong, never the hub.
fn assert_clients_fault(code: protocol::ErrorCode, about: &str) {
    let status = code.http_status();
    assert!((400..500).contains(&status), "{about}: {code} is {status}");
}

async fn naughty_text_is_kept_to_the_letter_or_refused(on: On) {
    let hub = TestHub::with(on, generous());
    let thread = open(&hub).await;
    let author = worker("author");
    let mut kept = Vec::new();
    let lines = naughty::LINES.iter().map(|line| (*line).to_owned()).chain(naughty::long());
    for text in lines {
        let input = json!({
            "thread_id": thread, "body": text, "metadata": { "text": text.chars().take(500).collect::<String>() }
        });
        hub.ok(&author, "post_message", input).await;
        kept.push(text);
    }
    let mut since = 0;
    let mut found = Vec::new();
    loop {
        let input = json!({ "thread_id": thread, "since_seq": since, "limit": 200 });
        let page = hub.ok(&author, "read_messages", input).await;
        for message in page["messages"].as_array().unwrap() {
            let body = message["body"].as_str().unwrap();
            let start: String = body.chars().take(500).collect();
            assert_eq!(message["metadata"]["text"], json!(start));
            found.push(body.to_owned());
        }
        since = page["next_seq"].as_i64().unwrap();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(found, kept);
    hub.ok(&author, "summarize_thread", json!({ "thread_id": thread })).await;
    hub.stop().await;
}

async fn naughty_text_in_every_text_field_breaks_nothing(on: On) {
    let hub = crate::quiet::hub_on(on);
    hub.ok(&operator(), "add_messages", sample("add_messages", "")).await;
    hub.ok(&operator(), "open_session", sample("open_session", "")).await;
    let thread = open(&hub).await;
    let mut texts: Vec<String> = naughty::LINES.iter().map(|line| (*line).to_owned()).collect();
    texts.push("a\u{0}b".to_owned());
    texts.push("\u{0}".to_owned());
    texts.push(String::new());
    texts.push("x".repeat(10_000));
    for entry in hub.catalogue.entries() {
        let properties = entry.fields().unwrap();
        for (field, schema) in properties {
            let is_list = schema["type"] == "array" || schema["type"] == json!(["array", "null"]);
            for text in &texts {
                let mut input = sample(entry.name, &thread);
                input[field.as_str()] = if is_list { json!([text]) } else { json!(text) };
                let Err(error) = hub.call(&operator(), entry.name, input).await else { continue };
                let about = format!("{}.{field} = {text:?}", entry.name);
                assert_clients_fault(error.code(), &about);
                if matches!(error.code().name(), "VALIDATION_ERROR" | "INVALID_PARAMETER") {
                    let body = error.body("req".to_owned());
                    let named = body.field.unwrap_or_default();
                    assert!(named.starts_with(field.as_str()), "{about}: {}", body.message);
                }
            }
        }
    }
    hub.ok(&operator(), "get_thread", json!({ "thread_id": thread })).await;
    hub.stop().await;
}

/// An input that works, for each operation.
fn sample(operation: &str, thread: &str) -> Value {
    match operation {
        "create_thread" => json!({ "title": "x" }),
        "post_message" => json!({ "thread_id": thread, "body": "x" }),
        "ack_read" => json!({ "thread_id": thread, "last_read_seq": 0 }),
        "get_message" => json!({ "thread_id": thread, "message_id": "msg_x" }),
        "update_thread_status" => json!({ "thread_id": thread, "status": "active" }),
        "add_participants" => json!({ "thread_id": thread, "participants": ["author"] }),
        "remove_participants" => json!({ "thread_id": thread, "participants": ["nobody"] }),
        "heartbeat_session" => json!({ "runtime": "codex_cli" }),
        "issue_token" | "set_wake_policy" | "get_wake_policy" => json!({ "agent_id": "x" }),
        "revoke_token" => json!({ "jti": "x" }),
        "list_chats" => json!({ "source": "imported" }),
        "add_messages" => json!({ "source": "imported", "facts": {} }),
        "send_message" => json!({ "source": "imported", "chat": "1", "text": "x" }),
        "get_context" | "get_attachment" => json!({ "message_id": "msg_x" }),
        "add_link" => json!({ "service": "quiet" }),
        "check_link" | "remove_link" | "list_deliveries" | "test_link" => {
            json!({ "name": "quiet" })
        }
        "wait_for_messages" => json!({ "thread_id": thread, "timeout_ms": 0 }),
        "open_session" => json!({ "agent_id": "author", "runtime": "codex_cli", "host": "host" }),
        "trigger_participant" => json!({
            "thread_id": thread, "target_agent_id": "author", "reason": "unread", "wait_ms": 0,
        }),
        "cancel_wake" => json!({ "wake_id": "wk_x" }),
        "claim_wakes" => json!({ "host": "host", "wait_ms": 0 }),
        "report_wake" => json!({ "wake_id": "wk_x", "attempt": 1, "state": "turn_started" }),
        "wait_for_wake" => json!({ "timeout_ms": 0 }),
        "get_thread" | "read_messages" | "summarize_thread" | "read_envelopes"
        | "assemble_context" => json!({ "thread_id": thread }),
        "search_messages" => json!({ "query": "word", "thread_id": thread }),
        "post_envelope" => json!({ "envelope": {
            "id": "x", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal", "role": "user",
            "content": "x", "meta": { "thread_id": thread },
        } }),
        "replay_delivery" => json!({ "delivery_id": "dlv_x" }),
        "propose_action" => json!({ "thread_id": "th_x", "action": { "text": "x" } }),
        "revise_proposal" => json!({ "proposal_id": "prop_x", "text": "x" }),
        "withdraw_proposal" | "get_proposal" | "decide_proposal" => {
            json!({ "proposal_id": "prop_x" })
        }
        // Work and the outbox.
        "pull_work" => json!({ "wait_ms": 0 }),
        "extend_work" | "complete_work" => json!({ "work_id": "work_x", "fence": 1 }),
        "release_work" => json!({ "work_id": "work_x", "fence": 1, "reason": "x" }),
        "requeue_work" => json!({ "work_id": "work_x" }),
        "redrive_outbox" | "cancel_outbox" => json!({ "outbox_id": "out_x" }),
        "get_tool_call" | "cancel_tool_call" => json!({ "call_id": "call_x" }),
        "remember" => json!({ "kind": "long_term", "data": { "text": "x" } }),
        "forget" => json!({ "memory_id": "mem_x" }),
        "retrieve_docs" => json!({ "query": "word" }),
        "add_documents" => json!({ "documents": [] }),
        _ => json!({}),
    }
}

#[tokio::test]
async fn what_is_no_json_object_is_refused_by_every_operation() {
    let hub = TestHub::start();
    let mut inputs: Vec<Vec<u8>> = [
        "",
        " ",
        "{",
        "}",
        "[]",
        "[{}]",
        "null",
        "true",
        "1",
        "\"x\"",
        "{]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{}{}",
        "{} x",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":.5}",
        "{\"a\":NaN}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\ud800\"}",
        "{\"a\":\"\u{1}\"}",
        "\u{feff}{}",
        "<a/>",
        "a=b",
        "// comment\n{}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    inputs.push(b"{\"title\":\"\xff\xfe\"}".to_vec());
    inputs.push(b"{\"title\":\"\xc0\xaf\"}".to_vec());
    inputs.push(b"{\"title\":\"\xed\xa0\x80\"}".to_vec());
    inputs.push(b"\x00".to_vec());
    inputs.push(b"\x1f\x8b\x08\x00".to_vec());
    inputs.push(format!("{}{}", "[".repeat(1_000_000), "").into_bytes());
    inputs.push(format!("{{\"metadata\":{}", "{\"a\":".repeat(100_000)).into_bytes());
    inputs.push(format!("{{\"title\":\"{}\"}}", "x".repeat(1024 * 1024)).into_bytes());
    // Every field in its place, but as a list.
    inputs.push(br#"["A title","conversation",[],null,null]"#.to_vec());
    for entry in hub.catalogue.entries() {
        for input in &inputs {
            let shown = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
            match hub.call_text(&operator(), entry.name, input.clone()).await {
                Ok(answer) => panic!("{} took {shown} and answered {answer}", entry.name),
                Err(error) => assert_clients_fault(error.code(), &shown),
            }
        }
    }
    let listed = hub.ok(&operator(), "list_threads", json!({})).await;
    assert_eq!(listed["threads"], json!([]));
    hub.stop().await;
}

#[tokio::test]
async fn an_unknown_field_is_named_with_its_nearest_neighbour() {
    let hub = TestHub::start();
    let thread = open(&hub).await;
    for (operation, field, nearest) in [
        ("post_message", "bodyy", "body"),
        ("post_message", "idempotencyKey", "idempotency_key"),
        ("post_message", "threadid", "thread_id"),
        ("create_thread", "participant", "participants"),
        ("read_messages", "sinceseq", "since_seq"),
        ("ack_read", "last_read", "last_read_seq"),
        ("wait_for_messages", "timeout", "timeout_ms"),
        ("list_threads", "unread_onli", "unread_only"),
    ] {
        let mut input = sample(operation, &thread);
        input[field] = json!("x");
        let error = refusal(&hub, &operator(), operation, input).await;
        assert_eq!(error.code.name(), "VALIDATION_ERROR");
        assert_eq!(error.field.as_deref(), Some(field));
        assert!(error.message.contains(field), "{}", error.message);
        assert_eq!(error.hint.as_deref(), Some(&*format!("did you mean {nearest}?")), "{field}");
    }
    let mut far = sample("post_message", &thread);
    far["zebra"] = json!(1);
    let error = refusal(&hub, &operator(), "post_message", far).await;
    assert!(error.hint.unwrap().contains("post_message takes: "));
    hub.stop().await;
}

#[tokio::test]
async fn a_wrong_field_within_an_object_is_named_with_the_object() {
    let hub = TestHub::start();
    let beat = |human_input: &str| format!(r#"{{"runtime":"x","human_input":{human_input}}}"#);
    let key = r#""last_key_at":"2026-02-17T12:00:00Z""#;
    for (human_input, field, said, hint) in [
        (
            r#"{"drafts":true}"#.to_owned(),
            "human_input.drafts",
            "drafts is not a field of human_input",
            Some("did you mean draft?"),
        ),
        (
            r#"{"x":1}"#.to_owned(),
            "human_input.x",
            "x is not a field of human_input",
            Some("human_input takes: last_key_at, draft, dialog"),
        ),
        (
            format!("{{{key},{key}}}"),
            "human_input.last_key_at",
            "human_input.last_key_at stands there twice",
            None,
        ),
    ] {
        let text = beat(&human_input).into_bytes();
        let error = hub.call_text(&worker("author"), "heartbeat_session", text).await;
        let error = error.unwrap_err().body("req".to_owned());
        assert_eq!(error.field.as_deref(), Some(field), "{}", error.message);
        assert_eq!((error.message.as_str(), error.hint.as_deref()), (said, hint));
    }
    let list = beat(r#"["2026-02-17T12:00:00Z",true,true]"#).into_bytes();
    let error = hub.call_text(&worker("author"), "heartbeat_session", list).await;
    let error = error.unwrap_err().body("req".to_owned());
    assert_eq!(error.field.as_deref(), Some("human_input"), "{}", error.message);
    hub.stop().await;
}

#[tokio::test]
async fn an_error_repeats_no_more_of_its_input_than_is_safe_to_print() {
    let hub = TestHub::start();
    let long = "k".repeat(500_000);
    for key in [r"a\u001b[31mRED\nok posted", &long] {
        for text in [
            format!(r#"{{"body":"x","metadata":{{"{key}":12345678901234567890123}}}}"#),
            format!(r#"{{"body":"x","{key}":1}}"#),
        ] {
            let error = hub.call_text(&worker("author"), "post_message", text.into_bytes()).await;
            let error = error.unwrap_err().body("req".to_owned());
            let shown = format!("{}{:?}", error.message, error.field);
            assert!(shown.len() < 1_500, "{} bytes", shown.len());
            assert!(!error.message.chars().any(char::is_control), "{:?}", error.message);
            assert!(!error.field.unwrap().chars().any(char::is_control));
        }
    }
    hub.stop().await;
}

#[tokio::test]
async fn a_field_that_stands_there_twice_is_refused_by_name() {
    let hub = TestHub::start();
    let thread = open(&hub).await;
    for text in [
        format!(r#"{{"thread_id":"{thread}","body":"a","body":"b"}}"#),
        format!(r#"{{"thread_id":"{thread}","body":"a","body":"a"}}"#),
        format!(r#"{{"thread_id":"{thread}","body":"a","\u0062ody":"a"}}"#),
    ] {
        let error = hub.call_text(&worker("author"), "post_message", text.into_bytes()).await;
        let error = error.unwrap_err().body("req".to_owned());
        assert_eq!(error.code.name(), "VALIDATION_ERROR");
        assert_eq!(error.field.as_deref(), Some("body"), "{}", error.message);
        assert!(error.message.contains("body"), "{}", error.message);
    }
    assert!(messages(&hub, &thread).await.is_empty());
    hub.stop().await;
}

#[tokio::test]
async fn numbers_out_of_range_name_their_field() {
    let hub = TestHub::start();
    let thread = open(&hub).await;
    let numbers = [
        "-1",
        "1.5",
        "1e3",
        "-0.0",
        "1e400",
        "99999999999999999999",
        "-99999999999999999999",
        "18446744073709551616",
        "\"1\"",
        "[1]",
        "{}",
        "true",
    ];
    for (operation, field) in [
        ("read_messages", "since_seq"),
        ("read_messages", "limit"),
        ("ack_read", "last_read_seq"),
        ("wait_for_messages", "timeout_ms"),
        ("summarize_thread", "max_messages"),
        ("post_message", "schema_version"),
        ("issue_token", "ttl_seconds"),
    ] {
        for number in numbers {
            let mut sample = sample(operation, &thread);
            sample.as_object_mut().unwrap().remove(field);
            let text = sample.to_string();
            let text = format!(
                r#"{{"{field}":{number}{}{}"#,
                if sample == json!({}) { "" } else { "," },
                &text[1..]
            );
            let Err(error) = hub.call_text(&operator(), operation, text.clone().into_bytes()).await
            else {
                panic!("{operation} took {text}");
            };
            let error = error.body("req".to_owned());
            assert_eq!(error.code.name(), "VALIDATION_ERROR", "{text}");
            // A number that no JSON reader can hold is malformed JSON to some.
            let named = error.field.as_deref() == Some(field) || number == "1e400";
            assert!(named, "{text}: {}", error.message);
        }
    }
    hub.stop().await;
}

/// A number just outside of each bound that a schema states, with the path to its field.
fn beyond_bounds(schema: &Value, root: &Value, path: &[String]) -> Vec<(Vec<String>, i64)> {
    let schema = match schema.get("$ref").and_then(Value::as_str) {
        Some(place) => root.pointer(place.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let mut found = Vec::new();
    for (bound, step) in [("minimum", -1), ("maximum", 1)] {
        let is_integer = schema["type"].to_string().contains("integer");
        if let (true, Some(number)) = (is_integer, schema.get(bound).and_then(Value::as_i64)) {
            found.extend(number.checked_add(step).map(|beyond| (path.to_vec(), beyond)));
        }
    }
    for choice in schema.get("anyOf").and_then(Value::as_array).into_iter().flatten() {
        found.extend(beyond_bounds(choice, root, path));
    }
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let mut path = path.to_vec();
        path.push(name.clone());
        found.extend(beyond_bounds(property, root, &path));
    }
    found
}

#[tokio::test]
async fn every_bound_that_a_schema_states_is_held() {
    let hub = TestHub::start();
    let thread = open(&hub).await;
    let mut bounds = 0;
    for entry in hub.catalogue.entries() {
        let schema = Value::Object(entry.describe().input);
        for (path, number) in beyond_bounds(&schema, &schema, &[]) {
            let mut input = sample(entry.name, &thread);
            let mut place = &mut input;
            for name in &path {
                if !place.is_object() {
                    *place = json!({});
                }
                place = place.as_object_mut().unwrap().entry(name).or_insert(Value::Null);
            }
            *place = json!(number);
            if path.first().is_some_and(|name| name == "import") {
                input["import"]["fingerprint"] = json!("f");
            }
            let Err(error) = hub.call(&operator(), entry.name, input.clone()).await else {
                panic!("{} took {input}", entry.name);
            };
            // A sample that names something missing says no more than that.
            let plain = hub.call(&operator(), entry.name, sample(entry.name, &thread)).await;
            if plain.is_err_and(|plain| plain.code() == error.code()) {
                continue;
            }
            let error = error.body("req".to_owned());
            let is_refused = matches!(error.code.name(), "VALIDATION_ERROR" | "INVALID_PARAMETER");
            assert!(is_refused, "{} with {input}: {error:?}", entry.name);
            bounds += 1;
        }
    }
    assert!(bounds > 20, "schemas state bounds");
    hub.stop().await;
}

#[tokio::test]
async fn a_parsed_object_is_held_to_the_same_limits_as_text() {
    let hub = TestHub::start();
    let thread = open(&hub).await;
    let mut deep = json!({});
    for _ in 0..64 {
        deep = json!({ "a": deep });
    }
    let large = json!({ "thread_id": thread, "body": "x".repeat(1024 * 1024) });
    let deep = json!({ "thread_id": thread, "body": "x", "metadata": deep });
    for (input, code) in [(deep, "VALIDATION_ERROR"), (large, "PAYLOAD_TOO_LARGE")] {
        let text = hub.code(&worker("author"), "post_message", input.clone()).await;
        let Value::Object(map) = input else { panic!("it is an object") };
        let call = hub.hub.call(worker("author"), None, CancellationToken::new());
        let parsed = hub.catalogue.call(call, "post_message", Input::Map(map)).await;
        let parsed = parsed.err().map(|error| error.code().name());
        assert_eq!((text, parsed), (code, Some(code)));
    }
    hub.stop().await;
}

#[tokio::test]
async fn an_unknown_operation_is_named_with_its_nearest_neighbour() {
    let hub = TestHub::start();
    let error = refusal(&hub, &coordinator(), "post_mesage", json!({})).await;
    assert_eq!(error.code.name(), "UNKNOWN_OPERATION");
    assert_eq!(error.hint.as_deref(), Some("did you mean post_message?"));
    for name in naughty::LINES {
        assert_eq!(hub.code(&coordinator(), name, json!({})).await, "UNKNOWN_OPERATION");
    }
    hub.stop().await;
}
