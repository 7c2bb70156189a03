//! Completing work: all of it together, once, and citing what it leans on.

use protocol::limits::relay as limits;
use serde_json::{Value, json};
use testkit::TestHub;

use crate::world::{agent, completion, pull, say, thread};

/// What was said in a thread.
async fn said(hub: &TestHub, id: impl serde::Serialize) -> Vec<String> {
    let input = json!({ "thread_id": id, "since_seq": 0, "limit": 200 });
    let page = hub.ok(&crate::world::operator(), "read_messages", input).await;
    let body = |message: &Value| message["body"].as_str().unwrap().to_owned();
    page["messages"].as_array().unwrap().iter().map(body).collect()
}

#[tokio::test]
async fn a_completion_is_answered_the_same_however_often_it_is_said() {
    let hub = TestHub::start();
    let (row, id) = thread(&hub).await;
    say(&hub, row, "default", "question").await;
    let worker = agent("a");
    let item = pull(&hub, &worker, 1).await.remove(0);
    let input = completion(&item, "answer");
    let first = hub.ok(&worker, "complete_work", input.clone()).await;
    assert_eq!(first["state"], "done");
    assert_eq!(first["replies"][0]["seq"], 2);
    hub.clock.advance_ms(limits::WORK_LEASE_MS_DEFAULT * 10);
    assert_eq!(hub.ok(&worker, "complete_work", input.clone()).await, first);
    assert_eq!(said(&hub, id).await, ["question", "answer"]);
    let other = completion(&item, "another answer");
    let Err(error) = hub.call(&worker, "complete_work", other).await else {
        panic!("it was taken")
    };
    assert_eq!(error.code().name(), "CONFLICT");
    assert!(error.to_string().contains("completed with other content"), "{error}");
    assert_eq!(hub.code(&agent("b"), "complete_work", input).await, "CONFLICT");
    assert_eq!(said(&hub, id).await, ["question", "answer"]);
    let read = hub.ok(&worker, "read_messages", json!({ "thread_id": id, "since_seq": 1 })).await;
    let relay = &read["messages"][0]["metadata"]["relay"];
    assert_eq!((&relay["role"], &relay["channel"]), (&"assistant".into(), &"internal".into()));
    assert_eq!(relay["meta"]["task_id"], item["task_id"]);
    assert!(read["messages"][0]["in_reply_to"].is_string());
    hub.stop().await;
}

#[tokio::test]
async fn a_completion_that_is_refused_leaves_nothing_behind() {
    let hub = TestHub::start();
    let (row, id) = thread(&hub).await;
    say(&hub, row, "default", "question").await;
    let worker = agent("a");
    let item = pull(&hub, &worker, 1).await.remove(0);
    let mut input = completion(&item, "answer");
    // This thread did not begin at a service, so there is nowhere to send this.
    input["actions"] = json!([{ "text": "a comment" }]);
    assert_eq!(hub.code(&worker, "complete_work", input).await, "VALIDATION_ERROR");
    assert_eq!(said(&hub, id).await, ["question"], "the reply is not there either");
    let listed = hub.ok(&worker, "list_work", json!({})).await;
    assert_eq!(listed["work"][0]["state"], "leased", "and the work goes on");
    hub.ok(&worker, "complete_work", completion(&item, "answer")).await;
    assert_eq!(said(&hub, id).await, ["question", "answer"]);
    hub.stop().await;
}

#[tokio::test]
async fn parked_work_keeps_nobody_waiting() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "first").await;
    say(&hub, row, "default", "second").await;
    let worker = agent("a");
    let item = pull(&hub, &worker, 1).await.remove(0);
    let mut input = completion(&item, "waiting for Antti");
    input["park"] = true.into();
    let parked = hub.ok(&worker, "complete_work", input.clone()).await;
    assert_eq!(parked["state"], "parked");
    assert_eq!(hub.ok(&worker, "complete_work", input).await, parked);
    let next = pull(&hub, &worker, 1).await;
    assert_eq!(next[0]["envelope"]["content"], "second");
    let listed = hub.ok(&worker, "list_work", json!({ "state": "parked" })).await;
    assert_eq!(listed["work"][0]["work_id"], item["work_id"]);
    hub.stop().await;
}

#[tokio::test]
async fn a_text_that_does_not_cite_its_documents_is_sent_back() {
    let hub = TestHub::start();
    let (row, _) = thread(&hub).await;
    say(&hub, row, "default", "question").await;
    let worker = agent("a");
    let item = pull(&hub, &worker, 1).await.remove(0);
    for field in ["replies", "actions"] {
        let text = if field == "replies" { "content" } else { "text" };
        let mut input = json!({ "work_id": item["work_id"], "fence": item["fence"] });
        input[field] = json!([{
            text: "As [[ref:ref_a]] says.", "retrieval_refs": ["ref_a", "ref_b", "ref_c"],
        }]);
        let Err(error) = hub.call(&worker, "complete_work", input).await else {
            panic!("{field} was taken")
        };
        let body = error.body("req".to_owned());
        assert_eq!(body.code.name(), "VALIDATION_ERROR");
        assert_eq!(body.field, Some(format!("{field}[0].{text}")));
        assert!(body.message.contains("does not cite ref_b, ref_c"), "{}", body.message);
        assert!(body.hint.unwrap().contains("[[ref:ref_b]] [[ref:ref_c]]"));
    }
    let mut input = completion(&item, "As [[ref:ref_a]] says.");
    input["replies"][0]["retrieval_refs"] = json!(["ref_a"]);
    hub.ok(&worker, "complete_work", input).await;
    hub.stop().await;
}

#[tokio::test]
async fn a_closed_thread_takes_no_reply_but_its_work_can_end() {
    let hub = TestHub::start();
    let (row, id) = thread(&hub).await;
    say(&hub, row, "default", "question").await;
    let worker = agent("a");
    let item = pull(&hub, &worker, 1).await.remove(0);
    let close = json!({ "thread_id": id, "status": "closed", "reason": "enough" });
    hub.ok(&crate::world::operator(), "update_thread_status", close).await;
    assert_eq!(hub.code(&worker, "complete_work", completion(&item, "late")).await, "CONFLICT");
    let input = json!({ "work_id": item["work_id"], "fence": item["fence"] });
    assert_eq!(hub.ok(&worker, "complete_work", input).await["state"], "done");
    hub.stop().await;
}
