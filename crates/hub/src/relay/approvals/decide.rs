//! A human decides: the proposal moves, exactly what was approved is queued, the thread says so and the
//! trail too, in one transaction.

use protocol::relay::{Action, Envelope, ProposalState, ProposalStep, envelope_role};
use protocol::{OutboxId, ProposalId, Timestamp, Trust, limits};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, json};
use store::{ProposalRow, ThreadRow, Tx};

use super::ask::{self, AskedAt};
use super::key::Means;
use super::life::{Decided, Decision, Proposal, Said, Via};
use super::seam::{self, Leaving};
use crate::call::Change;
use crate::error::{Error, Result};
use crate::relay::append::{self, NewEnvelope};

/// What nobody finds.
pub(super) const MISSING: Error = Error::NotFound { what: "proposal" };

/// Who decides.
#[derive(Clone, Debug)]
pub(super) struct Decider {
    /// Their name, as everybody reads it.
    pub(super) name: String,
    /// By which way.
    pub(super) via: Via,
    /// Where they said it: `slack`, or inside the hub.
    pub(super) channel: String,
    /// Who they are, as the sender of a message: `slack:U123`, or an operator's name.
    pub(super) sender: String,
    /// What a list of approvers knows them by.
    pub(super) known_as: String,
    /// The session.
    pub(super) session: String,
    /// The workspace in which they may decide.
    pub(super) workspace: String,
}

/// A decision about one draft.
#[derive(Clone, Debug)]
pub(super) struct Deciding {
    pub(super) id: ProposalId,
    pub(super) version: i64,
    pub(super) decision: Decision,
    pub(super) comment: Option<String>,
    pub(super) now: Timestamp,
}

/// How a proposal stands after a decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DecidedOutput {
    /// The proposal.
    pub(super) proposal_id: ProposalId,
    /// How it stands.
    pub(super) state: ProposalState,
    /// The draft that was decided about.
    pub(super) version: i64,
    /// Who decided.
    pub(super) decided_by: String,
    /// By which way: `chat`, `terminal` or `token`.
    pub(super) decided_via: String,
    /// When.
    pub(super) decided_at: Timestamp,
    /// What leaves, where something does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) outbox_id: Option<OutboxId>,
    /// The digest of exactly that, in hexadecimal digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) action_hash: Option<String>,
    #[serde(skip)]
    pub(super) thread_row: i64,
    #[serde(skip)]
    pub(super) is_new: bool,
    #[serde(skip)]
    pub(super) workspace: String,
}

/// Decides about a draft, if this human may.
pub(super) fn decide(
    tx: &mut Tx<'_>,
    means: &Means,
    decider: &Decider,
    deciding: &Deciding,
) -> Result<Change<DecidedOutput>> {
    let found = tx.proposal(deciding.id)?.filter(|row| row.workspace == decider.workspace);
    let thread_row = found.ok_or(MISSING)?.thread_row;
    // The thread before the proposal, as everywhere: nobody waits for each other.
    let thread = tx.lock_thread_by_row(&decider.workspace, thread_row)?;
    if thread.is_none() && tx.chat(thread_row)?.is_none() {
        return Err(MISSING);
    }
    let mut proposal = Proposal::of(tx.lock_proposal(deciding.id)?.ok_or(MISSING)?)?;
    authorise(tx, means, &proposal, decider)?;
    check_comment(deciding)?;
    let earlier = draft(tx, &proposal, deciding.version)?;
    let said = Said {
        by: &decider.name,
        via: decider.via,
        at: deciding.now,
        comment: deciding.comment.as_deref(),
    };
    let moved = proposal.decide(deciding.version, earlier.as_ref(), &deciding.decision, &said)?;
    let Decided::Moved(moved) = moved else {
        return Ok(Change::none(output(proposal.row(), false)));
    };
    tx.insert_proposal_step(proposal.row().row, &moved.step)?;
    // Written before anything is queued: the outbox looks at what was decided.
    tx.update_proposal(proposal.row())?;
    if let Some(action) = &moved.leaves {
        let outbox = send(tx, means, proposal.row(), action, deciding.now)?;
        ask::note_outbox(proposal.row_mut(), outbox);
    }
    ask::lock(tx, means, &mut proposal, deciding.now)?;
    proposal.row_mut().remind = None;
    tx.update_proposal(proposal.row())?;
    // A chat is what was said there; a decision is none of it.
    if let Some(mut thread) = thread {
        let seq = say(tx, &mut thread, &proposal, decider, deciding.now)?;
        seam::unpark(tx, proposal.row(), deciding.now)?;
        if proposal.row().state == ProposalState::Returned {
            seam::give_back(tx, &means.hub, proposal.row(), seq, deciding.now)?;
        }
    }
    let output = output(proposal.row(), true);
    let detail = json!({
        "decision": output.state, "version": output.version, "via": output.decided_via,
        "by": output.decided_by, "place": proposal.action().place,
        "action_hash": proposal.action().hash().to_hex(),
    });
    Ok(Change::of(deciding.id.to_string(), output).with_detail(detail.to_string()))
}

/// The thread says what was decided; answers the number of that message.
fn say(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    proposal: &Proposal,
    decider: &Decider,
    now: Timestamp,
) -> Result<i64> {
    // A human spoke: whatever the loop guard counted is forgotten.
    (thread.agent_turns, thread.paused, thread.last_speaker) = (0, None, None);
    let envelope = envelope(proposal.row(), proposal.action(), decider);
    let new = NewEnvelope {
        envelope: &envelope,
        sender: &decider.sender,
        session: &decider.session,
        trust: Trust::Operator,
        reply_to: None,
        idempotency: None,
    };
    Ok(append::append(tx, thread, &new, now)?.seq)
}

/// Whether this human may decide about this proposal.
pub(super) fn authorise(
    tx: &mut Tx<'_>,
    means: &Means,
    proposal: &Proposal,
    decider: &Decider,
) -> Result<()> {
    let refused = |reason: String| Err(Error::InsufficientAuthority(reason));
    if decider.via != Via::Chat && decider.known_as == proposal.row().agent {
        return refused("whoever wants something cannot allow it themselves".to_owned());
    }
    let asking = ask::asking_of(tx, means, proposal)?;
    let approvers = ask::approvers(proposal.row(), asking);
    let is_named = approvers.contains(&decider.known_as);
    match decider.via {
        // The passphrase is the operator's own.
        Via::Terminal => Ok(()),
        Via::Token if approvers.is_empty() || is_named => Ok(()),
        Via::Chat if is_named => Ok(()),
        Via::Token | Via::Chat => refused(format!(
            "{} is not among those who may decide about this; relay.approvals.approvers in the \
             configuration names them",
            decider.known_as
        )),
    }
}

/// An earlier draft, to say what changed since.
pub(super) fn draft(tx: &mut Tx<'_>, proposal: &Proposal, version: i64) -> Result<Option<Action>> {
    if version >= proposal.row().version {
        return Ok(None);
    }
    let steps = tx.proposal_steps(proposal.row().row, limits::approvals::PROPOSAL_STEPS_MAX)?;
    let found = steps.into_iter().find(|s| s.version == version && s.kind == ProposalStep::Drafted);
    Ok(found.and_then(|step| serde_json::from_str(&step.action?).ok()))
}

fn check_comment(deciding: &Deciding) -> Result<()> {
    let most = limits::approvals::PROPOSAL_COMMENT_BYTES_MAX;
    let remark = match &deciding.decision {
        Decision::Respond(text) => {
            if text.trim().is_empty() {
                return Err(Error::invalid_hint(
                    "text",
                    "is missing",
                    "say what the agent should change; reject says no without a remark",
                ));
            }
            Some(("text", text))
        }
        _ => deciding.comment.as_ref().map(|comment| ("comment", comment)),
    };
    match remark {
        Some((field, text)) if text.len() > most => {
            Err(Error::invalid(field, format_args!("may have at most {most} bytes")))
        }
        Some((field, text)) if text.contains('\0') => {
            Err(Error::invalid(field, "may not hold NUL"))
        }
        _ => Ok(()),
    }
}

fn send(
    tx: &mut Tx<'_>,
    means: &Means,
    row: &ProposalRow,
    action: &Action,
    now: Timestamp,
) -> Result<OutboxId> {
    let link = tx.link(&row.workspace, &action.link)?.filter(|link| link.is_live);
    let link = link.ok_or_else(|| {
        Error::Conflict(format!(
            "the link {} that this would go through is gone; connect it again with waystation link \
             add, then decide",
            action.link
        ))
    })?;
    let leaving = Leaving {
        workspace: &row.workspace,
        link_row: link.row,
        action,
        thread_row: Some(row.thread_row),
        task: Some(row.task),
        agent: &row.agent,
        proposal: Some(row.row),
        buttons: None,
        replaces: None,
        now,
    };
    seam::enqueue(tx, &means.hub, &leaving)
}

/// What the thread says of a decision.
fn envelope(row: &ProposalRow, action: &Action, decider: &Decider) -> Envelope {
    let comment = row.comment.as_deref().filter(|comment| !comment.trim().is_empty());
    let place = &action.place;
    let words = match row.state {
        ProposalState::Approved => format!("approved: {} goes to {place}", row.id),
        ProposalState::Edited => format!("changed and approved: {} goes to {place}", row.id),
        ProposalState::Rejected => format!("rejected: {} does not go to {place}", row.id),
        _ => String::new(),
    };
    let content = match (words.is_empty(), comment) {
        (true, comment) => comment.unwrap_or_default().to_owned(),
        (false, None) => words,
        (false, Some(comment)) => format!("{words}\n\n{comment}"),
    };
    let mut meta = Map::new();
    meta.insert("task_id".to_owned(), json!(row.task));
    meta.insert(
        "proposal".to_owned(),
        json!({
            "proposal_id": row.id, "version": row.version, "state": row.state,
            "decided_by": row.decided_by, "decided_via": row.decided_via,
            "action_hash": action.hash().to_hex(),
        }),
    );
    Envelope {
        channel: decider.channel.clone(),
        role: envelope_role::HUMAN.to_owned(),
        content,
        meta,
        ..Envelope::default()
    }
}

fn output(row: &ProposalRow, is_new: bool) -> DecidedOutput {
    let outbox_id = AskedAt::of(row).outbox;
    let hash = outbox_id.is_some().then(|| {
        let bytes = row.action_hash.as_slice().try_into().unwrap_or([0; 32]);
        protocol::relay::ActionHash(bytes).to_hex()
    });
    DecidedOutput {
        proposal_id: row.id,
        state: row.state,
        version: row.version,
        decided_by: row.decided_by.clone().unwrap_or_default(),
        decided_via: row.decided_via.clone().unwrap_or_default(),
        decided_at: row.decided.unwrap_or(row.created),
        outbox_id,
        action_hash: hash,
        thread_row: row.thread_row,
        is_new,
        workspace: row.workspace.clone(),
    }
}

/// Tells everybody of a decision that was committed.
pub(super) fn announce(means: &Means, output: &DecidedOutput, via: Via) {
    if !output.is_new {
        return;
    }
    let hub = &means.hub;
    hub.approvals.count(output.state, via);
    hub.approvals.ring();
    hub.live.announce(output.thread_row);
    hub.live.announce_outbox();
    if output.state == ProposalState::Returned {
        hub.live.announce_work(&output.workspace);
    }
}
