//! How long sessions of the older era live, and who hears what they tell.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use protocol::{Caller, Role};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use tower::ServiceExt;
use waystation_edge::mcp::{HttpService, HttpSettings, Server, http_service};

use crate::edge::{LEGACY, almost_over, app, soon};

type Answer = Response<BoxBody<Bytes, std::convert::Infallible>>;

async fn send(service: &HttpService<Server>, method: Method, id: &str, body: Value) -> Answer {
    send_as(caller("ada", Role::Worker), service, method, id, body).await
}

async fn send_as(
    caller: Arc<Caller>,
    service: &HttpService<Server>,
    method: Method,
    id: &str,
    body: Value,
) -> Answer {
    let mut request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .extension(caller);
    if !id.is_empty() {
        request = request.header("mcp-session-id", id).header("mcp-protocol-version", LEGACY);
    }
    let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
    service.clone().oneshot(request).await.unwrap()
}

async fn begin(service: &HttpService<Server>) -> String {
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": LEGACY,
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "0" },
    } });
    let answer = send(service, Method::POST, "", body).await;
    let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    answer.into_body().collect().await.unwrap();
    id
}

async fn ping(service: &HttpService<Server>, id: &str) -> u16 {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    send(service, Method::POST, id, body).await.status().as_u16()
}

#[tokio::test]
async fn open_streams_end_when_the_hub_stops() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let id = begin(&service).await;
    let events = send(&service, Method::GET, &id, json!(null)).await.into_body();
    hub.hub.stopping.cancel();
    soon(events.collect()).await.unwrap();
}

#[tokio::test]
async fn open_streams_end_when_the_token_is_revoked() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let id = begin(&service).await;
    let events = send(&service, Method::GET, &id, json!(null)).await.into_body();
    let ada = caller("ada", Role::Worker);
    hub.hub.revocations.revoke("another", &ada.jti);
    hub.hub.revocations.revoke(&ada.workspace_id, &ada.jti);
    soon(events.collect()).await.unwrap();
}

#[tokio::test]
async fn open_streams_end_when_the_token_does() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let id = begin(&service).await;
    let over_soon = almost_over(&caller("ada", Role::Worker), &hub);
    let events = send_as(over_soon, &service, Method::GET, &id, json!(null)).await.into_body();
    soon(events.collect()).await.unwrap();
}

/// The next message on an open stream.
async fn event(events: &mut BoxBody<Bytes, std::convert::Infallible>) -> Option<Value> {
    // Signs of life go on for ever.
    soon(async {
        loop {
            let frame = events.frame().await?.unwrap().into_data().unwrap_or_default();
            let text = String::from_utf8(frame.to_vec()).unwrap();
            let data = text.lines().find_map(|line| line.strip_prefix("data:")).unwrap_or_default();
            if !data.trim().is_empty() {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    })
    .await
}

#[tokio::test]
async fn the_newest_stream_of_a_session_is_the_one_that_is_told() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let ada = caller("ada", Role::Worker);
    let thread = hub.ok(&ada, "create_thread", json!({ "title": "Release" })).await;
    let uri = format!("threads://{}", thread["thread_id"].as_str().unwrap());
    let id = begin(&service).await;
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": uri },
    });
    send(&service, Method::POST, &id, subscribe).await.into_body().collect().await.unwrap();
    let mut older = send(&service, Method::GET, &id, json!(null)).await.into_body();
    // The client has lost sight of its first stream, and the server has not.
    let mut newer = send(&service, Method::GET, &id, json!(null)).await.into_body();
    assert_eq!(event(&mut older).await.unwrap()["params"]["uri"], uri, "it may have missed some");
    assert_eq!(event(&mut older).await, None, "the older one ends");
    assert_eq!(event(&mut newer).await.unwrap()["params"]["uri"], uri, "this one as well");
    let post = json!({ "thread_id": thread["thread_id"], "kind": "chat", "body": "hi" });
    hub.ok(&ada, "post_message", post).await;
    assert_eq!(event(&mut newer).await.unwrap()["params"]["uri"], uri);
}

/// Subscribes to a new thread, and answers its id and its address.
async fn subscribed(
    hub: &TestHub,
    service: &HttpService<Server>,
    by: Arc<Caller>,
    id: &str,
) -> [String; 2] {
    let ada = caller("ada", Role::Worker);
    let thread = hub.ok(&ada, "create_thread", json!({ "title": "Release" })).await;
    let thread = thread["thread_id"].as_str().unwrap().to_owned();
    let uri = format!("threads://{thread}");
    let subscribe = json!({
        "jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": { "uri": uri },
    });
    let answer = send_as(by, service, Method::POST, id, subscribe).await;
    answer.into_body().collect().await.unwrap();
    [thread, uri]
}

async fn say(hub: &TestHub, thread: &str) {
    let post = json!({ "thread_id": thread, "kind": "chat", "body": "hi" });
    hub.ok(&caller("ada", Role::Worker), "post_message", post).await;
}

#[tokio::test]
async fn subscriptions_go_on_with_the_newest_token_of_their_session() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let ada = caller("ada", Role::Worker);
    let id = begin(&service).await;
    let [thread, uri] = subscribed(&hub, &service, almost_over(&ada, &hub), &id).await;
    let events = send_as(ada, &service, Method::GET, &id, json!(null)).await;
    let mut events = events.into_body();
    assert_eq!(event(&mut events).await.unwrap()["params"]["uri"], uri);
    hub.clock.advance_ms(1_000);
    say(&hub, &thread).await;
    assert_eq!(event(&mut events).await.unwrap()["params"]["uri"], uri);
}

#[tokio::test]
async fn whoever_listens_again_is_told_to_look_at_everything() {
    const THREADS: usize = 20;
    let hub = TestHub::with(On::Sqlite, generous());
    let service = http_service(app(&hub), &HttpSettings::default());
    let ada = caller("ada", Role::Worker);
    let id = begin(&service).await;
    let mut uris = BTreeSet::new();
    for _ in 0..THREADS {
        let [thread, uri] = subscribed(&hub, &service, Arc::clone(&ada), &id).await;
        say(&hub, &thread).await;
        uris.insert(uri);
    }
    let mut events = send(&service, Method::GET, &id, json!(null)).await.into_body();
    let mut told = BTreeSet::new();
    for _ in 0..THREADS {
        let event = event(&mut events).await.unwrap();
        told.insert(event["params"]["uri"].as_str().unwrap().to_owned());
    }
    assert_eq!(told, uris);
}

#[tokio::test]
async fn a_session_is_ended_once() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let id = begin(&service).await;
    for status in [204, 404] {
        let ended = send(&service, Method::DELETE, &id, json!(null)).await;
        assert_eq!(ended.status().as_u16(), status);
    }
}

#[tokio::test]
async fn a_caller_has_so_many_sessions_and_no_more() {
    let hub = TestHub::start();
    let service = http_service(app(&hub), &HttpSettings::default());
    let first = begin(&service).await;
    let second = begin(&service).await;
    for _ in 2..101 {
        begin(&service).await;
    }
    assert_eq!(ping(&service, &first).await, 404);
    assert_eq!(ping(&service, &second).await, 200);
}
