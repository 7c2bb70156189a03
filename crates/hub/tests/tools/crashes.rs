//! A hub that dies loses no call, and runs none twice for the thread to see.

use protocol::relay::ToolCallState;
use serde_json::json;
use testkit::On;
use waystation_hub::Error;

use crate::on_both;
use crate::service::{Next, Service};
use crate::world::{World, args};

async fn a_hub_that_stops_in_the_middle_of_a_call_runs_it_again(on: On) {
    let service = Service::that_answers([Next::Hang]);
    let World { hub, service, thread, task } = World::new(on, service).await;
    let world = World { hub, service, thread, task };
    let id = world.ask("SummarizeIssue", args()).await;
    world.until(id, "running").await;
    let World { hub, service, thread, task } = world;
    let world = World { hub: hub.restart().await, service, thread, task };
    let call = world.until(id, "done").await;
    assert_eq!(call["attempts"], 2);
    assert_eq!((world.answers().await.len(), world.service.asked()), (1, 2));
    world.hub.stop().await;
}

async fn a_call_whose_runner_is_gone_is_run_when_its_lease_ends(on: On) {
    let service = Service::that_answers([Next::Hang]);
    let world = World::new(on, service).await;
    let id = world.ask("SummarizeIssue", args()).await;
    world.until(id, "running").await;
    // As if another hub had it, which says nothing any more; what this one comes to is too late.
    let write = world.hub.hub.store.write(move |tx| {
        let mut call = tx.lock_tool_call(id)?.unwrap();
        call.holder = Some("tools_of_another_hub".to_owned());
        Ok::<_, Error>(tx.update_tool_call(&call)?)
    });
    write.await.unwrap();
    let call = world.until(id, "done").await;
    assert_eq!(call["attempts"], 2);
    assert_eq!(world.answers().await.len(), 1);
    world.hub.stop().await;
}

async fn an_operation_that_was_done_is_not_done_again(on: On) {
    let world = World::new(on, Service::that_answers([])).await;
    let input = json!({ "thread_id": world.thread, "body": "once" });
    let id = world.ask("post_message", input).await;
    world.until(id, "done").await;
    // As if the hub had died between the operation and its answer.
    let write = world.hub.hub.store.write(move |tx| {
        let mut call = tx.lock_tool_call(id)?.unwrap();
        call.state = ToolCallState::Waiting;
        Ok::<_, Error>(tx.update_tool_call(&call)?)
    });
    write.await.unwrap();
    world.hub.hub.tools.ring();
    world.until(id, "done").await;
    let said = world.envelopes().await;
    assert_eq!(said.iter().filter(|envelope| envelope.content == "once").count(), 1);
    world.hub.stop().await;
}

on_both! {
    a_hub_that_stops_in_the_middle_of_a_call_runs_it_again
    a_call_whose_runner_is_gone_is_run_when_its_lease_ends
    an_operation_that_was_done_is_not_done_again
}
