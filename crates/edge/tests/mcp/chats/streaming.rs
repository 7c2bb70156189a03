//! Requirement: streaming updates.

use serde_json::{Value, json};

use super::world::{Account, Era, OWNER, add, connect, message, say, telegram};
use crate::edge::{Answer, Edge, until};

/// Listens to all of these, and answers the stream on which the updates come.
pub(super) async fn listen(era: Era, edge: &Edge, agent: &str, uris: &[&str]) -> Answer {
    match era {
        Era::Modern => {
            let params = json!({ "notifications": { "resourceSubscriptions": uris } });
            let mut events = edge.modern(agent, "subscriptions/listen", params).await;
            let acknowledged = events.event().await.unwrap();
            assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
            let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
            assert_eq!(accepted, &json!(uris));
            events
        }
        Era::Legacy => {
            let session = edge.initialize(agent).await;
            let events = session.listen().await;
            for uri in uris {
                let answer = session.call("resources/subscribe", json!({ "uri": uri })).await;
                assert_eq!(answer["result"], json!({}), "{answer}");
            }
            events
        }
    }
}

/// The next update: its URI, and what it says of itself.
pub(super) async fn update(events: &mut Answer) -> (String, Value) {
    let told = events.event().await.expect("an update comes");
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    let params = &told["params"];
    (params["uri"].as_str().unwrap().to_owned(), params["_meta"].clone())
}

/// The messages that an update names, as they read.
async fn said(edge: &Edge, about: &Value) -> Vec<String> {
    let ids = about["message_ids"].as_array().unwrap();
    let mut said = Vec::new();
    for id in ids {
        let input = json!({ "message_id": id, "before": 0, "after": 0 });
        let told = Era::Modern.told(edge, OWNER, "get_context", input).await;
        said.push(told["messages"][0]["content"].as_str().unwrap().to_owned());
    }
    said
}

#[tokio::test]
async fn subscribe_to_message_stream() {
    let edge = telegram().await;
    for (n, era) in (10..).zip(Era::BOTH) {
        let mut events = listen(era, &edge, OWNER, &["messages://telegram/*"]).await;
        say(&edge, "telegram", "1", n, "Antti", "are you there?").await;
        let (uri, about) = update(&mut events).await;
        assert_eq!(uri, "messages://telegram/1", "the chat itself");
        assert_eq!(about["source"], "telegram");
        assert_eq!((&about["chat_id"], &about["chat"]), (&json!("1"), &json!("Antti")));
        assert_eq!(said(&edge, &about).await, ["are you there?"]);
        say(&edge, "telegram", "2", n, "Mother", "dinner!").await;
        let (uri, about) = update(&mut events).await;
        assert_eq!(uri, "messages://telegram/2");
        assert_eq!(about["chat"], "Family");
        if era == Era::Modern {
            assert_eq!(about["io.modelcontextprotocol/subscriptionId"], 1);
        }
        // The update leads on: what comes after it is what wait_for_messages gives.
        say(&edge, "telegram", "1", n + 100, "Antti", "hello?").await;
        let input = json!({ "source": "*", "after": about["cursor"], "timeout_ms": 0 });
        let waited = era.told(&edge, OWNER, "wait_for_messages", input).await;
        assert_eq!(waited["chat_messages"][0]["content"], "hello?");
    }
}

#[tokio::test]
async fn filter_streaming_messages() {
    let edge = telegram().await;
    for (n, era) in (10..).zip(Era::BOTH) {
        let mut events = listen(era, &edge, OWNER, &["messages://telegram/Antti"]).await;
        say(&edge, "telegram", "2", n, "Mother", "not for you").await;
        say(&edge, "telegram", "1", n, "Antti", "for you").await;
        let (uri, about) = update(&mut events).await;
        assert_eq!(uri, "messages://telegram/Antti", "as it was asked for");
        assert_eq!(about["uri"], "messages://telegram/1", "and as it is");
        assert_eq!(said(&edge, &about).await, ["for you"]);
    }
}

#[tokio::test]
async fn source_doesnt_support_streaming() {
    let edge = telegram().await;
    connect(&edge, "whatsapp", Account::Silent).await;
    let said = "Source 'whatsapp' does not support streaming";
    let session = edge.initialize(OWNER).await;
    let params = json!({ "uri": "messages://whatsapp/*" });
    let error = session.call("resources/subscribe", params).await["error"].clone();
    assert_eq!(error["data"]["code"], "STREAMING_NOT_SUPPORTED");
    assert_eq!(error["message"], said);
    // Alone, it is what becomes of the request; the acknowledgment does not promise it.
    let uris = json!(["messages://whatsapp/*"]);
    let params = json!({ "notifications": { "resourceSubscriptions": uris } });
    let mut events = edge.modern(OWNER, "subscriptions/listen", params).await;
    let acknowledged = events.event().await.unwrap();
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
    let error = events.event().await.unwrap()["error"].clone();
    assert_eq!(error["data"]["code"], "STREAMING_NOT_SUPPORTED");
    assert_eq!(error["message"], said);
}

#[tokio::test]
async fn what_cannot_be_followed_does_not_end_what_can() {
    let edge = telegram().await;
    connect(&edge, "whatsapp", Account::Silent).await;
    let uris = json!([
        "messages://whatsapp/*",
        "messages://telegram/Nobody",
        "messages://telegram/1",
        "messages://",
    ]);
    let params = json!({ "notifications": { "resourceSubscriptions": uris } });
    let mut events = edge.modern(OWNER, "subscriptions/listen", params).await;
    let acknowledged = events.event().await.unwrap();
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted, &json!(["messages://telegram/1"]));
    say(&edge, "telegram", "1", 9, "Antti", "still here").await;
    assert_eq!(update(&mut events).await.0, "messages://telegram/1");
}

#[tokio::test]
async fn all_sources_are_followed_at_once() {
    let edge = telegram().await;
    connect(&edge, "signal", Account::Streams).await;
    let chats = json!([{ "chat_id": "s1", "chat_type": "direct", "name": "Sigrid" }]);
    add(&edge, "signal", json!({ "chats": chats })).await;
    for (n, era) in (10..).zip(Era::BOTH) {
        let mut events = listen(era, &edge, OWNER, &["messages://*/*"]).await;
        say(&edge, "signal", "s1", n, "Sigrid", "hei").await;
        assert_eq!(update(&mut events).await.0, "messages://signal/s1");
        say(&edge, "telegram", "4", n, "Bob", "hello").await;
        assert_eq!(update(&mut events).await.0, "messages://telegram/4");
    }
}

#[tokio::test]
async fn a_stream_is_filtered_by_sender_and_by_text() {
    let edge = telegram().await;
    for (n, era) in (10..).zip(Era::BOTH) {
        let uri = "messages://telegram/*?sender=Alice&search=lunch";
        let mut events = listen(era, &edge, OWNER, &[uri]).await;
        let messages = json!([
            message("1", n, 0, "Antti", "LUNCH?"),
            message("1", n + 100, 0, "Alice", "no"),
            message("1", n + 200, 0, "Alice", "Lunch, yes"),
        ]);
        add(&edge, "telegram", json!({ "messages": messages })).await;
        let (uri, about) = update(&mut events).await;
        assert_eq!(uri, "messages://telegram/1");
        assert_eq!(said(&edge, &about).await, ["Lunch, yes"]);
    }
}

#[tokio::test]
async fn an_edit_is_told_like_an_arrival() {
    let edge = telegram().await;
    let mut events = listen(Era::Modern, &edge, OWNER, &["messages://telegram/1"]).await;
    let mut edited = message("1", 3, 40, "Antti", "Better");
    edited["edited_at"] = "2026-02-17T11:50:00Z".into();
    add(&edge, "telegram", json!({ "edits": [{ "message": edited }] })).await;
    let (_, about) = update(&mut events).await;
    assert_eq!(said(&edge, &about).await, ["Better"]);
}

#[tokio::test]
async fn a_burst_is_told_at_once_and_then_together() {
    let edge = telegram().await;
    let mut events = listen(Era::Modern, &edge, OWNER, &["messages://telegram/*"]).await;
    say(&edge, "telegram", "1", 10, "Antti", "b0").await;
    assert_eq!(said(&edge, &update(&mut events).await.1).await, ["b0"]);
    for n in 1..=5 {
        say(&edge, "telegram", "1", 10 + n, "Antti", &format!("b{n}")).await;
    }
    let (_, about) = update(&mut events).await;
    assert_eq!(about["message_count"], 5);
    assert_eq!(said(&edge, &about).await, ["b1", "b2", "b3", "b4", "b5"]);
}

#[tokio::test]
async fn subscriptions_to_chats_end_with_whoever_made_them() {
    let edge = telegram().await;
    let hub = &edge.hub.hub;
    let own = hub.live.chat_watchers();
    let session = edge.initialize(OWNER).await;
    let mut events = session.listen().await;
    for uri in ["messages://telegram/*", "messages://telegram/1"] {
        session.call("resources/subscribe", json!({ "uri": uri })).await;
    }
    let params = json!({ "uri": "messages://telegram/*" });
    session.call("resources/unsubscribe", params).await;
    say(&edge, "telegram", "2", 10, "Mother", "unheard").await;
    say(&edge, "telegram", "1", 10, "Antti", "heard").await;
    assert_eq!(update(&mut events).await.1["chat"], "Antti");
    drop(events);
    let closed = edge.send(OWNER, session.request(http::Method::DELETE), "").await;
    assert_eq!(closed.status(), 204);
    until(|| hub.live.chat_watchers() == own).await;
    let listening = listen(Era::Modern, &edge, OWNER, &["messages://*/*"]).await;
    until(|| hub.live.chat_watchers() == own + 1).await;
    drop(listening);
    until(|| hub.live.chat_watchers() == own).await;
}

#[tokio::test]
async fn a_stopping_hub_ends_the_stream_well() {
    let edge = telegram().await;
    let mut events = listen(Era::Modern, &edge, OWNER, &["messages://telegram/*"]).await;
    edge.hub.hub.stopping.cancel();
    assert!(events.event().await.unwrap().get("result").is_some());
}
