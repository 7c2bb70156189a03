//! A link that was purged leaves nothing that another workspace's link could be taken for.

use std::sync::Arc;

use protocol::relay::Action;
use protocol::{Caller, OutboxId, Role};
use serde_json::{Value, json};
use store::RelayThreadRow;
use testkit::{On, caller_in};
use waystation_hub::Settings;
use waystation_hub::relay::outbox::{NewOutbox, destination, enqueue};
use waystation_hub::relay::settings::{ApprovalRule, Verdict};

use crate::on_both;
use crate::service::request;
use crate::world::{World, agent, operator, settings};

on_both! {
    another_workspace_gets_no_number_of_a_purged_link
    a_link_of_another_workspace_is_none_whatever_its_number
}

const OURS: &str = "wk_mobile_core";
const THEIRS: &str = "wk_other";
/// What began at the tracker in both workspaces.
const ISSUE: &str = "issue-12";

fn stranger() -> Arc<Caller> {
    caller_in(THEIRS, "boss", Role::Operator)
}

/// Everything may leave for the tracker.
fn allowing() -> Settings {
    let mut settings = settings();
    let asking = settings.relay.approvals.asking.clone();
    settings.relay.approvals.rules.push(ApprovalRule {
        channel: Some("github".to_owned()),
        verdict: Verdict::Allow,
        even_external: true,
        asking,
        ..ApprovalRule::default()
    });
    settings
}

/// The other workspace connects the same service; answers its link's number.
async fn link_theirs(world: &World) -> i64 {
    world.hub.ok(&stranger(), "add_link", json!({ "service": "github" })).await;
    world
        .eventually("their link is up", async || {
            let links = world.hub.ok(&stranger(), "list_links", json!({})).await;
            links["links"][0]["status"] == "connected"
        })
        .await;
    let link = world.hub.hub.store.read(|tx| tx.link(THEIRS, "github")).await;
    link.map_err(|error: store::StoreError| error).unwrap().unwrap().row
}

/// The service says something about the issue to the other workspace.
async fn say_theirs(world: &World) {
    let said = request(&json!({ "say": "only for them", "thread": ISSUE }));
    world.hub.hub.links.receive("wk_other/github", said).await.unwrap();
}

/// An action of ours that goes through the link of this number.
async fn queue_through(world: &World, link_row: i64) -> OutboxId {
    let now = world.hub.hub.now();
    let id = OutboxId(world.hub.hub.new_uid(now));
    let action =
        Action { link: "github".to_owned(), text: "only for us".to_owned(), ..Action::default() };
    let queued = world.hub.hub.store.write(move |tx| {
        enqueue(
            tx,
            &NewOutbox {
                id,
                workspace: OURS,
                link_row,
                destination: &destination(&action),
                action: &action,
                thread_row: None,
                task: None,
                agent: "triage",
                proposal: None,
                buttons: None,
                replaces: None,
                at: now,
            },
        )
    });
    queued.await.unwrap();
    world.hub.hub.live.announce_outbox();
    id
}

/// Waits until an action is given up because its link is gone.
async fn until_dead(world: &World, id: OutboxId) {
    world
        .eventually("its link is gone", async || {
            let listed = world.hub.ok(&operator(), "list_outbox", json!({ "outbox_id": id })).await;
            let action = &listed["actions"][0];
            action["state"] == "dead" && action["reason"] == "its link was removed"
        })
        .await;
}

/// What was said to them stands in a thread of theirs, and nothing of ours leaves through their link.
async fn assert_apart(world: &World, thread: &str, messages: &[Value]) {
    say_theirs(world).await;
    let threads = world.hub.ok(&stranger(), "list_threads", json!({})).await;
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1, "{threads}");
    assert_eq!(threads["threads"][0]["title"], "only for them");
    assert_eq!(world.messages(thread).await, messages);
    let input = json!({ "thread_id": thread, "action": { "text": "only for us" } });
    assert_eq!(world.hub.code(&agent(), "propose_action", input).await, "VALIDATION_ERROR");
}

async fn another_workspace_gets_no_number_of_a_purged_link(on: On) {
    let world = World::with(on, allowing()).await;
    let thread = world.begin("github", ISSUE).await;
    let messages = world.messages(&thread).await;
    let link = world.hub.hub.store.read(|tx| tx.link(OURS, "github")).await;
    let ours = link.map_err(|error: store::StoreError| error).unwrap().unwrap().row;
    let purge = json!({ "name": "github", "purge": true });
    let removed = world.hub.ok(&operator(), "remove_link", purge).await;
    assert_eq!(removed["is_done"], true, "{removed}");
    let dead = queue_through(&world, ours).await;
    until_dead(&world, dead).await;
    assert_ne!(link_theirs(&world).await, ours);
    assert_apart(&world, &thread, &messages).await;
    world.hub.ok(&operator(), "redrive_outbox", json!({ "outbox_id": dead })).await;
    until_dead(&world, dead).await;
    assert!(world.services.at("github").is_empty());
    world.hub.stop().await;
}

async fn a_link_of_another_workspace_is_none_whatever_its_number(on: On) {
    let world = World::with(on, allowing()).await;
    let thread = json!({ "title": "Ours", "participants": ["triage"] });
    let thread = world.hub.ok(&operator(), "create_thread", thread).await;
    let thread = thread["thread_id"].as_str().unwrap();
    let messages = world.messages(thread).await;
    let theirs = link_theirs(&world).await;
    let id = thread.parse().unwrap();
    // As if the number of their link had been that of one of ours.
    let left = world.hub.hub.store.write(move |tx| {
        let access = tx.thread(id, "boss")?.unwrap();
        tx.insert_relay_thread(&RelayThreadRow {
            thread_row: access.thread.row,
            link_row: theirs,
            key: format!("github:{ISSUE}"),
            channel: "github".to_owned(),
            url: None,
            address: "{}".to_owned(),
        })
    });
    left.await.map_err(|error: store::StoreError| error).unwrap();
    let action = queue_through(&world, theirs).await;
    until_dead(&world, action).await;
    assert_apart(&world, thread, &messages).await;
    assert!(world.services.at("github").is_empty());
    // What they say once more stands where they said it first.
    let again = request(&json!({ "say": "and this", "thread": ISSUE }));
    world.hub.hub.links.receive("wk_other/github", again).await.unwrap();
    let threads = world.hub.ok(&stranger(), "list_threads", json!({})).await;
    assert_eq!(threads["threads"].as_array().unwrap().len(), 1);
    world.hub.stop().await;
}
