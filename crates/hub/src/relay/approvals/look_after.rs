//! What the clock does to a proposal: somebody is asked, reminded, others are asked, its time runs out.
//! None of it decides anything.

use protocol::relay::{ProposalState, ProposalStep};
use protocol::{ProposalId, Timestamp};
use store::{ProposalRow, Tx};

use super::ask::{self, AskedAt};
use super::key::Means;
use super::life::Proposal;
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::error::Result;
use crate::relay::append::HUB_SENDER;
use crate::relay::settings::Asking;

/// What it is called in the audit trail.
const ACTION: &str = "remind_approvers";

/// Looks after a proposal whose time has come.
pub(crate) fn look_after(
    tx: &mut Tx<'_>,
    means: &Means,
    id: ProposalId,
    now: Timestamp,
) -> Result<()> {
    let Some(row) = tx.lock_proposal(id)? else { return Ok(()) };
    // Another hub was faster.
    if row.remind.is_none_or(|due| due > now) {
        return Ok(());
    }
    let mut proposal = Proposal::of(row)?;
    if !proposal.row().state.is_open() {
        proposal.row_mut().remind = None;
        return Ok(tx.update_proposal(proposal.row())?);
    }
    let asking = ask::asking_of(tx, means, &proposal)?;
    let mut happened = Vec::new();
    if AskedAt::of(proposal.row()).version < proposal.row().version {
        ask::ask(tx, means, &mut proposal, asking, now)?;
    }
    if let Some(step) = proposal.expire(HUB_SENDER, now) {
        happened.push(step);
        if ask::escalate(tx, means, &mut proposal, asking, now)? {
            happened.push(proposal.step(ProposalStep::Escalated, HUB_SENDER, now, None, None));
        }
    } else if next_reminder(proposal.row(), asking).is_some_and(|due| due <= now) {
        ask::remind(tx, means, &proposal, asking, now)?;
        proposal.row_mut().reminders += 1;
        happened.push(proposal.step(ProposalStep::Reminded, HUB_SENDER, now, None, None));
    }
    for step in &happened {
        tx.insert_proposal_step(proposal.row().row, step)?;
    }
    let next = next_look(proposal.row(), asking, now);
    proposal.row_mut().remind = next;
    tx.update_proposal(proposal.row())?;
    let kinds: Vec<&str> = happened.iter().map(|step| step.kind.name()).collect();
    enter(tx, means, proposal.row(), &kinds, now)
}

/// When somebody is reminded next, by the clock alone.
fn next_reminder(row: &ProposalRow, asking: &Asking) -> Option<Timestamp> {
    if asking.remind_ms <= 0 || row.reminders >= asking.reminders_max {
        return None;
    }
    let since = AskedAt::of(row).since_ms;
    let after = asking.remind_ms.saturating_mul(row.reminders + 1);
    Some(Timestamp::from_ms(since.saturating_add(after)))
}

/// When it must be looked at next: whatever comes first, and never twice at the same moment.
fn next_look(row: &ProposalRow, asking: &Asking, now: Timestamp) -> Option<Timestamp> {
    let expiry = (row.state == ProposalState::Waiting).then_some(row.expires);
    // After a time in which no hub ran, one reminder stands for all that were missed.
    let again = Timestamp::from_ms(now.as_ms().saturating_add(asking.remind_ms));
    let reminder = next_reminder(row, asking).map(|due| if due <= now { again } else { due });
    match (expiry, reminder) {
        (Some(expiry), Some(reminder)) => Some(expiry.min(reminder)),
        (expiry, reminder) => expiry.or(reminder),
    }
}

/// What the clock did is in the trail too; asking for the first time is part of the proposal.
fn enter(
    tx: &mut Tx<'_>,
    means: &Means,
    row: &ProposalRow,
    kinds: &[&str],
    now: Timestamp,
) -> Result<()> {
    if kinds.is_empty() {
        return Ok(());
    }
    let identity = Identity::of_service(&row.workspace, HUB_SENDER, now, &*means.hub.entropy());
    let request = Commitment::request(&identity.salt, &[]);
    let detail = serde_json::json!({ "steps": kinds, "version": row.version });
    let change = Change::of(row.id.to_string(), row.id).with_detail(detail.to_string());
    change.enter(tx, &identity, ACTION, &request).map(drop)
}
