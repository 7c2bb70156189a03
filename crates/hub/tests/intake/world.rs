//! What the tests of the way in share.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Caller, Role};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use waystation_hub::relay::settings::RelayRoute;

use crate::service::{Service, request};

pub(crate) fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

pub(crate) fn worker(agent: &str) -> Arc<Caller> {
    caller(agent, Role::Worker)
}

/// A hub that is linked to the service, with these routes.
pub(crate) async fn linked_with(
    on: On,
    service: &Arc<Service>,
    routes: Vec<RelayRoute>,
) -> TestHub {
    let mut settings = generous();
    settings.relay.intake.routes = routes;
    let hub = TestHub::with_connectors(on, settings, service.kinds());
    hub.ok(&operator(), "add_link", json!({ "service": "github" })).await;
    until_up(&hub).await;
    hub
}

pub(crate) async fn linked(on: On) -> TestHub {
    linked_with(on, &Arc::default(), Vec::new()).await
}

/// Waits until the link is up.
pub(crate) async fn until_up(hub: &TestHub) {
    eventually("the link is up", async || {
        let links = hub.ok(&operator(), "list_links", json!({})).await;
        links["links"][0]["status"] == "connected"
    })
    .await;
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    for _ in 0..10_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("it never came to this: {what}");
}

/// The service says something; it is answered well.
pub(crate) async fn say(hub: &TestHub, said: &Value) {
    let answer = hub.hub.links.receive("github", request(said, hub.hub.now())).await;
    assert_eq!(answer.unwrap(), "ok".into());
}

/// What the service said, the newest first.
pub(crate) async fn deliveries(hub: &TestHub) -> Vec<Value> {
    let listed =
        hub.ok(&operator(), "list_deliveries", json!({ "name": "github", "limit": 200 })).await;
    listed["deliveries"].as_array().unwrap().clone()
}

/// The threads there are.
pub(crate) async fn threads(hub: &TestHub) -> Vec<Value> {
    let listed = hub.ok(&operator(), "list_threads", json!({})).await;
    listed["threads"].as_array().unwrap().clone()
}

/// The envelopes of a thread.
pub(crate) async fn envelopes(hub: &TestHub, thread: &Value) -> Vec<Value> {
    let input = json!({ "thread_id": thread, "limit": 200 });
    let read = hub.ok(&operator(), "read_envelopes", input).await;
    read["envelopes"].as_array().unwrap().clone()
}

/// The envelopes of the only thread there is.
pub(crate) async fn only_thread(hub: &TestHub) -> Vec<Value> {
    let threads = threads(hub).await;
    assert_eq!(threads.len(), 1, "{threads:?}");
    envelopes(hub, &threads[0]["thread_id"]).await
}

/// How much work there is, by the queue.
pub(crate) async fn work(hub: &TestHub) -> Vec<(String, String, i64)> {
    let depths = hub.hub.store.read(|tx| Ok::<_, waystation_hub::Error>(tx.work_depths()?)).await;
    let depths = depths.unwrap().into_iter();
    depths.map(|depth| (depth.queue, depth.state.name().to_owned(), depth.count)).collect()
}
