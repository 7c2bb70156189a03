//! Where proposals touch the outbox and the work queue: one function each.

use connector_api::Buttons;
use protocol::relay::{Action, WorkState};
use protocol::{OutboxId, TaskId, Timestamp, WorkId, limits};
use store::{NewWork, ProposalRow, Tx};

use crate::clock::fresh_uid;
use crate::error::Result;
use crate::hub::Hub;
use crate::relay::intake::task_key;
use crate::relay::outbox::{self, NewOutbox, Replaces};

/// Something that leaves.
pub(super) struct Leaving<'a> {
    pub(super) workspace: &'a str,
    pub(super) link_row: i64,
    pub(super) action: &'a Action,
    pub(super) thread_row: Option<i64>,
    pub(super) task: Option<TaskId>,
    pub(super) agent: &'a str,
    /// The proposal that allowed it.
    pub(super) proposal: Option<i64>,
    /// What the buttons of a question carry.
    pub(super) buttons: Option<&'a Buttons>,
    /// The posting that it takes the place of.
    pub(super) replaces: Option<OutboxId>,
    pub(super) now: Timestamp,
}

/// Queues an action for its service.
pub(super) fn enqueue(tx: &mut Tx<'_>, hub: &Hub, leaving: &Leaving<'_>) -> Result<OutboxId> {
    let replaces = leaving.replaces.map(Replaces::Posting);
    outbox::enqueue(
        tx,
        &NewOutbox {
            id: OutboxId(fresh_uid(&*hub.entropy(), leaving.now)),
            workspace: leaving.workspace,
            link_row: leaving.link_row,
            destination: &outbox::destination(leaving.action),
            action: leaving.action,
            thread_row: leaving.thread_row,
            task: leaving.task,
            agent: leaving.agent,
            proposal: leaving.proposal,
            buttons: leaving.buttons,
            replaces: replaces.as_ref(),
            at: leaving.now,
        },
    )
}

/// A remark goes back to the agent as work about the message that holds it.
pub(super) fn give_back(
    tx: &mut Tx<'_>,
    hub: &Hub,
    proposal: &ProposalRow,
    seq: i64,
    now: Timestamp,
) -> Result<()> {
    let work = proposal.work.map(|row| tx.work_by_row(row)).transpose()?.flatten();
    let queue = work.map_or_else(|| limits::relay::QUEUE_DEFAULT.to_owned(), |work| work.queue);
    // A proposal may have a task that no work had so far.
    let task = task_key(&proposal.task.to_string());
    tx.stitch_thread(&proposal.workspace, &task, proposal.thread_row)?;
    Ok(tx.insert_work(&NewWork {
        workspace: &proposal.workspace,
        queue: &queue,
        thread_row: proposal.thread_row,
        seq,
        task: proposal.task,
        id: WorkId(fresh_uid(&*hub.entropy(), now)),
        at: now,
    })?)
}

/// Work that was parked for this decision waits no longer.
pub(super) fn unpark(tx: &mut Tx<'_>, proposal: &ProposalRow, now: Timestamp) -> Result<()> {
    let Some(row) = proposal.work else { return Ok(()) };
    let Some(work) = tx.work_by_row(row)? else { return Ok(()) };
    if work.state != WorkState::Parked {
        return Ok(());
    }
    if let Some(mut work) = tx.lock_work(work.id)? {
        work.state = WorkState::Done;
        work.ended = Some(now);
        tx.end_work(&work)?;
    }
    Ok(())
}
