//! What is over is forgotten when it is old, and what somebody still needs stays.

use protocol::relay::{
    Action, ActionHash, OutboxState, ProposalState, ProposalStep, ToolCallState, WorkState,
};
use protocol::{OutboxId, ProposalId, TaskId, ThreadId, Timestamp, ToolCallId, WorkId};
use waystation_store::{
    ChatSendRow, Cutoffs, Kept, NewOutboxRow, ProposalRow, ProposalStepRow, SessionLayerRow,
    ToolCallRow,
};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

on_both! {
    what_is_over_goes_and_what_is_open_stays
    what_a_proposal_leans_on_stays_as_long_as_it_does
    an_action_stays_while_something_may_take_its_place
    a_call_is_known_again_while_its_thread_has_work
    a_walk_takes_a_few_rows_at_a_time_and_ends_at_what_is_young
    what_we_posted_is_known_for_longer_than_its_action
}

/// What ended more than 30 seconds ago goes, and what was given up more than 90 seconds ago.
fn cutoffs(now_ms: i64) -> Cutoffs {
    Cutoffs { finished: at(now_ms - 30_000), dead: at(now_ms - 90_000) }
}

/// Walks through everything that is old at a moment; answers how much was forgotten.
async fn forget(place: &Place, kept: Kept, now_ms: i64) -> u64 {
    let (mut after, mut forgotten) = (0, 0);
    while let Some(portion) =
        place.write(move |tx| tx.old_portion(kept, after, cutoffs(now_ms), 2)).await
    {
        let rows = place.write(move |tx| tx.forget_portion(kept, portion, cutoffs(now_ms))).await;
        assert_eq!(i64::try_from(rows).unwrap(), portion.count, "what was counted is forgotten");
        (after, forgotten) = (portion.upto, forgotten + rows);
    }
    forgotten
}

async fn end_work(place: &Place, id: WorkId, state: WorkState, ended: Option<Timestamp>) {
    place
        .write(move |tx| {
            let mut work = tx.lock_work(id)?.unwrap();
            (work.state, work.ended) = (state, ended);
            tx.end_work(&work)
        })
        .await;
}

async fn has_work(place: &Place, id: WorkId) -> bool {
    place.write(move |tx| Ok(tx.work(id)?.is_some())).await
}

async fn propose(place: &Place, thread_row: i64, work: Option<i64>) -> ProposalRow {
    let action = Action::default();
    let new = ProposalRow {
        row: 0,
        id: ProposalId::new(at(0), unique()),
        workspace: WORKSPACE.to_owned(),
        thread_row,
        thread_id: ThreadId::new(at(0), [0; 10]),
        task: TaskId::new(at(0), [1; 10]),
        work,
        agent: "triage".to_owned(),
        state: ProposalState::Waiting,
        version: 1,
        action: "{}".to_owned(),
        action_hash: action.hash().0.to_vec(),
        why: String::new(),
        created: at(0),
        expires: at(1_000),
        remind: None,
        reminders: 0,
        asked_at: None,
        decided_by: None,
        decided_via: None,
        decided: None,
        comment: None,
    };
    place
        .write(move |tx| {
            tx.insert_proposal(&new)?;
            Ok(tx.proposal(new.id)?.unwrap())
        })
        .await
}

/// Moves a proposal, which is a step of its own.
async fn decide(place: &Place, mut row: ProposalRow, state: ProposalState, ms: i64) {
    row.state = state;
    place
        .write(move |tx| {
            tx.update_proposal(&row)?;
            let kind = ProposalStep::from_code(state.code()).unwrap();
            let actor = "ana".to_owned();
            let (action, comment) = (None, None);
            let step = ProposalStepRow { version: 1, kind, actor, at: at(ms), action, comment };
            tx.insert_proposal_step(row.row, &step)
        })
        .await;
}

/// An action at a place; it ends so.
async fn act(
    place: &Place,
    (link_row, destination): (i64, &'static str),
    (thread_row, proposal): (Option<i64>, Option<i64>),
    state: OutboxState,
) -> OutboxId {
    let id = OutboxId::new(at(0), unique());
    place
        .write(move |tx| {
            tx.insert_outbox(&NewOutboxRow {
                id,
                workspace: WORKSPACE,
                link_row,
                destination,
                action: "{}",
                action_hash: ActionHash([0; 32]),
                buttons: None,
                replaces: None,
                thread_row,
                task: None,
                agent: "triage",
                proposal,
                at: at(0),
            })?;
            let mut row = tx.lock_outbox(id)?.unwrap();
            (row.state, row.ended) = (state, state.is_ended().then_some(at(0)));
            if state.is_ended() { tx.end_outbox(&mut row) } else { tx.update_outbox(&row) }
        })
        .await;
    id
}

async fn has_action(place: &Place, id: OutboxId) -> bool {
    place.write(move |tx| Ok(tx.outbox(id)?.is_some())).await
}

async fn what_is_over_goes_and_what_is_open_stays(place: Place) {
    let mut ids = Vec::new();
    for seq in 1..=6 {
        let thread = place.thread().await;
        ids.push(place.add_work(thread, seq).await);
    }
    let [ready, leased, done, dead, parked, late] = ids[..] else { panic!("six") };
    let state = |id, state, ended| end_work(&place, id, state, ended);
    state(leased, WorkState::Leased, None).await;
    state(done, WorkState::Done, Some(at(10))).await;
    state(dead, WorkState::Dead, Some(at(10))).await;
    state(parked, WorkState::Parked, None).await;
    // It was added long ago and is done since a moment.
    state(late, WorkState::Done, Some(at(25_000))).await;
    assert_eq!(forget(&place, Kept::Work, 30_000).await, 0, "everything is young");
    assert_eq!(forget(&place, Kept::Work, 40_000).await, 1);
    assert!(!has_work(&place, done).await);
    for id in [ready, leased, dead, parked, late] {
        assert!(has_work(&place, id).await, "{id}");
    }
    assert_eq!(
        forget(&place, Kept::Work, 1_000_000).await,
        2,
        "what was given up, and the late one"
    );
    for id in [ready, leased, parked] {
        assert!(has_work(&place, id).await, "{id} is open, however old it is");
    }
    place.close().await;
}

async fn what_a_proposal_leans_on_stays_as_long_as_it_does(place: Place) {
    let (thread, link) = (place.thread().await, place.link(WORKSPACE).await);
    let work = place.add_work(thread, 1).await;
    end_work(&place, work, WorkState::Done, Some(at(10))).await;
    let row = place.write(move |tx| Ok(tx.work(work)?.unwrap().row)).await;
    let waiting = propose(&place, thread, Some(row)).await;
    let expired = propose(&place, thread, None).await;
    decide(&place, expired.clone(), ProposalState::Expired, 1_000).await;
    assert_eq!(forget(&place, Kept::Proposals, 1_000_000).await, 0, "silence decides nothing");
    assert_eq!(forget(&place, Kept::Work, 1_000_000).await, 0, "a remark goes back to its queue");
    decide(&place, expired, ProposalState::Withdrawn, 2_000).await;
    decide(&place, waiting.clone(), ProposalState::Approved, 2_000).await;
    let allowed = (Some(thread), Some(waiting.row));
    let dead = act(&place, (link, "issue 1"), allowed, OutboxState::Dead).await;
    assert_eq!(forget(&place, Kept::Outbox, 40_000).await, 0);
    assert_eq!(forget(&place, Kept::Proposals, 40_000).await, 1, "the one that was taken back");
    let steps = place.write(move |tx| tx.proposal_steps(waiting.row, 9)).await;
    assert_eq!(steps.len(), 1, "what may be tried again is held against what was decided");
    assert_eq!(forget(&place, Kept::Outbox, 100_000).await, 1, "its own period is longer");
    assert!(!has_action(&place, dead).await);
    assert_eq!(forget(&place, Kept::Proposals, 100_000).await, 1);
    assert_eq!(place.write(move |tx| tx.proposal_steps(waiting.row, 9)).await, []);
    assert_eq!(forget(&place, Kept::Work, 100_000).await, 1);
    // What was sent back waits for the agent as long as what was given up waits for people.
    let returned = propose(&place, thread, None).await;
    decide(&place, returned, ProposalState::Returned, 2_000).await;
    assert_eq!(forget(&place, Kept::Proposals, 90_000).await, 0);
    assert_eq!(forget(&place, Kept::Proposals, 100_000).await, 1);
    place.close().await;
}

async fn an_action_stays_while_something_may_take_its_place(place: Place) {
    let (thread, link) = (place.thread().await, place.link(WORKSPACE).await);
    let none = (None, None);
    let question = act(&place, (link, "channel"), none, OutboxState::Sent).await;
    let answer = act(&place, (link, "channel"), none, OutboxState::Waiting).await;
    let beside = act(&place, (link, "elsewhere"), none, OutboxState::Sent).await;
    let asked = act(&place, (link, "asked"), (Some(thread), None), OutboxState::Sent).await;
    let proposal = propose(&place, thread, None).await;
    assert_eq!(forget(&place, Kept::Outbox, 1_000_000).await, 1);
    assert!(!has_action(&place, beside).await);
    for id in [question, answer, asked] {
        assert!(has_action(&place, id).await, "{id}");
    }
    decide(&place, proposal, ProposalState::Rejected, 0).await;
    assert_eq!(forget(&place, Kept::Outbox, 1_000_000).await, 1, "nobody is asked any more");
    place
        .write(move |tx| {
            let mut row = tx.lock_outbox(answer)?.unwrap();
            (row.state, row.ended) = (OutboxState::Cancelled, Some(at(0)));
            tx.end_outbox(&mut row)
        })
        .await;
    assert_eq!(forget(&place, Kept::Outbox, 1_000_000).await, 2);
    place.close().await;
}

/// A call in a thread, as it stands after it ended so.
async fn called(
    place: &Place,
    (thread_row, seq): (i64, i64),
    parent_row: Option<i64>,
    state: ToolCallState,
) -> ToolCallRow {
    let row = ToolCallRow {
        row: 0,
        id: ToolCallId::new(at(seq), unique()),
        workspace: WORKSPACE.to_owned(),
        thread_row,
        thread_id: ThreadId::new(at(0), [0; 10]),
        seq,
        answer_seq: None,
        key: format!("id:{seq}"),
        task: TaskId::new(at(0), [1; 10]),
        parent_row,
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
    };
    place
        .write(move |tx| {
            tx.insert_tool_call(&row)?;
            let mut row = tx.tool_call(row.id)?.unwrap();
            (row.state, row.ended) = (state, (state.code() >= 2).then_some(at(0)));
            tx.update_tool_call(&row)?;
            Ok(row)
        })
        .await
}

async fn a_call_is_known_again_while_its_thread_has_work(place: Place) {
    let (busy, human, idle) = (place.thread().await, place.thread().await, place.thread().await);
    let work = place.add_work(busy, 1).await;
    let parked = place.add_work(human, 1).await;
    end_work(&place, parked, WorkState::Parked, None).await;
    called(&place, (busy, 2), None, ToolCallState::Done).await;
    called(&place, (human, 2), None, ToolCallState::Human).await;
    called(&place, (idle, 2), None, ToolCallState::Done).await;
    let failed = called(&place, (idle, 3), None, ToolCallState::Failed).await;
    let parent = called(&place, (idle, 4), None, ToolCallState::Done).await;
    let mut child = called(&place, (idle, 5), Some(parent.row), ToolCallState::Running).await;
    assert_eq!(forget(&place, Kept::ToolCalls, 40_000).await, 1, "the plain one alone");
    assert!(place.write(move |tx| tx.tool_call(failed.id)).await.is_some());
    assert_eq!(forget(&place, Kept::ToolCalls, 1_000_000).await, 1, "and later the failed one");
    (child.state, child.ended) = (ToolCallState::Done, Some(at(0)));
    place.write(move |tx| tx.update_tool_call(&child)).await;
    end_work(&place, work, WorkState::Done, Some(at(0))).await;
    end_work(&place, parked, WorkState::Done, Some(at(0))).await;
    assert_eq!(forget(&place, Kept::ToolCalls, 1_000_000).await, 4);
    place.close().await;
}

async fn a_walk_takes_a_few_rows_at_a_time_and_ends_at_what_is_young(place: Place) {
    let thread = place.thread().await;
    let mut last = None;
    for seq in 1..=5 {
        let id = place.add_work(thread, seq).await;
        end_work(&place, id, WorkState::Done, Some(at(seq))).await;
        last = Some(id);
    }
    let young = place.add_work(thread, 60_000).await;
    end_work(&place, young, WorkState::Done, Some(at(60_000))).await;
    let walk = |after| place.write(move |tx| tx.old_portion(Kept::Work, after, cutoffs(50_000), 4));
    let first = walk(0).await.unwrap();
    assert_eq!(first.count, 4);
    let second = walk(first.upto).await.unwrap();
    assert_eq!(second.count, 1);
    assert_eq!(walk(second.upto).await, None);
    let task = TaskId::new(at(0), [1; 10]);
    let tasks = place.write(move |tx| tx.tasks_of_portion(first, cutoffs(50_000))).await;
    assert_eq!(tasks, [(WORKSPACE.to_owned(), task, thread)], "a task is named once");
    place.write(move |tx| tx.forget_portion(Kept::Work, first, cutoffs(50_000))).await;
    assert!(has_work(&place, last.unwrap()).await, "another portion is left alone");
    assert!(has_work(&place, young).await);
    place.close().await;
}

async fn what_we_posted_is_known_for_longer_than_its_action(place: Place) {
    let (thread, link) = (place.thread().await, place.link(WORKSPACE).await);
    let sent = act(&place, (link, "issue 1"), (Some(thread), None), OutboxState::Sent).await;
    let row = place.write(move |tx| Ok(tx.outbox(sent)?.unwrap().row)).await;
    for (name, ms) in [("comment:1", 0), ("comment:2", 1_000), ("comment:3", 2_000)] {
        let posted = (row, Some(thread));
        place.write(move |tx| tx.insert_posted(link, name, posted, at(ms))).await;
    }
    assert_eq!(forget(&place, Kept::Outbox, 40_000).await, 1);
    assert!(place.write(move |tx| tx.is_posted(link, "comment:1")).await);
    let found = place.write(move |tx| tx.thread_of_posted(WORKSPACE, link, "comment:1")).await;
    assert_eq!(found, Some(thread), "an answer beneath it finds its thread");
    let found = place.write(move |tx| tx.thread_of_posted("other", link, "comment:1")).await;
    assert_eq!(found, None, "one of another workspace does not");
    assert_eq!(place.write(|tx| tx.oldest_posted()).await, Some(at(0)));
    assert_eq!(place.write(|tx| tx.forget_posted(at(2_000), 1)).await, 1);
    assert_eq!(place.write(|tx| tx.forget_posted(at(2_000), 9)).await, 1);
    assert_eq!(place.write(|tx| tx.oldest_posted()).await, Some(at(2_000)));
    for (key, ms) in [("a", 0), ("b", 1_000)] {
        let send = ChatSendRow { asked: vec![1], proposal: None, outbox: None };
        place.write(move |tx| tx.insert_chat_send(("main", "ana", key), &send, at(ms))).await;
    }
    assert_eq!(place.write(|tx| tx.oldest_chat_send()).await, Some(at(0)));
    assert_eq!(place.write(|tx| tx.forget_chat_sends(at(1_000), 9)).await, 1);
    assert_eq!(place.write(|tx| tx.forget_chat_sends(at(1_000), 9)).await, 0);
    assert!(place.write(|tx| tx.chat_send("main", "ana", "b")).await.is_some());
    let layer = SessionLayerRow { through_seq: 1, updated: at(5), ..SessionLayerRow::default() };
    place.write(move |tx| tx.set_session_layer(thread, &layer)).await;
    assert_eq!(place.write(|tx| tx.forget_session_layers(at(5), 9)).await, 0);
    assert_eq!(place.write(|tx| tx.oldest_session_layer()).await, Some(at(5)));
    assert_eq!(place.write(|tx| tx.forget_session_layers(at(6), 9)).await, 1);
    assert_eq!(place.write(|tx| tx.oldest_session_layer()).await, None);
    place.close().await;
}
