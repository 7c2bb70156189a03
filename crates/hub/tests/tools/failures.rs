//! A failure is said, and takes the ways that the operator listed, each of them visible.

use std::time::Duration;

use protocol::relay::WorkState;
use serde_json::json;
use testkit::On;

use crate::on_both;
use crate::service::{Next, Service, away, refusal};
use crate::world::{World, args, error_code, with_ways};

const LONG: Duration = Duration::from_mins(1);

async fn a_passing_failure_is_tried_again(on: On) {
    let world = World::new(on, Service::that_answers([away()])).await;
    let id = world.ask("SummarizeIssue", args()).await;
    let call = world.until(id, "done").await;
    assert_eq!((&call["attempts"], &call["hops"]), (&json!(2), &json!(1)));
    assert_eq!(world.hops().await, [(1, "retry".to_owned())]);
    assert_eq!(world.answers().await.len(), 1, "only the end is an answer");
    let metrics = world.hub.hub.metrics_text();
    for line in [
        "waystation_tool_runs_total{tool=\"SummarizeIssue\",outcome=\"ok\"} 1",
        "waystation_tool_runs_total{tool=\"SummarizeIssue\",outcome=\"UNAVAILABLE\"} 1",
        "waystation_tool_fallbacks_total{tool=\"SummarizeIssue\",way=\"retry\"} 1",
        "waystation_tool_seconds_count{tool=\"SummarizeIssue\"} 2",
    ] {
        assert!(metrics.contains(line), "{line} is missing in\n{metrics}");
    }
    world.hub.stop().await;
}

async fn a_human_is_asked_when_nothing_else_helps(on: On) {
    let world = World::new(on, Service::that_answers([refusal()])).await;
    let id = world.ask("SummarizeIssue", args()).await;
    let call = world.until(id, "human").await;
    assert_eq!(error_code(&call), "SOURCE_NOT_CONNECTED");
    // Trying again could not have helped.
    assert_eq!(world.hops().await, [(1, "human".to_owned())]);
    assert_eq!(world.service.asked(), 1);
    let work = world.work().await;
    assert_eq!((work.len(), work[0].state), (1, WorkState::Parked));
    assert!(work[0].reason.as_deref().unwrap().contains("a human has to help"));
    let input = json!({ "thread_id": world.thread });
    let thread = world.hub.ok(&crate::world::ada(), "get_thread", input).await;
    assert_eq!(thread["status"], "blocked");
    let answers = world.answers().await;
    assert_eq!(answers.len(), 1, "the asker is told as well");
    assert_eq!(answers[0].meta["cause"], "tool_failed");
    world.hub.stop().await;
}

async fn an_agent_is_asked_once_for_each_task(on: On) {
    let settings = with_ways(LONG, &["agent:helper", "human"]);
    let service = Service::that_answers([refusal(), refusal()]);
    let world = World::with(on, service, settings).await;
    let first = world.ask("SummarizeIssue", args()).await;
    world.until(first, "failed").await;
    let work = world.work().await;
    assert_eq!((work.len(), work[0].queue.as_str()), (1, "helper"));
    assert_eq!((work[0].state, work[0].task), (WorkState::Ready, world.task));
    let second = world.ask("SummarizeIssue", args()).await;
    world.until(second, "human").await;
    let ways: Vec<String> = world.hops().await.into_iter().map(|(_, way)| way).collect();
    assert_eq!(ways, ["agent:helper", "human"]);
    world.hub.stop().await;
}

on_both! {
    a_passing_failure_is_tried_again
    a_human_is_asked_when_nothing_else_helps
    an_agent_is_asked_once_for_each_task
}

#[tokio::test]
async fn another_tool_answers_instead_with_what_it_knows_of_the_arguments() {
    let settings = with_ways(LONG, &["retry", "tool:get_thread"]);
    let service = Service::that_answers([away(), away()]);
    let world = World::with(On::Sqlite, service, settings).await;
    let mut both = args();
    both["thread_id"] = json!(world.thread);
    let id = world.ask("SummarizeIssue", both).await;
    let call = world.until(id, "done").await;
    assert_eq!(call["result"]["thread_id"], json!(world.thread));
    let expected = [(1, "retry".to_owned()), (2, "tool:get_thread".to_owned())];
    assert_eq!(world.hops().await, expected);
}

#[tokio::test]
async fn a_call_takes_three_ways_at_most() {
    let settings = with_ways(LONG, &["retry", "retry", "retry", "human"]);
    let service = Service::that_answers((0..9).map(|_| away()));
    let world = World::with(On::Sqlite, service, settings).await;
    let id = world.ask("SummarizeIssue", args()).await;
    let call = world.until(id, "failed").await;
    assert_eq!((&call["attempts"], &call["hops"]), (&json!(4), &json!(3)));
    assert_eq!(world.hops().await.len(), 3);
    assert_eq!(world.service.asked(), 4);
}

#[tokio::test]
async fn a_tool_that_takes_too_long_has_failed() {
    let settings = with_ways(Duration::from_millis(20), &["retry", "human"]);
    let service = Service::that_answers([Next::Hang, Next::Hang]);
    let world = World::with(On::Sqlite, service, settings).await;
    let id = world.ask("SummarizeIssue", args()).await;
    let call = world.until(id, "human").await;
    assert_eq!(error_code(&call), "TIMEOUT");
    assert_eq!(world.hops().await, [(1, "retry".to_owned()), (2, "human".to_owned())]);
}

#[tokio::test]
async fn what_the_asker_got_wrong_goes_back_to_it_and_nowhere_else() {
    let world = World::new(On::Sqlite, Service::that_answers([])).await;
    for (tool, input, code) in [
        ("SummariseIssue", args(), "UNKNOWN_TOOL"),
        ("SummarizeIssue", json!({}), "VALIDATION_ERROR"),
        ("SummarizeIssue", json!({ "issue_url": "file:///etc/passwd" }), "VALIDATION_ERROR"),
        ("post_message", json!({ "thread_id": world.thread }), "VALIDATION_ERROR"),
    ] {
        let id = world.ask(tool, input).await;
        assert_eq!(error_code(&world.until(id, "failed").await), code, "{tool}");
    }
    let nearest = &world.answers().await[0].content;
    assert!(nearest.contains("did you mean SummarizeIssue?"), "{nearest}");
    assert!(world.hops().await.is_empty() && world.work().await.is_empty());
    let nobody = json!({ "issue_url": "https://elsewhere.example/1" });
    let id = world.ask("SummarizeIssue", nobody).await;
    assert_eq!(error_code(&world.until(id, "human").await), "NOT_FOUND");
}
