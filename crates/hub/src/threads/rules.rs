//! What the thread operations share: who may enter, who one is, and how a thread moves.

use protocol::caller::HUB_AGENT;
use protocol::thread::{Block, Dispute, Transition, TransitionRefused};
use protocol::validate::Invalid;
use protocol::{Caller, MessageKind, ThreadId, ThreadStatus, Timestamp, Trust, limits};
use store::{FoldRow, NewMessage, ThreadAccess, ThreadRow, Tx};

use super::summary::{Entry, Fold};
use crate::call::Call;
use crate::error::{Checked, Error, Result};

/// A payload field that names the caller must agree with the token.
pub(crate) fn claim(field: &'static str, hint: Option<&str>, verified: &str) -> Result<()> {
    match hint {
        Some(hint) if hint != verified => Err(Error::ClaimMismatch { field }),
        _ => Ok(()),
    }
}

/// A payload field that names the workspace must name the caller's.
pub(crate) fn workspace(hint: Option<&str>, caller: &Caller) -> Result<()> {
    match hint {
        Some(hint) if hint != caller.workspace_id => Err(Error::OtherWorkspace),
        _ => Ok(()),
    }
}

/// Reads a thread id. What is no id names no thread.
pub(crate) fn thread_id(text: &str) -> Result<ThreadId> {
    text.parse().map_err(|_| Error::NotFound { what: "thread" })
}

/// The thread, if the caller may do this in it.
pub(crate) fn enter(
    tx: &mut Tx<'_>,
    id: ThreadId,
    caller: &Caller,
    act: &'static str,
) -> Result<ThreadRow> {
    let access = tx.thread(id, &caller.agent_id)?;
    admit(access, caller, act)
}

/// The same, and nobody else may change it until the commit.
pub(crate) fn lock(
    tx: &mut Tx<'_>,
    id: ThreadId,
    caller: &Caller,
    act: &'static str,
) -> Result<ThreadRow> {
    let access = tx.lock_thread(id, &caller.agent_id)?;
    admit(access, caller, act)
}

fn admit(access: Option<ThreadAccess>, caller: &Caller, act: &'static str) -> Result<ThreadRow> {
    let Some(ThreadAccess { thread, is_member }) = access else { return Err(NO_THREAD) };
    may_enter(&thread, is_member, caller, act)?;
    Ok(thread)
}

const NO_THREAD: Error = Error::NotFound { what: "thread" };

/// Whether a caller may do something in a thread.
pub(crate) fn may_enter(
    thread: &ThreadRow,
    is_member: bool,
    caller: &Caller,
    act: &'static str,
) -> Result<()> {
    if thread.workspace != caller.workspace_id {
        // A thread of another workspace answers exactly like a missing one.
        Err(NO_THREAD)
    } else if is_member || caller.role.has_authority() {
        Ok(())
    } else {
        Err(Error::NotMember { act })
    }
}

/// The thread's fold up to its head. Costs what is new since it was last kept.
pub(crate) fn fold(tx: &mut Tx<'_>, thread: &ThreadRow) -> Result<Fold> {
    let kept = kept_fold(tx, thread)?;
    bring_forward(tx, thread, kept)
}

/// The thread's fold as it was last kept; an empty one where there is none that this version can read.
pub(crate) fn kept_fold(tx: &mut Tx<'_>, thread: &ThreadRow) -> Result<Fold> {
    let row = tx.fold(thread.row)?;
    Ok(row.map_or_else(Fold::default, |row| Fold::from_json(&row.state)))
}

/// Takes in all that came after the fold was kept.
pub(crate) fn bring_forward(tx: &mut Tx<'_>, thread: &ThreadRow, mut fold: Fold) -> Result<Fold> {
    while fold.through_seq() < thread.head_seq {
        let page =
            tx.messages_after(thread.row, fold.through_seq(), 500, limits::PAGE_BYTES_MAX)?;
        if page.is_empty() {
            break;
        }
        for message in &page {
            fold.apply(&Entry {
                seq: message.seq,
                message_id: message.id()?,
                sender: &message.sender,
                kind: message.kind,
                body: &message.body,
                metadata: message.metadata.as_deref(),
                in_reply_to: message.reply_id()?,
            });
        }
    }
    Ok(fold)
}

/// Keeps a fold for the next one who asks.
pub(crate) fn keep_fold(tx: &mut Tx<'_>, thread: &ThreadRow, fold: &Fold) -> Result<()> {
    let row = FoldRow { through_seq: fold.through_seq(), state: fold.to_json() };
    Ok(tx.set_fold(thread.row, &row)?)
}

/// Brings a fold that is far behind forward before a change needs it, so that the writer, which serves
/// everyone, never reads through a long thread.
pub(crate) async fn warm_fold(call: &Call, id: ThreadId, act: &'static str) -> Result<()> {
    let caller = call.shared_caller();
    let behind = call
        .read(move |tx| {
            let thread = enter(tx, id, &caller, act)?;
            let kept = kept_fold(tx, &thread)?;
            if thread.head_seq - kept.through_seq() < limits::SUMMARY_WARM_AFTER {
                return Ok(None);
            }
            let fold = bring_forward(tx, &thread, kept)?;
            Ok(Some((thread, fold)))
        })
        .await?;
    match behind {
        Some((thread, fold)) => call.hub.store.write(move |tx| keep_fold(tx, &thread, &fold)).await,
        None => Ok(()),
    }
}

/// Who moves a thread, where to and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move<'a> {
    pub(crate) to: ThreadStatus,
    pub(crate) reason: &'a str,
    pub(crate) by: &'a Caller,
    pub(crate) at: Timestamp,
}

impl Move<'_> {
    /// The reason behind a colon, where there is one.
    fn because(&self) -> String {
        if self.reason.is_empty() { String::new() } else { format!(": {}", self.reason) }
    }

    /// The metadata of an event by which the thread tells of it.
    fn event(&self, event_type: &str) -> String {
        let metadata = serde_json::json!({
            "event_type": event_type,
            "reason": self.reason,
            "by": self.by.agent_id,
            "role": self.by.role,
        });
        metadata.to_string()
    }
}

/// Whether the caller may move the thread there, and what that amounts to.
pub(crate) fn check_move(
    tx: &mut Tx<'_>,
    thread: &ThreadRow,
    step: Move<'_>,
) -> Result<Transition> {
    let ends = matches!(step.to, ThreadStatus::Resolved | ThreadStatus::Closed);
    let dispute = if ends { fold(tx, thread)?.dispute() } else { Dispute::Settled };
    let is_own = thread.blocked_by.as_ref() == Some(&step.by.agent_id);
    let block = if is_own { Block::Own } else { Block::OfOthers };
    thread
        .status
        .change_to(step.to, step.by.role, dispute, block)
        .map_err(|refused| explain(thread, refused))
}

/// An override needs a reason; where there is none, the error says what is wrong with which field.
pub(crate) fn require_reason(
    kind: Transition,
    step: Move<'_>,
    (field, problem): (&str, &str),
) -> Result<()> {
    if kind != Transition::Override || !step.reason.trim().is_empty() {
        return Ok(());
    }
    Err(Error::invalid_hint(
        field,
        problem,
        "overriding a disputed, blocked or closed thread needs a reason, which is audited",
    ))
}

/// What the audit trail says of a move.
pub(crate) fn move_detail(step: Move<'_>, kind: Transition, metadata: Option<&str>) -> String {
    let detail = serde_json::json!({
        "to": step.to,
        "reason": step.reason,
        "override": kind == Transition::Override,
        "metadata": metadata,
    });
    detail.to_string()
}

/// Why a thread may not be moved, and who could.
fn explain(thread: &ThreadRow, refused: TransitionRefused) -> Error {
    match refused {
        TransitionRefused::Impossible { from, to } => Error::ImpossibleTransition { from, to },
        TransitionRefused::NeedsAuthority { .. } => {
            Error::InsufficientAuthority(refused.to_string())
        }
        TransitionRefused::BlockOfOthers => {
            Error::BlockOfOthers { blocked_by: thread.blocked_by.clone() }
        }
    }
}

/// Somebody else blocks a thread that is blocked already: the block is nobody's alone any more, and only
/// authority lifts it. Says so in the thread; the caller writes it back if there was anything to say.
pub(crate) fn share_block(tx: &mut Tx<'_>, thread: &mut ThreadRow, step: Move<'_>) -> Result<bool> {
    let both = (thread.status, step.to) == (ThreadStatus::Blocked, ThreadStatus::Blocked);
    let is_anothers = thread.blocked_by.as_ref().is_some_and(|by| *by != step.by.agent_id);
    if !both || !is_anothers {
        return Ok(false);
    }
    thread.blocked_by = None;
    let body = format!("{} blocks this thread too{}", step.by.agent_id, step.because());
    say(tx, thread, step.at, &body, &step.event("block_shared"))?;
    Ok(true)
}

/// Moves the thread and says so in it. The caller writes the thread back.
pub(crate) fn apply_move(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    step: Move<'_>,
    kind: Transition,
) -> Result<()> {
    let from = thread.status;
    thread.status = step.to;
    thread.blocked_by = (step.to == ThreadStatus::Blocked).then(|| step.by.agent_id.clone());
    let (by, because) = (&step.by.agent_id, step.because());
    let body = format!("{by} set this thread from {from} to {}{because}", step.to);
    let metadata = serde_json::json!({
        "event_type": "status_changed",
        "from": from,
        "to": step.to,
        "reason": step.reason,
        "override": kind == Transition::Override,
        "by": step.by.agent_id,
        "role": step.by.role,
    });
    say(tx, thread, step.at, &body, &metadata.to_string())
}

/// The hub's own word in a thread. The caller writes the thread back.
pub(crate) fn say(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    at: Timestamp,
    body: &str,
    metadata: &str,
) -> Result<()> {
    thread.head_seq += 1;
    thread.updated = thread.updated.max(at);
    Ok(tx.insert_message(&NewMessage {
        thread_row: thread.row,
        seq: thread.head_seq,
        // Time never runs backwards within a thread, whatever the clock does.
        created: thread.updated,
        kind: MessageKind::System,
        trust: Trust::Hub,
        sender: HUB_AGENT,
        session: "hub",
        body,
        metadata: Some(metadata),
        reply_to: None,
        idempotency: None,
        status_after: thread.status,
    })?)
}

/// The loop guard: agents that talk for too long without a human are paused, visibly. The caller writes
/// the thread back.
pub(crate) fn count_turn(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    (by, at): (&Caller, Timestamp),
    turns_max: i64,
) -> Result<()> {
    if by.role.is_human() {
        begin_anew(thread);
        return Ok(());
    }
    if thread.last_speaker.as_deref() == Some(&*by.agent_id) {
        return Ok(());
    }
    thread.agent_turns += 1;
    thread.last_speaker = Some(by.agent_id.clone());
    if turns_max == 0 || thread.agent_turns <= turns_max {
        return Ok(());
    }
    thread.paused = Some(at);
    let body = format!(
        "paused: agents took {} turns without a human; a message of an operator continues",
        thread.agent_turns
    );
    let metadata = serde_json::json!({
        "event_type": "thread_paused", "agent_turns": thread.agent_turns,
    });
    say(tx, thread, at, &body, &metadata.to_string())
}

/// Somebody with authority lets agents go on that the loop guard holds, and the thread says so. The caller
/// writes the thread back.
pub(crate) fn continue_thread(
    tx: &mut Tx<'_>,
    thread: &mut ThreadRow,
    step: Move<'_>,
) -> Result<()> {
    begin_anew(thread);
    let body = format!("{} lets this thread go on{}", step.by.agent_id, step.because());
    say(tx, thread, step.at, &body, &step.event("thread_continued"))
}

/// The loop guard counts from the beginning.
fn begin_anew(thread: &mut ThreadRow) {
    thread.agent_turns = 0;
    thread.paused = None;
    thread.last_speaker = None;
}

/// The names of agents in a list, each checked, and without doubles.
pub(crate) fn agent_names(
    field: &str,
    mut names: Vec<String>,
    check: fn(&str) -> std::result::Result<(), Invalid>,
) -> Result<Vec<String>> {
    for (index, name) in names.iter().enumerate() {
        check(name).field(&format!("{field}[{index}]"))?;
    }
    names.sort();
    names.dedup();
    if names.len() > limits::PARTICIPANTS_MAX {
        return Err(Error::invalid(
            field,
            format_args!("must name at most {} agents", limits::PARTICIPANTS_MAX),
        ));
    }
    Ok(names)
}
