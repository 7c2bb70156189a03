//! Work that was given up or parked is given out again, by an operator's word.

use protocol::limits::relay::WORK_ATTEMPTS_MAX;
use protocol::relay::{Action, ProposalState};
use protocol::{ProposalId, WorkId};
use serde_json::{Value, json};
use store::ProposalRow;
use testkit::{On, TestHub};

use crate::on_both;
use crate::service::Service;
use crate::world::{WORKSPACE, agent, completion, linked, operator, pull, say, thread};

on_both! {
    what_was_given_up_is_tried_anew_and_its_old_holder_cannot_finish_it
    a_thread_keeps_its_order_when_its_work_comes_back
}

/// Pulls work and gives it back until it is given up; answers it as it was last given out.
pub(crate) async fn wear_out(hub: &TestHub) -> Value {
    let worker = agent("worker");
    let mut last = Value::Null;
    for _ in 0..WORK_ATTEMPTS_MAX {
        last = pull(hub, &worker, 1).await.remove(0);
        let reason = json!({
            "work_id": last["work_id"], "fence": last["fence"], "reason": "too hard",
        });
        hub.ok(&worker, "release_work", reason).await;
    }
    last
}

async fn state(hub: &TestHub, id: &Value) -> Value {
    let listed = hub.ok(&operator(), "list_work", json!({ "work_id": id })).await;
    listed["work"][0].clone()
}

async fn requeue(hub: &TestHub, id: &Value) -> Value {
    hub.ok(&operator(), "requeue_work", json!({ "work_id": id })).await
}

async fn what_was_given_up_is_tried_anew_and_its_old_holder_cannot_finish_it(on: On) {
    let service = Service::new();
    let hub = linked(on, &service).await;
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "help").await;
    let old = wear_out(&hub).await;
    let id = &old["work_id"];
    let dead = state(&hub, id).await;
    assert_eq!((&dead["state"], &dead["attempts"]), (&"dead".into(), &WORK_ATTEMPTS_MAX.into()));
    assert!(pull(&hub, &agent("worker"), 1).await.is_empty());
    let ready = requeue(&hub, id).await;
    assert_eq!((&ready["state"], &ready["attempts"]), (&"ready".into(), &0.into()));
    assert!(ready["reason"].as_str().unwrap().contains("too hard"), "{ready}");
    assert!(ready.get("ended_at").is_none(), "{ready}");
    let worker = agent("worker");
    assert_eq!(
        hub.code(&worker, "complete_work", completion(&old, "late")).await,
        "CONFLICT",
        "nobody has it"
    );
    let new = pull(&hub, &worker, 1).await.remove(0);
    assert_eq!((&new["work_id"], &new["attempt"]), (id, &1.into()));
    assert!(new["fence"].as_i64() > old["fence"].as_i64(), "fences never fall");
    assert_eq!(
        hub.code(&worker, "complete_work", completion(&old, "late")).await,
        "CONFLICT",
        "the same agent with the fence of before"
    );
    hub.ok(&worker, "complete_work", completion(&new, "done")).await;
    assert_eq!(hub.code(&operator(), "requeue_work", json!({ "work_id": id })).await, "CONFLICT");
    let trail = hub.ok(&operator(), "read_audit", json!({ "after": 0 })).await;
    let entries = trail["entries"].as_array().unwrap().iter();
    let requeued: Vec<_> = entries
        .filter(|entry| entry["operation"] == "requeue_work" && entry["outcome"] == "ok")
        .collect();
    assert_eq!((requeued.len(), &requeued[0]["object"]), (1, id), "{trail}");
    hub.stop().await;
}

async fn a_thread_keeps_its_order_when_its_work_comes_back(on: On) {
    let service = Service::new();
    let hub = linked(on, &service).await;
    let (row, _) = thread(&hub).await;
    let first = json!(say(&hub, row, "default", "first").await);
    wear_out(&hub).await;
    say(&hub, row, "default", "second").await;
    let third = json!(say(&hub, row, "default", "third").await);
    let worker = agent("worker");
    let second = pull(&hub, &worker, 16).await.remove(0);
    assert_eq!(requeue(&hub, &first).await["state"], "behind", "its thread has begun the second");
    assert_eq!(requeue(&hub, &first).await["state"], "behind", "asking twice changes nothing");
    assert!(pull(&hub, &worker, 16).await.is_empty());
    hub.ok(&worker, "complete_work", completion(&second, "done")).await;
    let next = pull(&hub, &worker, 16).await;
    assert_eq!((next.len(), &next[0]["work_id"]), (1, &first), "before what came later");
    hub.ok(&worker, "complete_work", completion(&next[0], "done")).await;
    assert_eq!(pull(&hub, &worker, 16).await[0]["work_id"], third);
    hub.stop().await;
}

#[tokio::test]
async fn parked_and_put_off_work_is_given_out_and_can_move_to_another_queue() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    let (row, _) = thread(&hub).await;
    let id = json!(say(&hub, row, "default", "help").await);
    let worker = agent("worker");
    let item = pull(&hub, &worker, 1).await.remove(0);
    assert_eq!(requeue(&hub, &id).await["state"], "leased", "whoever has it keeps it");
    let park = json!({ "work_id": id, "fence": item["fence"], "park": true });
    hub.ok(&worker, "complete_work", park).await;
    assert_eq!(requeue(&hub, &id).await["state"], "ready");
    let item = pull(&hub, &worker, 1).await.remove(0);
    let later = json!({
        "work_id": id, "fence": item["fence"], "reason": "later", "delay_ms": 3_600_000,
    });
    hub.ok(&worker, "release_work", later).await;
    assert!(pull(&hub, &worker, 1).await.is_empty());
    requeue(&hub, &id).await;
    let item = pull(&hub, &worker, 1).await.remove(0);
    assert_eq!(item["attempt"], 2, "what only waited keeps its count");
    let back = json!({ "work_id": id, "fence": item["fence"], "reason": "not mine" });
    hub.ok(&worker, "release_work", back).await;
    let moved = json!({ "work_id": id, "queue": "experts" });
    assert_eq!(hub.ok(&operator(), "requeue_work", moved).await["queue"], "experts");
    assert!(pull(&hub, &worker, 1).await.is_empty());
    let pulled = json!({ "queue": "experts", "wait_ms": 0 });
    assert_eq!(hub.ok(&worker, "pull_work", pulled).await["items"][0]["work_id"], id);
    let one = json!({ "work_id": id });
    assert_eq!(hub.code(&worker, "requeue_work", one).await, "FORBIDDEN");
    let stranger = testkit::caller_in("wk_other", "boss", protocol::Role::Operator);
    assert_eq!(hub.code(&stranger, "requeue_work", json!({ "work_id": id })).await, "NOT_FOUND");
    assert_eq!(hub.code(&stranger, "list_work", json!({ "work_id": id })).await, "NOT_FOUND");
    hub.stop().await;
}

/// A proposal that came from some work and waits for a human.
async fn propose(hub: &TestHub, work: WorkId) -> ProposalRow {
    let (now, id) = (hub.hub.now(), ProposalId(hub.hub.new_uid(hub.hub.now())));
    let written: waystation_hub::Result<ProposalRow> = hub
        .hub
        .store
        .write(move |tx| {
            let work = tx.work(work)?.unwrap();
            tx.insert_proposal(&ProposalRow {
                row: 0,
                id,
                workspace: WORKSPACE.to_owned(),
                thread_row: work.thread_row,
                thread_id: work.thread_id,
                task: work.task,
                work: Some(work.row),
                agent: "worker".to_owned(),
                state: ProposalState::Waiting,
                version: 1,
                action: "{}".to_owned(),
                action_hash: Action::default().hash().0.to_vec(),
                why: String::new(),
                created: now,
                expires: now,
                remind: None,
                reminders: 0,
                asked_at: None,
                decided_by: None,
                decided_via: None,
                decided: None,
                comment: None,
            })?;
            Ok(tx.proposal(id)?.unwrap())
        })
        .await;
    written.unwrap()
}

#[tokio::test]
async fn work_that_waits_for_a_decision_goes_on_by_that_decision() {
    let service = Service::new();
    let hub = linked(On::Sqlite, &service).await;
    let (row, _) = thread(&hub).await;
    let id = say(&hub, row, "default", "help").await;
    let item = pull(&hub, &agent("worker"), 1).await.remove(0);
    let park = json!({ "work_id": id, "fence": item["fence"], "park": true });
    hub.ok(&agent("worker"), "complete_work", park).await;
    let mut proposal = propose(&hub, id).await;
    let refused = hub.call(&operator(), "requeue_work", json!({ "work_id": id })).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains(&proposal.id.to_string()), "{refused}");
    proposal.state = ProposalState::Withdrawn;
    let withdrawn = hub.hub.store.write(move |tx| tx.update_proposal(&proposal)).await;
    withdrawn.unwrap();
    assert_eq!(requeue(&hub, &json!(id)).await["state"], "ready");
    hub.stop().await;
}
