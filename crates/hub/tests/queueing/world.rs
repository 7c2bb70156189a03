//! What the tests of queues share: a hub with a link, threads with work in them, actions to send.

use std::sync::Arc;
use std::time::Duration;

use protocol::relay::Action;
use protocol::{
    Caller, MessageKind, OutboxId, Role, TaskId, ThreadId, ThreadStatus, ThreadType, Trust, WorkId,
};
use serde_json::{Value, json};
use store::{NewMessage, NewThread, NewWork};
use testkit::{On, TestHub, caller, generous};
use waystation_hub::relay::outbox::{NewOutbox, Replaces, destination, enqueue};

use crate::service::Service;

pub(crate) const WORKSPACE: &str = "wk_mobile_core";

pub(crate) fn operator() -> Arc<Caller> {
    caller("boss", Role::Operator)
}

pub(crate) fn agent(name: &str) -> Arc<Caller> {
    caller(name, Role::Worker)
}

/// A hub with a link to a service, which is up.
pub(crate) async fn linked(on: On, service: &Arc<Service>) -> TestHub {
    let hub = TestHub::with_connectors(on, generous(), service.kinds());
    let input = json!({ "service": "scripted", "settings": { "token": "t-t-t-t-t" } });
    hub.ok(&operator(), "add_link", input).await;
    until_up(&hub).await;
    hub
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
    for _ in 0..15_000 {
        if is_so().await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    panic!("it never came to this: {what}");
}

/// Lets time go by, second after second, until something is so; answers how many seconds that took.
pub(crate) async fn pass(hub: &TestHub, what: &str, mut is_so: impl AsyncFnMut() -> bool) -> i64 {
    for seconds in 0..2_000 {
        hub.hub.live.announce_outbox();
        for _ in 0..10 {
            if is_so().await {
                return seconds;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        hub.clock.advance_ms(1_000);
    }
    panic!("it never came to this: {what}");
}

/// What was waited for came no sooner than it should, nor much later. On a busy machine the clock of a test
/// may run on before the hub has looked at it.
#[track_caller]
pub(crate) fn assert_after(seconds: i64, right: i64, why: &str) {
    assert!((right..right + 10).contains(&seconds), "after {seconds} s, not {right}: {why}");
}

/// An action at a place, on its way.
pub(crate) async fn queue(hub: &TestHub, place: &str, text: &str) -> OutboxId {
    queue_with(hub, place, text, None, None).await.unwrap()
}

/// The same, allowed by a proposal or taking the place of something.
pub(crate) async fn queue_with(
    hub: &TestHub,
    place: &str,
    text: &str,
    proposal: Option<i64>,
    replaces: Option<Replaces>,
) -> waystation_hub::Result<OutboxId> {
    let now = hub.hub.now();
    let id = OutboxId(hub.hub.new_uid(now));
    let mut action = Action {
        link: "scripted".to_owned(),
        place: place.to_owned(),
        text: text.to_owned(),
        ..Action::default()
    };
    action.address.insert("issue".to_owned(), place.into());
    let queued = hub.hub.store.write(move |tx| {
        let link = tx.link(WORKSPACE, "scripted")?.unwrap();
        enqueue(
            tx,
            &NewOutbox {
                id,
                workspace: WORKSPACE,
                link_row: link.row,
                destination: &destination(&action),
                action: &action,
                thread_row: None,
                task: None,
                agent: "triager",
                proposal,
                buttons: None,
                replaces: replaces.as_ref(),
                at: now,
            },
        )
    });
    let queued = queued.await;
    hub.hub.live.announce_outbox();
    queued
}

/// How an action stands.
pub(crate) async fn action(hub: &TestHub, id: OutboxId) -> Value {
    let input = json!({ "outbox_id": id });
    hub.ok(&operator(), "list_outbox", input).await["actions"][0].clone()
}

/// Whether an action has come so far.
pub(crate) async fn is(hub: &TestHub, id: OutboxId, state: &str) -> bool {
    action(hub, id).await["state"] == state
}

/// A thread in which a service has spoken, by its row and id.
pub(crate) async fn thread(hub: &TestHub) -> (i64, ThreadId) {
    let now = hub.hub.now();
    let id = ThreadId(hub.hub.new_uid(now));
    let row: waystation_hub::Result<i64> = hub
        .hub
        .store
        .write(move |tx| {
            Ok(tx.insert_thread(&NewThread {
                id,
                workspace: WORKSPACE,
                title: "acme/shop#12",
                thread_type: ThreadType::Conversation,
                created_by: "link:scripted",
                participants: &[],
                at: now,
            })?)
        })
        .await;
    (row.unwrap(), id)
}

/// Somebody at the service says something in a thread, and that is work.
pub(crate) async fn say(hub: &TestHub, thread_row: i64, queue: &str, text: &str) -> WorkId {
    let now = hub.hub.now();
    let (id, task) = (WorkId(hub.hub.new_uid(now)), TaskId(hub.hub.new_uid(now)));
    let (queue, text) = (queue.to_owned(), text.to_owned());
    let written: waystation_hub::Result<()> = hub
        .hub
        .store
        .write(move |tx| {
            let mut thread = tx.lock_thread_by_row(WORKSPACE, thread_row)?.unwrap();
            thread.head_seq += 1;
            tx.insert_message(&NewMessage {
                thread_row,
                seq: thread.head_seq,
                created: now,
                kind: MessageKind::Chat,
                trust: Trust::External,
                sender: "scripted:antti",
                session: "dlv",
                body: &text,
                metadata: Some(r#"{"relay":{"channel":"scripted","role":"user"}}"#),
                reply_to: None,
                idempotency: None,
                status_after: ThreadStatus::Active,
            })?;
            tx.update_thread(&thread)?;
            let (workspace, seq, at) = (WORKSPACE, thread.head_seq, now);
            tx.insert_work(&NewWork { workspace, queue: &queue, thread_row, seq, task, id, at })?;
            Ok(())
        })
        .await;
    written.unwrap();
    hub.hub.live.announce_work(WORKSPACE);
    id
}

/// What an agent pulls from the default queue without waiting.
pub(crate) async fn pull(hub: &TestHub, by: &Arc<Caller>, limit: u32) -> Vec<Value> {
    let input = json!({ "limit": limit, "wait_ms": 0 });
    hub.ok(by, "pull_work", input).await["items"].as_array().unwrap().clone()
}

/// The input that completes a pulled item with a reply.
pub(crate) fn completion(item: &Value, content: &str) -> Value {
    let replies = json!([{ "content": content }]);
    json!({ "work_id": item["work_id"], "fence": item["fence"], "replies": replies })
}
