//! Calls that come from calls are flat, and five deep at most.

use serde_json::json;
use testkit::On;

use crate::on_both;
use crate::service::{Service, away};
use crate::world::{World, ada, args};

async fn calls_nest_five_deep(on: On) {
    let world = World::new(on, Service::that_answers([])).await;
    let mut parent = world.ask("SummarizeIssue", args()).await;
    for _ in 2..=5 {
        let other = json!({ "parent_id": parent });
        let child = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap();
        let call = world.until(child, "done").await;
        assert_eq!(call["parent_id"], json!(parent));
        parent = child;
    }
    let other = json!({ "parent_id": parent });
    let refused = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap_err();
    assert!(refused.to_string().contains("nests calls deeper than 5"), "{refused}");
    world.hub.stop().await;
}

on_both! { calls_nest_five_deep }

#[tokio::test]
async fn a_parent_is_named_by_the_askers_own_id_and_must_be_there() {
    let world = World::new(On::Sqlite, Service::that_answers([])).await;
    let other = json!({ "id": "outer" });
    let outer = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap();
    let other = json!({ "id": "inner", "parent_id": "outer" });
    let inner = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap();
    assert_eq!(world.until(inner, "done").await["parent_id"], json!(outer));
    let other = json!({ "parent_id": "nobody" });
    let refused = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap_err();
    assert!(refused.to_string().contains("names no call of this thread"), "{refused}");
}

#[tokio::test]
async fn a_call_that_follows_from_another_shares_its_hops() {
    let service = Service::that_answers([away()]);
    let world = World::new(On::Sqlite, service).await;
    let outer = world.ask("SummarizeIssue", args()).await;
    world.until(outer, "done").await;
    let other = json!({ "parent_id": outer });
    let inner = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap();
    assert_eq!(world.until(inner, "done").await["hops"], 1);
}
