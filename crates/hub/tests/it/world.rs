//! What the stories share: a thread with two agents in it, and refusals as clients see them.

use std::sync::Arc;

use protocol::{Caller, ErrorBody, Role};
use serde_json::{Value, json};
use testkit::{TestHub, caller};

/// An agent of the workspace.
pub(crate) fn worker(agent: &str) -> Arc<Caller> {
    caller(agent, Role::Worker)
}

/// The person in charge.
pub(crate) fn operator() -> Arc<Caller> {
    caller("human", Role::Operator)
}

/// An agent that steers others.
pub(crate) fn coordinator() -> Arc<Caller> {
    caller("coordinator", Role::Orchestrator)
}

/// A thread of the coordinator's in which `author` and `reviewer` take part.
pub(crate) async fn open(hub: &TestHub) -> String {
    open_with(hub, &["author", "reviewer"]).await
}

/// A thread of the coordinator's in which these take part.
pub(crate) async fn open_with(hub: &TestHub, participants: &[&str]) -> String {
    let input = json!({ "title": "A thread", "participants": participants });
    let thread = hub.ok(&coordinator(), "create_thread", input).await;
    thread["thread_id"].as_str().unwrap().to_owned()
}

/// Posts a text.
pub(crate) async fn post(hub: &TestHub, by: &Arc<Caller>, thread: &str, body: &str) -> Value {
    hub.ok(by, "post_message", json!({ "thread_id": thread, "body": body })).await
}

/// Posts a typed event.
pub(crate) async fn event(hub: &TestHub, by: &Arc<Caller>, thread: &str, name: &str) -> Value {
    hub.ok(by, "post_message", event_input(thread, name)).await
}

/// The input of a typed event.
pub(crate) fn event_input(thread: &str, name: &str) -> Value {
    let metadata = json!({ "event_type": name });
    json!({ "thread_id": thread, "kind": "event", "body": name, "metadata": metadata })
}

/// Every message of a thread, read by the coordinator.
pub(crate) async fn messages(hub: &TestHub, thread: &str) -> Vec<Value> {
    let input = json!({ "thread_id": thread, "since_seq": 0, "limit": 200 });
    let page = hub.ok(&coordinator(), "read_messages", input).await;
    page["messages"].as_array().unwrap().clone()
}

/// The error of a call that must fail, as every edge prints it.
pub(crate) async fn refusal(
    hub: &TestHub,
    by: &Arc<Caller>,
    operation: &str,
    input: Value,
) -> ErrorBody {
    match hub.call(by, operation, input.clone()).await {
        Ok(answer) => panic!("{operation} took {input} and answered {answer}"),
        Err(error) => error.body("req".to_owned()),
    }
}

/// Asserts that each input is refused as a validation error that names its field.
pub(crate) async fn assert_invalid(
    hub: &TestHub,
    by: &Arc<Caller>,
    operation: &str,
    cases: &[(&str, Value)],
) {
    for (field, input) in cases {
        let error = refusal(hub, by, operation, input.clone()).await;
        let shown: String = input.to_string().chars().take(200).collect();
        assert_eq!(error.code.name(), "VALIDATION_ERROR", "{operation} {shown}");
        assert_eq!(error.field.as_deref(), Some(*field), "{operation} {shown}");
        assert!(error.message.contains(field), "{}", error.message);
    }
}
