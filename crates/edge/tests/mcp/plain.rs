//! Plain calls: answered without rmcp, and in its words.

use serde_json::{Value, json};

use crate::edge::{Answer, Edge, MODERN, Session};

/// A member that rmcp reads over, and that is more than a plain call has.
const MORE: &str = "more";

fn params(tool: &str, arguments: &Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

fn with_more(mut params: Value) -> Value {
    params[MORE] = json!(1);
    params
}

async fn in_session(session: &Session<'_>, params: &Value) -> Answer {
    let call = json!({ "jsonrpc": "2.0", "id": "c-1", "method": "tools/call", "params": params });
    session.post(&call).await
}

/// A refusal says which request it is about, and no two are the same.
fn without_request_id(mut answer: Value) -> Value {
    if let Some(error) = answer.pointer_mut("/result/structuredContent/error") {
        assert!(error["request_id"].is_string(), "{error}");
        error["request_id"] = "any".into();
    }
    answer
}

/// Calls that are answered the same however often they are made.
fn calls(thread: &str) -> Vec<(&'static str, Value)> {
    let post = json!({
        "thread_id": thread, "kind": "chat", "body": "naïve \"quotes\"\n\u{1F980}",
        "metadata": { "n": 1.50, "deep": [[null, true]] }, "idempotency_key": "once",
    });
    vec![
        ("post_message", post.clone()),
        ("post.message", post),
        ("get_thread", json!({ "thread_id": thread })),
        ("list_threads", json!({})),
        ("list_threads", json!({ "status": ["active"], "limit": 1 })),
        ("read_messages", json!({ "thread_id": thread, "since_seq": 0 })),
        ("search_messages", json!({ "query": "hello" })),
        ("list_sessions", json!({})),
        ("ack_read", json!({ "thread_id": thread, "last_read_seq": 1 })),
        ("post_message", json!({ "thread_id": thread, "kind": "chat", "body": "" })),
        ("post_message", json!({ "thread_id": thread, "boddy": "x" })),
        ("post_message", json!({ "thread_id": thread, "kind": "chat", "body": 7 })),
        ("get_thread", json!({ "thread_id": "th_nobody_knows" })),
        ("read_messages", json!({ "thread_id": thread, "limit": -1 })),
        ("update_thread_status", json!({ "thread_id": thread, "status": "closed" })),
    ]
}

#[tokio::test]
async fn a_plain_call_of_the_newer_era_is_answered_in_rmcp_s_words() {
    let edge = Edge::behind_a_guard().await;
    let thread = edge.thread("ada", &["ben"]).await;
    edge.say("ada", &thread, "k").await;
    for (tool, arguments) in calls(&thread) {
        let params = params(tool, &arguments);
        let plain = edge.modern("ben", "tools/call", params.clone()).await.json().await;
        let rmcp = edge.modern("ben", "tools/call", with_more(params)).await.json().await;
        assert_eq!(without_request_id(plain), without_request_id(rmcp), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn a_plain_call_in_a_session_is_answered_in_rmcp_s_words() {
    let edge = Edge::behind_a_guard().await;
    let thread = edge.thread("ada", &["ben"]).await;
    edge.say("ada", &thread, "k").await;
    let ben = edge.initialize("ben").await;
    for (tool, arguments) in calls(&thread) {
        let params = params(tool, &arguments);
        let plain = in_session(&ben, &params).await.json().await;
        let rmcp = in_session(&ben, &with_more(params)).await.event().await.unwrap();
        assert_eq!(without_request_id(plain), without_request_id(rmcp), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn a_name_that_stands_twice_is_refused_whoever_answers() {
    let edge = Edge::behind_a_guard().await;
    let arguments = r#"{"title":"a","title":"b"}"#;
    let call = format!(r#"{{"name":"create_thread","arguments":{arguments}}}"#);
    let body = |id: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
    };
    let ben = edge.initialize("ben").await;
    for origin in [None, Some("http://localhost:1")] {
        let mut request = ben.request(http::Method::POST);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        let mut answer = edge.send("ben", request, &body("1", &call)).await;
        let answer = match origin {
            None => answer.json().await,
            Some(_) => answer.event().await.unwrap(),
        };
        let error = &answer["result"]["structuredContent"]["error"];
        let said = (&error["code"], &error["field"]);
        assert_eq!(said, (&json!("VALIDATION_ERROR"), &json!("title")), "{answer}");
    }
}

#[tokio::test]
async fn what_could_take_long_is_left_to_rmcp() {
    let edge = Edge::behind_a_guard().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let ben = edge.initialize("ben").await;
    let mut wait = params("wait_for_messages", &json!({ "thread_id": thread }));
    wait["_meta"] = json!({ "progressToken": 9 });
    let mut waiting = in_session(&ben, &wait).await;
    let progress = waiting.event().await.unwrap();
    assert_eq!(progress["method"], "notifications/progress");
    edge.say("ada", &thread, "k1").await;
    while waiting.event().await.expect("the result comes").get("result").is_none() {}
}

#[tokio::test]
async fn a_session_s_plain_calls_are_its_owner_s_and_end_with_it() {
    let edge = Edge::behind_a_guard().await;
    let ben = edge.initialize("ben").await;
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": params("list_threads", &json!({})),
    });
    assert_eq!(ben.post(&call).await.status(), 200);
    assert_eq!(ben.post_as("eve", &call).await.status(), 404);
    let end = ben.request(http::Method::DELETE);
    assert_eq!(edge.send("ben", end, "").await.status(), 204);
    assert_eq!(ben.post(&call).await.status(), 404);
}

#[tokio::test]
async fn a_page_s_call_is_none_of_ours() {
    let edge = Edge::behind_a_guard().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "list_threads",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    let request = || {
        http::Request::post("/mcp")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", "tools/call")
            .header("mcp-name", "list_threads")
    };
    assert_eq!(edge.send("ada", request(), &body.to_string()).await.status(), 200);
    let foreign = request().header("origin", "https://evil.example.com");
    assert_eq!(edge.send("ada", foreign, &body.to_string()).await.status(), 403);
}
