//! Calls of tools: once for each key, leases that lapse, and calls below calls; and session layers.

use protocol::relay::ToolCallState;
use protocol::{TaskId, ThreadId, ToolCallId};
use waystation_store::{SessionLayerRow, ToolCallRow};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

fn row(thread_row: i64, seq: i64, key: &str) -> ToolCallRow {
    ToolCallRow {
        row: 0,
        id: ToolCallId::new(at(seq), unique()),
        workspace: WORKSPACE.to_owned(),
        thread_row,
        thread_id: ThreadId::new(at(0), [0; 10]),
        seq,
        answer_seq: None,
        key: key.to_owned(),
        task: TaskId::new(at(0), [1; 10]),
        parent_row: None,
        parent_id: None,
        depth: 1,
        caller: "{}".to_owned(),
        name: "SummarizeIssue".to_owned(),
        args: "{}".to_owned(),
        tool: "SummarizeIssue".to_owned(),
        way: None,
        next_way: 0,
        state: ToolCallState::Waiting,
        attempts: 0,
        hops: 0,
        due: at(seq),
        holder: None,
        lease: None,
        result: None,
        created: at(seq),
        ended: None,
    }
}

async fn insert(place: &Place, row: ToolCallRow) -> bool {
    place.write(move |tx| tx.insert_tool_call(&row)).await
}

/// Takes what may be run.
async fn take(place: &Place, holder: &'static str, ms: i64) -> Vec<ToolCallId> {
    place
        .write(move |tx| {
            let mut calls = tx.lock_runnable_tool_calls(at(ms), 10)?;
            for call in &mut calls {
                call.state = ToolCallState::Running;
                call.attempts += 1;
                call.holder = Some(holder.to_owned());
                call.lease = Some(at(ms + 1_000));
                tx.update_tool_call(call)?;
            }
            Ok(calls.into_iter().map(|call| call.id).collect())
        })
        .await
}

async fn a_thread_has_one_call_for_each_key(place: Place) {
    let thread = place.thread().await;
    let first = row(thread, 1, "id:a");
    assert!(insert(&place, first.clone()).await);
    assert!(!insert(&place, row(thread, 2, "id:a")).await);
    assert!(insert(&place, row(place.thread().await, 2, "id:a")).await, "another thread");
    let id = first.id;
    let found = place.write(move |tx| tx.tool_call_by_key(thread, "id:a")).await.unwrap();
    let at_place = place.write(move |tx| tx.tool_call_at(thread, 1)).await.unwrap();
    let by_id = place.write(move |tx| tx.tool_call(id)).await.unwrap();
    assert!(found == at_place && found == by_id && found.id == id);
    assert_eq!(place.write(move |tx| tx.tool_call_by_key(thread, "a\0")).await, None);
    place.close().await;
}

async fn a_call_is_run_when_it_is_due_and_again_when_its_runner_is_gone(place: Place) {
    let thread = place.thread().await;
    let (soon, later) = (row(thread, 1, "id:a"), row(thread, 500, "id:b"));
    let (first, second) = (soon.id, later.id);
    insert(&place, soon).await;
    insert(&place, later).await;
    assert!(!place.write(|tx| tx.has_runnable_tool_calls(at(0))).await);
    assert!(place.write(|tx| tx.has_runnable_tool_calls(at(1))).await);
    assert_eq!(take(&place, "one", 10).await, [first]);
    assert!(take(&place, "two", 20).await.is_empty());
    // It says that it still runs, and then says no more.
    assert_eq!(place.write(|tx| tx.extend_tool_leases("one", at(1_500))).await, 1);
    assert_eq!(take(&place, "two", 1_100).await, [second]);
    assert_eq!(take(&place, "two", 1_500).await, [first]);
    let call = place.write(move |tx| tx.tool_call(first)).await.unwrap();
    assert_eq!((call.attempts, call.holder.as_deref()), (2, Some("two")));
    // A process that begins anew takes all of them back.
    assert_eq!(place.write(|tx| tx.lapse_tool_leases(at(1_600))).await, 2);
    assert_eq!(take(&place, "three", 1_600).await.len(), 2);
    place.close().await;
}

async fn open_calls_below_a_call_are_found(place: Place) {
    let thread = place.thread().await;
    insert(&place, row(thread, 1, "id:a")).await;
    let parent = place.write(move |tx| tx.tool_call_by_key(thread, "id:a")).await.unwrap();
    let child = ToolCallRow { parent_row: Some(parent.row), depth: 2, ..row(thread, 2, "id:b") };
    insert(&place, child).await;
    let below = place.write(move |tx| tx.lock_open_calls_below(parent.row, 10)).await;
    assert_eq!((below.len(), below[0].parent_id), (1, Some(parent.id)));
    let mut ended = below[0].clone();
    (ended.state, ended.way) = (ToolCallState::Failed, Some("agent:b".to_owned()));
    ended.result = Some("{}".to_owned());
    let (written, task) = (ended.clone(), ended.task);
    place.write(move |tx| tx.update_tool_call(&written)).await;
    assert_eq!(place.write(move |tx| tx.tool_call(ended.id)).await, Some(ended.clone()));
    assert!(place.write(move |tx| tx.lock_open_calls_below(parent.row, 10)).await.is_empty());
    assert!(place.write(move |tx| tx.has_task_gone(thread, task, "agent:b")).await);
    assert!(!place.write(move |tx| tx.has_task_gone(thread, task, "agent:c")).await);
    place.close().await;
}

async fn a_session_layer_only_goes_forward(place: Place) {
    let thread = place.thread().await;
    let layer = |through_seq, method: &str| SessionLayerRow {
        from_seq: 1,
        through_seq,
        summary: format!("{through_seq} {method}"),
        method: method.to_owned(),
        updated: at(through_seq),
        turns: "ab".to_owned(),
    };
    for (layer, is_kept) in [
        (layer(5, "quoted"), true),
        (layer(4, "quoted"), false),
        (layer(4, "model:m"), false),
        (layer(5, "model:m"), true),
        (layer(5, "quoted"), false),
        (layer(5, "model:n"), true),
        (layer(6, "quoted"), true),
    ] {
        let given = layer.clone();
        place.write(move |tx| tx.set_session_layer(thread, &layer)).await;
        let kept = place.write(move |tx| tx.session_layer(thread)).await.unwrap();
        assert_eq!(kept == given, is_kept, "{given:?}");
    }
    assert_eq!(place.write(|tx| tx.forget_session_layers(at(6), 10)).await, 0);
    assert_eq!(place.write(|tx| tx.forget_session_layers(at(7), 10)).await, 1);
    assert_eq!(place.write(move |tx| tx.session_layer(thread)).await, None);
    place.add_work(thread, 7).await;
    let task = TaskId::new(at(0), [1; 10]);
    assert_eq!(place.write(move |tx| tx.open_task_at(thread, 7)).await, Some(task));
    assert_eq!(place.write(move |tx| tx.open_task_at(thread, 8)).await, None);
    assert!(place.write(move |tx| tx.is_task_open(thread, task)).await);
    place.close().await;
}

on_both! {
    a_thread_has_one_call_for_each_key
    a_call_is_run_when_it_is_due_and_again_when_its_runner_is_gone
    open_calls_below_a_call_are_found
    a_session_layer_only_goes_forward
}
