//! Proposals: drafts, steps, what is due, and who sees what.

use protocol::relay::{Action, ProposalState, ProposalStep};
use protocol::{ProposalId, TaskId, ThreadId, Trust};
use waystation_store::{NewMessage, ProposalFilter, ProposalRow, ProposalStepRow, ThreadRow};

use crate::place::{Place, WORKSPACE, at, on_both, unique};

on_both! {
    a_proposal_comes_back_as_it_was_stored_and_changed
    what_is_due_is_found_in_the_order_of_its_time
    open_proposals_are_counted_listed_and_known_again
    the_steps_of_a_proposal_stay_in_order
    a_thread_knows_whether_it_holds_text_from_outside
}

fn proposal(thread_row: i64, text: &str) -> ProposalRow {
    let action = Action { text: text.to_owned(), ..Action::default() };
    ProposalRow {
        row: 0,
        id: ProposalId::new(at(0), unique()),
        workspace: WORKSPACE.to_owned(),
        thread_row,
        thread_id: ThreadId::new(at(0), [0; 10]),
        task: TaskId::new(at(0), [1; 10]),
        work: None,
        agent: "triage".to_owned(),
        state: ProposalState::Waiting,
        version: 1,
        action: serde_json::to_string(&action).unwrap(),
        action_hash: action.hash().0.to_vec(),
        why: "it helps".to_owned(),
        created: at(0),
        expires: at(1_000),
        remind: Some(at(0)),
        reminders: 0,
        asked_at: None,
        decided_by: None,
        decided_via: None,
        decided: None,
        comment: None,
    }
}

/// Stores a proposal; answers it as it lies there.
async fn add(place: &Place, new: ProposalRow) -> ProposalRow {
    place
        .write(move |tx| {
            tx.insert_proposal(&new)?;
            Ok(tx.proposal(new.id)?.unwrap())
        })
        .await
}

async fn a_proposal_comes_back_as_it_was_stored_and_changed(place: Place) {
    let thread = place.thread().await;
    let mut new = proposal(thread, "one");
    new.work = Some(7);
    new.asked_at = Some("{}".to_owned());
    let stored = add(&place, new.clone()).await;
    let same = ProposalRow { row: stored.row, thread_id: stored.thread_id, ..new };
    assert_eq!(stored, same);
    let mut changed = stored.clone();
    changed.state = ProposalState::Edited;
    (changed.version, changed.reminders, changed.remind) = (3, 2, None);
    changed.decided_by = Some("ana".to_owned());
    changed.decided_via = Some("terminal".to_owned());
    (changed.decided, changed.comment) = (Some(at(9)), Some("fine".to_owned()));
    (changed.action, changed.action_hash) = ("{\"x\":1}".to_owned(), vec![7; 32]);
    let write = changed.clone();
    let found = place
        .write(move |tx| {
            tx.update_proposal(&write)?;
            tx.proposal_by_row(write.row)
        })
        .await;
    assert_eq!(found, Some(changed.clone()));
    let id = changed.id;
    assert_eq!(place.write(move |tx| tx.lock_proposal(id)).await, Some(changed));
    let nobody = ProposalId::new(at(5), unique());
    assert_eq!(place.write(move |tx| tx.proposal(nobody)).await, None);
    place.close().await;
}

async fn what_is_due_is_found_in_the_order_of_its_time(place: Place) {
    let thread = place.thread().await;
    let mut ids = Vec::new();
    for (text, due) in [("a", Some(30)), ("b", Some(10)), ("c", None), ("d", Some(20))] {
        let mut new = proposal(thread, text);
        new.remind = due.map(at);
        ids.push(add(&place, new).await.id);
    }
    let due = place.write(|tx| tx.due_proposals(at(20), 10)).await;
    assert_eq!(due, [ids[1], ids[3]]);
    assert_eq!(place.write(|tx| tx.due_proposals(at(99), 1)).await, [ids[1]]);
    assert_eq!(place.write(|tx| tx.next_proposal_due()).await, Some(at(10)));
    place.close().await;
}

async fn open_proposals_are_counted_listed_and_known_again(place: Place) {
    let (thread, other) = (place.thread().await, place.thread().await);
    assert_eq!(place.write(|tx| tx.waiting_proposals()).await, (0, None));
    let first = add(&place, proposal(thread, "one")).await;
    let mut expired = proposal(other, "two");
    expired.state = ProposalState::Expired;
    expired.created = at(-5);
    let expired = add(&place, expired).await;
    let mut rejected = proposal(thread, "three");
    rejected.state = ProposalState::Rejected;
    let rejected = add(&place, rejected).await;
    assert_eq!(place.write(|tx| tx.waiting_proposals()).await, (2, Some(at(-5))));
    let list = async |filter: ProposalFilter| -> Vec<ProposalId> {
        let filter = ProposalFilter { workspace: WORKSPACE.to_owned(), limit: 10, ..filter };
        let found = place.write(move |tx| tx.proposals(&filter)).await;
        found.into_iter().map(|row| row.id).collect()
    };
    let all = ProposalFilter::default;
    assert_eq!(list(all()).await, [rejected.id, expired.id, first.id]);
    assert_eq!(list(ProposalFilter { open_only: true, ..all() }).await, [expired.id, first.id]);
    let of_thread = ProposalFilter { thread_row: Some(other), ..all() };
    assert_eq!(list(of_thread).await, [expired.id]);
    let in_state = ProposalFilter { state: Some(ProposalState::Rejected), ..all() };
    assert_eq!(list(in_state).await, [rejected.id]);
    let later = ProposalFilter { before: Some(expired.row), ..all() };
    assert_eq!(list(later).await, [first.id]);
    assert!(list(ProposalFilter { agent: "nobody".to_owned(), ..all() }).await.is_empty());
    // Whoever takes part in no thread sees none but their own.
    assert!(list(ProposalFilter { member: "stranger".to_owned(), ..all() }).await.is_empty());
    assert_eq!(list(ProposalFilter { member: "triage".to_owned(), ..all() }).await.len(), 3);

    let (hash, denied) = (first.action_hash.clone(), rejected.action_hash.clone());
    let known = place.write(move |tx| tx.open_proposal_like(thread, "triage", &hash)).await;
    assert_eq!(known.map(|row| row.id), Some(first.id));
    let known = place.write(move |tx| tx.open_proposal_like(thread, "triage", &denied)).await;
    assert_eq!(known, None);
    place.close().await;
}

async fn the_steps_of_a_proposal_stay_in_order(place: Place) {
    let thread = place.thread().await;
    let row = add(&place, proposal(thread, "one")).await.row;
    let step = |version, kind, comment: Option<&str>| ProposalStepRow {
        version,
        kind,
        actor: "ana".to_owned(),
        at: at(version),
        action: (kind == ProposalStep::Drafted).then(|| "{}".to_owned()),
        comment: comment.map(str::to_owned),
    };
    let steps = vec![
        step(1, ProposalStep::Drafted, None),
        step(1, ProposalStep::Returned, Some("shorter")),
        step(2, ProposalStep::Drafted, None),
        step(2, ProposalStep::Approved, None),
    ];
    let written = steps.clone();
    let found = place
        .write(move |tx| {
            for step in &written {
                tx.insert_proposal_step(row, step)?;
            }
            tx.proposal_steps(row, 100)
        })
        .await;
    assert_eq!(found, steps);
    assert_eq!(place.write(move |tx| tx.proposal_steps(row, 2)).await, steps[..2]);
    place.close().await;
}

async fn a_thread_knows_whether_it_holds_text_from_outside(place: Place) {
    let (inside, outside) = (place.thread().await, place.thread().await);
    for (thread_row, trust) in [(inside, Trust::Agent), (outside, Trust::External)] {
        place.write(move |tx| say(tx, thread_row, trust)).await;
    }
    let holds = place.write(move |tx| tx.thread_holds(outside, Trust::External)).await;
    let others = place.write(move |tx| tx.thread_holds(inside, Trust::External)).await;
    assert!(holds && !others);
    place.close().await;
}

fn say(
    tx: &mut waystation_store::Tx<'_>,
    thread_row: i64,
    trust: Trust,
) -> waystation_store::Result<()> {
    let thread: ThreadRow = tx.lock_thread_by_row(WORKSPACE, thread_row)?.unwrap();
    tx.insert_message(&NewMessage {
        thread_row,
        seq: 1,
        created: at(1),
        kind: protocol::MessageKind::Chat,
        trust,
        sender: "slack:U1",
        session: "link:slack",
        body: "hello",
        metadata: None,
        reply_to: None,
        idempotency: None,
        status_after: thread.status,
    })
}
