//! Two hubs on one PostgreSQL.

use protocol::Role;
use serde_json::json;
use testkit::{On, TestHub, caller, generous};

#[tokio::test]
async fn a_reader_of_one_hub_is_told_what_another_one_took() {
    let here = TestHub::with(On::Postgres, generous());
    let there = here.beside();
    let (alice, bob) = (caller("alice", Role::Worker), caller("bob", Role::Worker));
    let thread = json!({ "title": "t", "participants": ["bob"] });
    let thread = here.ok(&alice, "create_thread", thread).await["thread_id"].clone();
    let wait = json!({ "timeout_ms": 30_000 });
    let post = json!({ "thread_id": thread, "body": "from the other hub", "idempotency_key": "k" });
    let (got, posted) = tokio::join!(
        here.ok(&bob, "wait_for_messages", wait),
        there.ok(&alice, "post_message", post.clone()),
    );
    assert_eq!(got["messages"][0]["body"], "from the other hub");
    // A retry at the other hub is the same message.
    assert_eq!(here.ok(&alice, "post_message", post).await, posted);
    there.stop().await;
    here.stop().await;
}
