//! The life of a piece of work: who may finish it, and what becomes of it when nobody does.

use protocol::limits::relay as limits;
use protocol::relay::WorkState;
use protocol::{Caller, Timestamp, WorkId};
use store::{Tx, WorkRow};

use crate::error::{Error, Result};

/// Reads an id. What is no id names no work.
pub(super) fn work_id(text: &str) -> Result<WorkId> {
    text.parse().map_err(|_| Error::NotFound { what: "work" })
}

/// The work of a caller's workspace; nobody else changes it, or its thread's, until the commit.
pub(super) fn lock(tx: &mut Tx<'_>, id: WorkId, caller: &Caller) -> Result<WorkRow> {
    let work = tx.lock_work(id)?.filter(|work| work.workspace == caller.workspace_id);
    work.ok_or(Error::NotFound { what: "work" })
}

/// Refuses whoever does not have the work any more: somebody else may have begun it anew.
pub(super) fn check_lease(work: &WorkRow, fence: i64, caller: &Caller) -> Result<()> {
    let is_theirs = work.holder.as_deref() == Some(&*caller.agent_id);
    if work.state == WorkState::Leased && work.fence == fence && is_theirs {
        return Ok(());
    }
    let stands = match work.state {
        WorkState::Leased => "somebody else has it now",
        WorkState::Ready | WorkState::Behind => "it is given out again",
        WorkState::Done => "it is done",
        WorkState::Dead => "it was given up",
        WorkState::Parked => "it is parked",
    };
    Err(Error::Conflict(format!(
        "lease lost: fence {fence} no longer holds this work, {stands}; drop what you have, and pull \
         work again"
    )))
}

/// Work that was given out and not finished is given out again, unless that was done too often. The caller
/// has locked it. Answers whether anybody can take work now.
pub(super) fn give_back(
    tx: &mut Tx<'_>,
    work: &mut WorkRow,
    reason: &str,
    visible: Timestamp,
    now: Timestamp,
) -> Result<bool> {
    work.lease = None;
    if work.attempts < limits::WORK_ATTEMPTS_MAX {
        work.state = WorkState::Ready;
        work.visible = visible;
        work.reason = Some(reason.to_owned());
        tx.update_work(work)?;
        return Ok(true);
    }
    work.state = WorkState::Dead;
    work.ended = Some(now);
    work.reason = Some(format!("given out {} times; last: {reason}", work.attempts));
    Ok(tx.end_work(work)?.is_some())
}

/// Takes back work whose lease has ended. Answers the workspaces in which there is work to take now, and
/// what was given up.
pub(crate) fn reap(tx: &mut Tx<'_>, now: Timestamp, limit: usize) -> Result<Reaped> {
    let mut reaped = Reaped::default();
    for id in tx.lapsed_work(now, limit)? {
        let Some(mut work) = tx.lock_work(id)? else { continue };
        let is_lapsed = work.lease.is_some_and(|until| until <= now);
        if work.state != WorkState::Leased || !is_lapsed {
            continue;
        }
        let holder = work.holder.clone().unwrap_or_default();
        let reason = format!("the lease of {holder} ended before the work was done");
        if give_back(tx, &mut work, &reason, now, now)? {
            reaped.workspaces.push(work.workspace.clone());
        }
        if work.state == WorkState::Dead {
            reaped.dead.push(work.queue);
        }
    }
    reaped.workspaces.dedup();
    Ok(reaped)
}

/// What was taken back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reaped {
    /// Where there is work to take now.
    pub(crate) workspaces: Vec<String>,
    /// The queues of what was given up.
    pub(crate) dead: Vec<String>,
}
