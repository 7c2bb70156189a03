//! Whoever asked for a call can stop it.

use protocol::Role;
use serde_json::json;
use testkit::{On, caller};

use crate::on_both;
use crate::service::{Next, Service};
use crate::world::{World, ada, args, error_code, operator};

async fn a_running_call_is_stopped_with_those_below_it(on: On) {
    let service = Service::that_answers([Next::Hang, Next::Hang]);
    let world = World::new(on, service).await;
    let outer = world.ask("SummarizeIssue", args()).await;
    world.until_asked(1).await;
    let other = json!({ "parent_id": outer });
    let inner = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap();
    world.until_asked(2).await;
    let ended = world.hub.ok(&ada(), "cancel_tool_call", json!({ "call_id": outer })).await;
    assert_eq!((&ended["state"], error_code(&ended)), (&json!("cancelled"), "CANCELLED"));
    assert_eq!(world.call(inner).await["state"], "cancelled");
    assert_eq!(world.answers().await.len(), 2, "each gets its answer");
    // The second time it is no news.
    world.hub.ok(&ada(), "cancel_tool_call", json!({ "call_id": outer })).await;
    assert_eq!(world.answers().await.len(), 2);
    let other = json!({ "parent_id": outer });
    let refused = world.ask_as(&ada(), "SummarizeIssue", args(), other).await.unwrap_err();
    assert_eq!(refused.code().name(), "CONFLICT");
    // Its runner is free again.
    let next = world.ask("SummarizeIssue", args()).await;
    world.until(next, "done").await;
    world.hub.stop().await;
}

on_both! { a_running_call_is_stopped_with_those_below_it }

#[tokio::test]
async fn others_stop_nothing_unless_they_have_authority() {
    let world = World::new(On::Sqlite, Service::that_answers([Next::Hang])).await;
    let id = world.ask("SummarizeIssue", args()).await;
    world.until_asked(1).await;
    let ben = caller("ben", Role::Worker);
    let input = json!({ "call_id": id });
    assert_eq!(
        world.hub.code(&ben, "cancel_tool_call", input.clone()).await,
        "INSUFFICIENT_AUTHORITY"
    );
    world.hub.ok(&operator(), "cancel_tool_call", input.clone()).await;
    let done = world.ask("SummarizeIssue", args()).await;
    world.until(done, "done").await;
    let input = json!({ "call_id": done });
    assert_eq!(world.hub.code(&ada(), "cancel_tool_call", input).await, "CONFLICT");
}
