//! Services that call the hub.

use std::sync::Arc;

use connector_api::{Capabilities, HookRequest};
use protocol::chat::Facts;

use crate::service::Service;
use crate::world::{TOKEN, hub_for, link, linked, message, messages, texts};

fn hooked() -> Arc<Service> {
    Service::that_can(Capabilities { hooks: true, ..Capabilities::default() })
}

fn request(facts: &Facts, signature: &str) -> HookRequest {
    HookRequest {
        method: "POST".to_owned(),
        headers: vec![("x-signature".to_owned(), signature.to_owned())],
        query: Vec::new(),
        body: serde_json::to_vec(facts).unwrap(),
    }
}

#[tokio::test]
async fn a_signed_request_is_answered_after_the_commit() {
    let hub = linked(&hooked()).await;
    let facts = messages(vec![message("c1", "m1", 1, "called")]);
    let answer = hub.hub.links.receive("scripted", request(&facts, TOKEN)).await.unwrap();
    assert_eq!(answer, "taken".into());
    assert_eq!(texts(&hub, "c1").await, ["called"]);
    // The workspace may stand before the name.
    let again = hub.hub.links.receive("wk_mobile_core/scripted", request(&facts, TOKEN)).await;
    assert_eq!(again.unwrap(), "taken".into());
    assert_eq!(texts(&hub, "c1").await, ["called"]);
    hub.stop().await;
}

#[tokio::test]
async fn whoever_adds_a_link_learns_where_its_service_calls() {
    let hub = hub_for(&hooked());
    assert_eq!(link(&hub).await["hook_path"], "/hooks/wk_mobile_core/scripted");
    hub.stop().await;
    let hub = hub_for(&Service::streaming());
    assert!(link(&hub).await.get("hook_path").is_none());
    hub.stop().await;
}

#[tokio::test]
async fn an_unsigned_request_changes_nothing() {
    let hub = linked(&hooked()).await;
    let facts = messages(vec![message("c1", "m1", 1, "forged")]);
    let error = hub.hub.links.receive("scripted", request(&facts, "guess")).await.unwrap_err();
    assert_eq!(error.code().name(), "UNAUTHORIZED");
    assert!(texts(&hub, "c1").await.is_empty());
    hub.stop().await;
}

#[tokio::test]
async fn a_challenge_is_answered_with_its_words() {
    let hub = linked(&hooked()).await;
    let query = vec![("challenge".to_owned(), "4711".to_owned())];
    let request = HookRequest { query, ..HookRequest::default() };
    assert_eq!(hub.hub.links.receive("scripted", request).await.unwrap(), "4711".into());
    hub.stop().await;
}

#[tokio::test]
async fn a_hook_of_nobody_is_not_found() {
    let streaming = linked(&Service::streaming()).await;
    for name in ["scripted", "other", "wk_other/scripted", "", "/"] {
        let received = streaming.hub.links.receive(name, HookRequest::default()).await;
        assert_eq!(received.unwrap_err().code().name(), "NOT_FOUND", "{name}");
    }
    streaming.stop().await;
}
