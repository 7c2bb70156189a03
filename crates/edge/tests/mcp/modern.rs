//! The era of `2026-07-28`: no session, plain JSON.

use protocol::Role;
use serde_json::{Value, json};
use testkit::caller;

use crate::edge::{Edge, MODERN, until};

#[tokio::test]
async fn a_client_discovers_who_we_are() {
    let edge = Edge::start().await;
    let answer = edge.modern("ada", "server/discover", json!({})).await.json().await;
    let result = &answer["result"];
    assert!(result["supportedVersions"].as_array().unwrap().contains(&json!(MODERN)));
    assert_eq!(result["capabilities"]["resources"]["subscribe"], true);
    assert!(result["instructions"].as_str().unwrap().contains("wait_for_messages"));
    assert!(result.to_string().contains("waystation"));
}

#[tokio::test]
async fn tools_are_listed_the_same_each_time_and_fit_into_20_kb() {
    let edge = Edge::start().await;
    let first = edge.modern("ada", "tools/list", json!({})).await.text().await;
    let again = edge.modern("ada", "tools/list", json!({})).await.text().await;
    assert_eq!(first, again);
    assert!(first.len() <= 20 * 1024, "{} bytes", first.len());
    let answer: Value = serde_json::from_str(&first).unwrap();
    let result = &answer["result"];
    assert_eq!((&result["cacheScope"], &result["ttlMs"]), (&json!("private"), &json!(300_000)));
    let tool = |name: &str| {
        let tools = result["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == name).unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(tool("read_messages")["annotations"]["readOnlyHint"], true);
    assert_eq!(tool("post_message")["annotations"]["readOnlyHint"], false);
    assert_eq!(tool("ack_read")["annotations"]["idempotentHint"], true);
    assert_eq!(tool("post_message")["annotations"]["openWorldHint"], false);
    assert!(tool("post_message")["outputSchema"]["properties"].is_object());
}

#[tokio::test]
async fn an_observer_is_shown_no_tool_that_writes() {
    let edge = Edge::start().await;
    let answer = edge.modern("eve/observer", "tools/list", json!({})).await.json().await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert!(names.contains(&"read_messages"), "{names:?}");
    assert!(!names.contains(&"post_message") && !names.contains(&"create_thread"), "{names:?}");
}

#[tokio::test]
async fn two_agents_work_a_thread_from_beginning_to_summary() {
    let edge = Edge::start().await;
    let created = edge
        .tool("ada", "create_thread", json!({ "title": "Release", "participants": ["ben"] }))
        .await;
    assert_eq!(created["resultType"], "complete");
    let thread = created["structuredContent"]["thread_id"].as_str().unwrap();
    let posted = edge
        .tool(
            "ada",
            "post_message",
            json!({ "thread_id": thread, "kind": "chat", "body": "hi", "idempotency_key": "k1" }),
        )
        .await;
    assert_eq!(posted["isError"], false, "{posted}");
    let read = edge.tool("ben", "read_messages", json!({ "thread_id": thread })).await;
    assert_eq!(read["structuredContent"]["messages"][0]["body"], "hi");
    assert!(read["content"][0]["text"].as_str().unwrap().contains("hi"));
    let seq = &posted["structuredContent"]["seq"];
    let acked =
        edge.tool("ben", "ack_read", json!({ "thread_id": thread, "last_read_seq": seq })).await;
    assert_eq!(acked["isError"], false, "{acked}");
    let waited = edge.tool("ben", "wait_for_messages", json!({ "timeout_ms": 0 })).await;
    assert_eq!(waited["structuredContent"]["timed_out"], true);
    let summary = edge.tool("ben", "summarize_thread", json!({ "thread_id": thread })).await;
    assert_eq!(summary["isError"], false, "{summary}");
}

#[tokio::test]
async fn a_refused_call_tells_the_model_what_to_do() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &[]).await;
    let refused = edge.tool("eve", "read_messages", json!({ "thread_id": thread })).await;
    assert_eq!(refused["isError"], true);
    let error = &refused["structuredContent"]["error"];
    assert_eq!(error["code"], "FORBIDDEN");
    assert!(error["request_id"].as_str().is_some_and(|id| !id.is_empty()));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("FORBIDDEN: ") && text.contains("add_participants"), "{text}");

    let odd = edge.tool("ada", "read_messages", json!({ "thread": thread })).await;
    assert_eq!(odd["structuredContent"]["error"]["code"], "VALIDATION_ERROR", "{odd}");
}

#[tokio::test]
async fn a_dotted_name_is_the_same_tool() {
    let edge = Edge::start().await;
    let listed = edge.tool("ada", "list.threads", json!({})).await;
    assert_eq!(listed["structuredContent"]["threads"], json!([]));
}

#[tokio::test]
async fn a_wait_ends_when_its_client_hangs_up() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let params = json!({ "name": "wait_for_messages", "arguments": { "thread_id": thread } });
    {
        let wait = edge.modern("ben", "tools/call", params);
        tokio::pin!(wait);
        tokio::select! {
            _ = &mut wait => panic!("there is nothing to wait for"),
            () = until(|| edge.watchers() == 1) => {}
        }
    }
    until(|| edge.watchers() == 0).await;
}

#[tokio::test]
async fn a_wait_tells_of_progress_and_then_of_the_message() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let params = json!({
        "name": "wait_for_messages",
        "arguments": { "thread_id": thread },
        "_meta": { "progressToken": "p1" },
    });
    let mut wait = edge.modern("ben", "tools/call", params).await;
    assert_eq!(wait.header("content-type"), Some("text/event-stream"));
    let progress = wait.event().await.unwrap();
    assert_eq!(progress["method"], "notifications/progress");
    assert_eq!(progress["params"]["progressToken"], "p1");
    edge.say("ada", &thread, "k1").await;
    loop {
        let event = wait.event().await.expect("the result comes");
        if let Some(result) = event.get("result") {
            assert_eq!(result["structuredContent"]["messages"][0]["body"], "hello");
            break;
        }
    }
}

#[tokio::test]
async fn a_subscription_tells_of_every_burst_and_ends_with_membership() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let uri = format!("threads://{thread}");
    let params = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let mut listen = edge.modern("ben", "subscriptions/listen", params).await;
    let acknowledged = listen.event().await.unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let first = listen.event().await.unwrap();
    assert_eq!(first["params"]["uri"], uri, "what came since the acknowledgment is not missed");
    edge.say("ben", &thread, "own posts count").await;
    let updated = listen.event().await.unwrap();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], uri);
    assert_eq!(updated["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    let input = json!({ "thread_id": thread, "participants": ["ben"] });
    edge.hub.ok(&caller("boss", Role::Operator), "remove_participants", input).await;
    let ended = listen.event().await.unwrap();
    assert!(ended.get("result").is_some(), "{ended}");
    until(|| edge.watchers() == 0).await;
}

#[tokio::test]
async fn a_subscription_ends_when_its_client_hangs_up() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let uris = json!([format!("threads://{thread}")]);
    let params = json!({ "notifications": { "resourceSubscriptions": uris } });
    let mut listen = edge.modern("ben", "subscriptions/listen", params).await;
    listen.event().await.unwrap();
    until(|| edge.watchers() == 1).await;
    drop(listen);
    until(|| edge.watchers() == 0).await;
}

#[tokio::test]
async fn nobody_subscribes_to_what_they_may_not_read() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &[]).await;
    let uri = format!("threads://{thread}");
    let params = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let mut listen = edge.modern("eve", "subscriptions/listen", params).await;
    listen.event().await.unwrap();
    let refused = listen.event().await.unwrap();
    let read = edge.modern("eve", "resources/read", json!({ "uri": uri })).await.json().await;
    assert_eq!(refused["error"]["code"], read["error"]["code"]);
    assert_eq!(refused["error"]["data"]["code"], "FORBIDDEN");
    assert_eq!(edge.watchers(), 0);
}

#[tokio::test]
async fn an_empty_list_says_so() {
    let edge = Edge::start().await;
    let listed = edge.tool("ada;scopes=relay:work", "list_work", json!({})).await;
    assert_eq!(listed["content"][0]["text"], "no work", "{listed}");
}
