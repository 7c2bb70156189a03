//! An action that an agent wants: it leaves if a rule allows it, waits for a human, or is refused.

use protocol::relay::{Action, Citation, ProposalState, ProposalStep, visible};
use protocol::{OutboxId, ProposalId, TaskId, ThreadId, Timestamp, Trust, limits};
use store::{LinkRow, ProposalRow, ThreadRow, Tx};

use super::draft::ActionDraft;
use super::key::Means;
use super::life::{self, Proposal};
use super::policy::{self, Wanted};
use super::seam::{self, Leaving};
use super::target;
use crate::clock::fresh_uid;
use crate::error::{Error, Result};
use crate::relay::cite::{self, Leans};
use crate::relay::settings::{Asking, Verdict};

/// An action that an agent wants.
#[derive(Clone, Debug)]
pub struct SubmittedAction<'a> {
    /// The thread it belongs to, locked.
    pub thread: &'a ThreadRow,
    /// The task it belongs to.
    pub task: TaskId,
    /// The row of the work it comes from.
    pub work: Option<i64>,
    /// The agent.
    pub agent: &'a str,
    /// What it wants.
    pub draft: &'a ActionDraft,
    /// Why it wants that.
    pub why: &'a str,
    /// When.
    pub now: Timestamp,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submitted {
    /// A human is asked.
    Proposed(ProposalId),
    /// A rule allows it: it is on its way.
    Queued(OutboxId),
}

/// Takes an action: policy says whether it leaves or waits for a human. After the commit the caller
/// rings [`Approvals::ring`](super::Approvals::ring).
pub fn submit(tx: &mut Tx<'_>, means: &Means, new: &SubmittedAction<'_>) -> Result<Submitted> {
    // What a human reads is what leaves: nothing hides in it.
    let text = visible(&new.draft.text).into_owned();
    life::check_text(&text)?;
    check_why(new.why)?;
    let hub = &*means.hub;
    let citations = cited(tx, new, &text)?;
    let target = target::of_draft(tx, hub, new.thread, new.draft)?;
    let action = Action {
        link: target.link.name.clone(),
        address: target.address,
        place: target.place,
        text,
        citations,
    };
    // Whoever has met strangers could open a thread of its own to say there what they want.
    let holds_external = tx.thread_holds(new.thread.row, Trust::External)?
        || tx.has_met_strangers(&new.thread.workspace, &new.thread.created_by)?;
    let leave = Leave {
        workspace: &new.thread.workspace,
        thread_row: new.thread.row,
        thread_id: new.thread.id,
        task: new.task,
        work: new.work,
        agent: new.agent,
        link: &target.link,
        action: &action,
        why: new.why,
        holds_external,
        is_human: false,
        now: new.now,
    };
    settle(tx, means, &leave)
}

/// Something that would leave, and what it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Leave<'a> {
    pub(crate) workspace: &'a str,
    /// The thread or chat it belongs to.
    pub(crate) thread_row: i64,
    pub(crate) thread_id: ThreadId,
    pub(crate) task: TaskId,
    pub(crate) work: Option<i64>,
    pub(crate) agent: &'a str,
    pub(crate) link: &'a LinkRow,
    pub(crate) action: &'a Action,
    pub(crate) why: &'a str,
    /// Whether text from outside may have caused it.
    pub(crate) holds_external: bool,
    /// Whether a human wants it, who has proved to be one: nobody else is asked.
    pub(crate) is_human: bool,
    pub(crate) now: Timestamp,
}

/// Policy says whether something leaves or waits for a human.
pub(crate) fn settle(tx: &mut Tx<'_>, means: &Means, leave: &Leave<'_>) -> Result<Submitted> {
    let (hub, action) = (&*means.hub, leave.action);
    let place = policy::place(action);
    let wanted = Wanted {
        link: &action.link,
        channel: &leave.link.service,
        place: &place,
        agent: leave.agent,
    };
    let settings = &hub.settings.relay.approvals;
    match policy::verdict(settings, wanted, leave.holds_external) {
        (Verdict::Ask, asking) if !leave.is_human => propose(tx, means, leave, asking),
        (Verdict::Deny, _) => Err(Error::InsufficientAuthority(format!(
            "a rule of the operator's forbids this: nothing of {} may leave for {}",
            leave.agent, action.place
        ))),
        (Verdict::Allow | Verdict::Ask, _) => {
            let leaving = Leaving {
                workspace: leave.workspace,
                link_row: leave.link.row,
                action,
                thread_row: Some(leave.thread_row),
                task: Some(leave.task),
                agent: leave.agent,
                proposal: None,
                buttons: None,
                replaces: None,
                now: leave.now,
            };
            Ok(Submitted::Queued(seam::enqueue(tx, hub, &leaving)?))
        }
    }
}

/// The documents that a draft cites. It cites whatever it leans on, or goes back to its agent.
fn cited(tx: &mut Tx<'_>, new: &SubmittedAction<'_>, text: &str) -> Result<Vec<Citation>> {
    let retrieved;
    let leans = if let Some(named) = &new.draft.retrieval_refs {
        Leans::Named(named)
    } else {
        retrieved = cite::retrieved(tx, new.thread.row, new.task)?;
        Leans::Retrieved(&retrieved)
    };
    cite::check("text", text, leans)?;
    cite::citations(tx, &new.thread.workspace, text, leans)
}

fn propose(tx: &mut Tx<'_>, means: &Means, new: &Leave<'_>, asking: &Asking) -> Result<Submitted> {
    let action = new.action;
    let hash = action.hash();
    // Whoever asks twice for the same is answered with what waits already.
    if let Some(known) = tx.open_proposal_like(new.thread_row, new.agent, &hash.0)? {
        return Ok(Submitted::Proposed(known.id));
    }
    let id = ProposalId(fresh_uid(&*means.hub.entropy(), new.now));
    let text = serde_json::to_string(action).map_err(|error| Error::Internal(Box::new(error)))?;
    let mut row = ProposalRow {
        row: 0,
        id,
        workspace: new.workspace.to_owned(),
        thread_row: new.thread_row,
        thread_id: new.thread_id,
        task: new.task,
        work: new.work,
        agent: new.agent.to_owned(),
        state: ProposalState::Waiting,
        version: 1,
        action: text.clone(),
        action_hash: hash.0.to_vec(),
        why: visible(new.why).into_owned(),
        created: new.now,
        expires: expiry(asking, new.now),
        // Somebody is asked at once.
        remind: Some(new.now),
        reminders: 0,
        asked_at: None,
        decided_by: None,
        decided_via: None,
        decided: None,
        comment: None,
    };
    row.row = tx.insert_proposal(&row)?;
    let stored = row.row;
    let step = Proposal::of(row)?.step(ProposalStep::Drafted, new.agent, new.now, Some(text), None);
    tx.insert_proposal_step(stored, &step)?;
    Ok(Submitted::Proposed(id))
}

/// When a draft that is made now expires.
pub(super) fn expiry(asking: &Asking, now: Timestamp) -> Timestamp {
    Timestamp::from_ms(now.as_ms().saturating_add(asking.expires_ms))
}

pub(crate) fn check_why(why: &str) -> Result<()> {
    let most = limits::approvals::PROPOSAL_WHY_BYTES_MAX;
    if why.len() > most {
        return Err(Error::invalid("why", format_args!("may have at most {most} bytes")));
    }
    if why.contains('\0') {
        return Err(Error::invalid("why", "may not hold NUL"));
    }
    Ok(())
}
