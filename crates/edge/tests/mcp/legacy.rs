//! The era of `initialize`: sessions, event streams, `resources/subscribe`.

use serde_json::{Value, json};

use crate::edge::{Edge, LEGACY, Session, until};

#[tokio::test]
async fn a_session_begins_and_lists_tools() {
    let edge = Edge::start().await;
    let session = edge.initialize("ada").await;
    let greeting = &session.greeting["result"];
    assert_eq!(greeting["protocolVersion"], LEGACY);
    assert_eq!(greeting["serverInfo"]["name"], "waystation");
    assert_eq!(greeting["capabilities"]["resources"]["subscribe"], true);
    assert!(greeting["capabilities"].get("logging").is_none());
    let tools = session.call("tools/list", json!({})).await;
    assert!(tools["result"]["tools"].as_array().unwrap().len() >= 14);
    assert!(tools["result"].get("resultType").is_none());
}

async fn tool(session: &Session<'_>, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    session.call("tools/call", params).await["result"].clone()
}

#[tokio::test]
async fn two_agents_work_a_thread_from_beginning_to_summary() {
    let edge = Edge::start().await;
    let (ada, ben) = (edge.initialize("ada").await, edge.initialize("ben").await);
    let created =
        tool(&ada, "create_thread", json!({ "title": "Release", "participants": ["ben"] })).await;
    let thread = created["structuredContent"]["thread_id"].as_str().unwrap();
    let post = json!({ "thread_id": thread, "kind": "chat", "body": "hi", "idempotency_key": "k" });
    let posted = tool(&ada, "post_message", post).await;
    let waited = tool(&ben, "wait_for_messages", json!({ "thread_id": thread })).await;
    assert_eq!(waited["structuredContent"]["messages"][0]["body"], "hi");
    let read = tool(&ben, "read_messages", json!({ "thread_id": thread, "since_seq": 0 })).await;
    assert_eq!(read["structuredContent"]["messages"][0]["body"], "hi");
    let seq = &posted["structuredContent"]["seq"];
    let acked = tool(&ben, "ack_read", json!({ "thread_id": thread, "last_read_seq": seq })).await;
    assert_eq!(acked["isError"], false, "{acked}");
    let summary = tool(&ben, "summarize_thread", json!({ "thread_id": thread })).await;
    assert_eq!(summary["isError"], false, "{summary}");
}

#[tokio::test]
async fn a_cancelled_wait_is_given_up_and_not_answered() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let ben = edge.initialize("ben").await;
    let wait = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "wait_for_messages", "arguments": { "thread_id": thread },
    } });
    let mut waiting = ben.post(&wait).await;
    until(|| edge.watchers() == 1).await;
    let cancel = json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 3 },
    });
    assert_eq!(ben.post(&cancel).await.status(), 202);
    until(|| edge.watchers() == 0).await;
    assert_eq!(waiting.event().await, None);
}

#[tokio::test]
async fn an_answer_that_was_lost_on_its_way_is_told_again() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let ben = edge.initialize("ben").await;
    let wait = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "wait_for_messages", "arguments": { "thread_id": thread },
    } });
    let mut waiting = ben.post(&wait).await;
    let last = waiting.first_id().await;
    until(|| edge.watchers() == 1).await;
    drop(waiting);
    edge.say("ada", &thread, "k1").await;
    until(|| edge.watchers() == 0).await;
    // One network after the other fails.
    for _ in 0..2 {
        let request = ben.request(http::Method::GET).header("last-event-id", &last);
        let mut resumed = edge.send("ben", request, "").await;
        let told = resumed.event().await.expect("the answer is told again");
        assert_eq!(told["id"], 3);
        assert_eq!(told["result"]["structuredContent"]["messages"][0]["body"], "hello");
        assert_eq!(resumed.event().await, None, "nothing comes after the answer");
    }
    let eve = edge.initialize("eve").await;
    let request = eve.request(http::Method::GET).header("last-event-id", &last);
    assert_eq!(edge.send("eve", request, "").await.event().await, None, "it is not hers");
}

#[tokio::test]
async fn a_wait_tells_of_progress_on_its_own_stream() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let ben = edge.initialize("ben").await;
    let wait = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "wait_for_messages",
        "arguments": { "thread_id": thread },
        "_meta": { "progressToken": 9 },
    } });
    let mut waiting = ben.post(&wait).await;
    let progress = waiting.event().await.unwrap();
    assert_eq!(
        (&progress["method"], &progress["params"]["progressToken"]),
        (&json!("notifications/progress"), &json!(9))
    );
    edge.say("ada", &thread, "k1").await;
    while waiting.event().await.expect("the result comes").get("result").is_none() {}
}

#[tokio::test]
async fn a_subscription_fires_on_the_open_stream_until_it_is_ended() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let uri = format!("threads://{thread}");
    let ben = edge.initialize("ben").await;
    let mut events = ben.listen().await;
    let subscribed = ben.call("resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(subscribed["result"], json!({}));
    assert_eq!(edge.watchers(), 1);
    edge.say("ada", &thread, "k1").await;
    let updated = events.event().await.unwrap();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(updated["params"]["uri"], uri);
    ben.call("resources/unsubscribe", json!({ "uri": uri })).await;
    until(|| edge.watchers() == 0).await;
}

#[tokio::test]
async fn subscriptions_end_with_their_session() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &["ben"]).await;
    let ben = edge.initialize("ben").await;
    let uri = format!("threads://{thread}");
    ben.call("resources/subscribe", json!({ "uri": uri })).await;
    ben.call("resources/subscribe", json!({ "uri": uri })).await;
    until(|| edge.watchers() == 1).await;
    let closed = edge.send("ben", ben.request(http::Method::DELETE), "").await;
    assert_eq!(closed.status(), 204);
    until(|| edge.watchers() == 0).await;
}

#[tokio::test]
async fn nobody_subscribes_to_what_they_may_not_read() {
    let edge = Edge::start().await;
    let thread = edge.thread("ada", &[]).await;
    let eve = edge.initialize("eve").await;
    let params = json!({ "uri": format!("threads://{thread}") });
    let refused = eve.call("resources/subscribe", params.clone()).await;
    assert_eq!(refused["error"]["data"]["code"], "FORBIDDEN");
    let read = eve.call("resources/read", params).await;
    assert_eq!(read["error"]["code"], refused["error"]["code"]);
    assert_eq!(edge.watchers(), 0);
}
