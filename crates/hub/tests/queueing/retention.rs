//! What is over is forgotten after its time; what is open, the log and the audit trail are not.

use protocol::OutboxId;
use serde_json::{Value, json};
use testkit::{On, TestHub};

use crate::again::wear_out;
use crate::on_both;
use crate::service::{Reaction, Service};
use crate::world::{
    WORKSPACE, agent, completion, eventually, is, linked, operator, pass, pull, queue, say, thread,
    until_up,
};

on_both! {
    what_is_over_is_forgotten_in_its_time_and_nothing_else
    what_a_forgotten_action_posted_is_not_taken_for_the_next_one
}

const DAY_MS: i64 = 24 * 3_600_000;

async fn has_work(hub: &TestHub, id: &Value) -> bool {
    hub.call(&operator(), "list_work", json!({ "work_id": id })).await.is_ok()
}

async fn has_action(hub: &TestHub, id: OutboxId) -> bool {
    hub.call(&operator(), "list_outbox", json!({ "outbox_id": id })).await.is_ok()
}

/// How much was forgotten of something since the hub started.
fn forgotten(hub: &TestHub, what: &str) -> u64 {
    let series = format!("waystation_forgotten_total{{what=\"{what}\"}} ");
    let text = hub.hub.metrics_text();
    let line = text.lines().find_map(|line| line.strip_prefix(&series));
    line.map_or(0, |number| number.parse().unwrap())
}

async fn trail(hub: &TestHub) -> Vec<Value> {
    let entries = hub.ok(&operator(), "read_audit", json!({ "after": 0, "limit": 50 })).await;
    entries["entries"].as_array().unwrap().clone()
}

/// Lets days go by, in which the hub was started anew.
async fn days(hub: TestHub, days: i64) -> TestHub {
    hub.clock.advance_ms(days * DAY_MS);
    let hub = hub.restart().await;
    until_up(&hub).await;
    hub
}

async fn what_is_over_is_forgotten_in_its_time_and_nothing_else(on: On) {
    let service = Service::new();
    let hub = linked(on, &service).await;
    let worker = agent("worker");
    let (dead_row, _) = thread(&hub).await;
    let dead = json!(say(&hub, dead_row, "default", "too hard").await);
    wear_out(&hub).await;
    let (done_row, done_thread) = thread(&hub).await;
    let done = json!(say(&hub, done_row, "default", "help").await);
    let item = pull(&hub, &worker, 1).await.remove(0);
    hub.ok(&worker, "complete_work", completion(&item, "here you are")).await;
    let (open_row, _) = thread(&hub).await;
    let open = json!(say(&hub, open_row, "elsewhere", "nobody comes").await);
    service.reacts([Reaction::Take, Reaction::Refuse]);
    let sent = queue(&hub, "issue 1", "thanks").await;
    eventually("it is sent", async || is(&hub, sent, "sent").await).await;
    let refused = queue(&hub, "issue 2", "rude").await;
    eventually("it is given up", async || is(&hub, refused, "dead").await).await;
    let before = trail(&hub).await;

    let hub = days(hub, 29).await;
    let hub = days(hub, 2).await;
    eventually("what is done is gone", async || forgotten(&hub, "work") == 1).await;
    assert_eq!(forgotten(&hub, "outbox"), 1, "what leans on something goes first");
    assert!(!has_work(&hub, &done).await && !has_action(&hub, sent).await);
    assert!(has_work(&hub, &dead).await && has_action(&hub, refused).await);
    assert!(has_work(&hub, &open).await);
    let after = trail(&hub).await;
    assert_eq!(after[..before.len().min(50)], before[..], "the trail is what it was");
    let link = hub.hub.store.read(|tx| tx.link(WORKSPACE, "scripted")).await.unwrap().unwrap();
    let ours = hub.hub.store.read(move |tx| tx.is_posted(link.row, "comment:1")).await.unwrap();
    assert!(ours, "what we posted makes no work when it comes back");
    // Whoever names the task still finds its thread.
    let envelope = json!({
        "id": "late", "timestamp": "2026-02-17T12:00:00Z", "channel": "internal",
        "role": "assistant", "content": "one more thing", "meta": { "task_id": item["task_id"] },
    });
    let posted = hub.ok(&worker, "post_envelope", json!({ "envelope": envelope })).await;
    assert_eq!(posted["thread_id"], json!(done_thread));
    let envelopes = json!({ "thread_id": done_thread });
    let said = hub.ok(&operator(), "read_envelopes", envelopes).await;
    assert_eq!(said["envelopes"].as_array().unwrap().len(), 3, "the log keeps everything");
    // What was given up can still be tried again.
    hub.ok(&operator(), "requeue_work", json!({ "work_id": dead })).await;
    assert_eq!(wear_out(&hub).await["work_id"], dead);

    let hub = days(hub, 61).await;
    eventually("the refused action is gone", async || !has_action(&hub, refused).await).await;
    assert!(has_work(&hub, &dead).await, "its time began anew");
    let hub = days(hub, 30).await;
    eventually("it is gone", async || !has_work(&hub, &dead).await).await;
    assert!(has_work(&hub, &open).await, "what is open waits for ever");
    hub.stop().await;
}

/// What was posted is known for longer than the action that posted it.
async fn what_a_forgotten_action_posted_is_not_taken_for_the_next_one(on: On) {
    let service = Service::new();
    let hub = linked(on, &service).await;
    let first = queue(&hub, "issue 1", "first").await;
    eventually("it is sent", async || is(&hub, first, "sent").await).await;
    let hub = days(hub, 31).await;
    eventually("it is forgotten", async || !has_action(&hub, first).await).await;
    service.reacts([Reaction::Lose]);
    let second = queue(&hub, "issue 1", "second").await;
    pass(&hub, "it is sent", async || is(&hub, second, "sent").await).await;
    assert_eq!(service.texts(), ["first", "second"]);
    assert_eq!((service.posts(), service.looks()), (3, 4), "the service is asked");
    hub.stop().await;
}
