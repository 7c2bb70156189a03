//! Writing down how far an action has come. Only the sender that has it may: one that was away for too
//! long finds that another has taken over, and leaves everything as it is.

use std::sync::Arc;

use connector_api::Receipt;
use protocol::Timestamp;
use protocol::limits::relay as limits;
use protocol::relay::OutboxState;
use store::{OutboxRow, Tx};

use super::view::{self, StoredReceipt};
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::chats::take;
use crate::clock::{Entropy, fresh_uid};
use crate::error::{Error, Result};
use crate::hub::Hub;

/// What it is called in the audit trail.
const ACTION: &str = "send";

/// What becomes of an action.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// A request is about to go out.
    Sending,
    /// A part has arrived, or was found.
    Arrived { index: i64, receipt: Box<Receipt>, is_last: bool },
    /// It waits until then. Whether a request may have gone out is part of it.
    Wait { due: Timestamp, reason: String, answer: Option<String>, open: Open },
    /// It is not known to have gone out after all, and is tried again now.
    NotThere,
    /// It is given up.
    Dead { reason: String, answer: Option<String>, open: Open },
    /// Nobody needs it any more.
    Needless { reason: String },
}

/// Whether a request may have gone out whose end nobody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// As before.
    Same,
    /// It may, and nobody has asked the service yet, or once more in vain.
    Asked { looks: i64 },
    /// The service could not be asked: that was an attempt too.
    Unasked,
    /// It did not.
    No,
    /// It did not, and that was no failure.
    NotCounted,
}

/// Writes a step down; `None` when the action is somebody else's by now.
pub(super) async fn record(
    hub: &Arc<Hub>,
    row: &OutboxRow,
    step: Step,
) -> Result<Option<OutboxRow>> {
    let (id, holder, now) = (row.id, row.holder.clone(), hub.now());
    let entropy = hub.entropy();
    let actor = row.agent.clone();
    let (recorded, threads) = hub
        .store
        .write(move |tx| {
            let mut threads = Vec::new();
            let Some(mut row) = tx.lock_outbox(id)? else { return Ok((None, threads)) };
            let is_ours = row.state == OutboxState::Sending && row.holder == holder;
            if let Step::Arrived { receipt, .. } = &step {
                // It is ours at the service, whoever sends from now on.
                let place = (row.row, row.thread_row);
                tx.insert_posted(row.link_row, &receipt.remote_id, place, now)?;
                threads = archive(tx, &row, receipt, now, &*entropy)?;
            }
            if !is_ours {
                return Ok((None, threads));
            }
            apply(tx, &mut row, &step, now)?;
            if row.state.is_ended() {
                let identity = Identity::of_service(&row.workspace, &actor, now, &*entropy);
                enter(tx, &row, &identity)?;
            }
            Ok::<_, Error>((Some(row), threads))
        })
        .await?;
    for thread in threads {
        hub.live.announce_chat(thread);
    }
    if recorded.as_ref().is_some_and(|row| row.state.is_ended()) {
        hub.audit_bell.notify_one();
        hub.live.announce_outbox();
    }
    Ok(recorded)
}

/// Takes a message that arrived in a chat into its archive; answers the chats that it changed. The
/// service may have repeated it already, or does so later: it is known by its id.
fn archive(
    tx: &mut Tx<'_>,
    row: &OutboxRow,
    receipt: &Receipt,
    now: Timestamp,
    entropy: &dyn Entropy,
) -> Result<Vec<i64>> {
    if receipt.facts.is_empty() {
        return Ok(Vec::new());
    }
    let Some(link) = tx.link_by_row(&row.workspace, row.link_row)? else { return Ok(Vec::new()) };
    let new_uid = || fresh_uid(entropy, now);
    Ok(take::take(tx, &link, &receipt.facts, now, &new_uid)?.threads)
}

fn apply(tx: &mut Tx<'_>, row: &mut OutboxRow, step: &Step, now: Timestamp) -> Result<()> {
    match step {
        Step::Sending => {
            row.sending = true;
            row.looks = 0;
            row.attempts += 1;
            row.lease = Some(now.plus_ms(limits::OUTBOX_LEASE_MS));
        }
        Step::Arrived { index, receipt, is_last } => {
            let mut receipts = view::receipts(row);
            receipts.push(StoredReceipt::of(receipt));
            row.receipts = Some(serde_json::json!(receipts).to_string());
            row.parts_done = index + 1;
            (row.sending, row.looks, row.attempts) = (false, 0, 0);
            (row.reason, row.answer) = (None, None);
            if *is_last {
                return end(tx, row, OutboxState::Sent, now);
            }
        }
        Step::Wait { due, reason, answer, open } => {
            set_open(row, *open);
            row.state = OutboxState::Waiting;
            row.due = *due;
            row.reason = Some(kept(reason));
            row.answer = answer.as_deref().map(kept).or_else(|| row.answer.take());
            (row.holder, row.lease) = (None, None);
        }
        Step::NotThere => (row.sending, row.looks) = (false, 0),
        Step::Dead { reason, answer, open } => {
            set_open(row, *open);
            row.reason = Some(kept(reason));
            row.answer = answer.as_deref().map(kept).or_else(|| row.answer.take());
            return end(tx, row, OutboxState::Dead, now);
        }
        Step::Needless { reason } => {
            row.reason = Some(kept(reason));
            return end(tx, row, OutboxState::Cancelled, now);
        }
    }
    Ok(tx.update_outbox(row)?)
}

fn set_open(row: &mut OutboxRow, open: Open) {
    match open {
        Open::Same => {}
        Open::Asked { looks } => (row.sending, row.looks) = (true, looks),
        Open::Unasked => row.attempts += 1,
        Open::No => (row.sending, row.looks) = (false, 0),
        Open::NotCounted => {
            (row.sending, row.looks) = (false, 0);
            row.attempts = (row.attempts - 1).max(0);
        }
    }
}

/// Ends an action; the next of its destination comes first.
fn end(tx: &mut Tx<'_>, row: &mut OutboxRow, state: OutboxState, now: Timestamp) -> Result<()> {
    row.state = state;
    row.ended = Some(now);
    (row.holder, row.lease) = (None, None);
    Ok(tx.end_outbox(row)?)
}

/// Enters what became of an action in the audit trail.
fn enter(tx: &mut Tx<'_>, row: &OutboxRow, identity: &Identity) -> Result<()> {
    let request = Commitment::request(&identity.salt, &row.action_hash.0);
    let detail = serde_json::json!({ "state": row.state.name(), "reason": row.reason });
    let change = Change::of(row.id.to_string(), row.id).with_detail(detail.to_string());
    change.enter(tx, identity, ACTION, &request).map(drop)
}

/// As much of a text from outside as is kept, without what no database keeps.
fn kept(text: &str) -> String {
    text.chars().filter(|c| *c != '\0').take(limits::OUTBOX_ANSWER_CHARS_MAX).collect()
}
