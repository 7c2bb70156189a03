//! Where work meets the other parts of the relay: what an agent is given for a turn, what it wants done
//! outside, what it wants remembered, and the documents it cites.

use std::sync::Arc;

use protocol::relay::{Context, Envelope, MemoryUpdate};
use protocol::{Caller, MemoryId, TaskId, Timestamp};
use store::{ThreadRow, Tx};

use super::completion::ActionWish;
use crate::call::Call;
use crate::error::Result;
use crate::hub::Hub;
use crate::relay::approvals::{self, ActionDraft, Means, Submitted, SubmittedAction};
use crate::relay::{context, hooks};

/// Something that an agent wants done outside.
pub(super) struct Submission<'a> {
    pub(super) thread: &'a ThreadRow,
    pub(super) task: TaskId,
    pub(super) work_row: i64,
    pub(super) agent: &'a str,
    pub(super) wish: &'a ActionWish,
    pub(super) now: Timestamp,
}

/// Submits an action: it waits for a human, or is on its way. Nothing leaves without that.
pub(super) fn submit(
    tx: &mut Tx<'_>,
    means: &Means,
    submission: &Submission<'_>,
) -> Result<Submitted> {
    let Submission { thread, wish, .. } = submission;
    let ActionWish { link, to, text, retrieval_refs, .. } = (*wish).clone();
    let draft = ActionDraft { link, to, text, retrieval_refs };
    let action = SubmittedAction {
        thread,
        task: submission.task,
        work: Some(submission.work_row),
        agent: submission.agent,
        draft: &draft,
        why: wish.why.as_deref().unwrap_or_default(),
        now: submission.now,
    };
    approvals::submit(tx, means, &action)
}

/// After the commit: whoever decides or sends is told.
pub(super) fn announce(hub: &Arc<Hub>) {
    hub.approvals.ring();
    hub.live.announce_outbox();
}

/// Remembers what a reply asks to be remembered.
pub(super) fn remember(
    tx: &mut Tx<'_>,
    hub: &Hub,
    thread: &ThreadRow,
    caller: &Caller,
    update: &MemoryUpdate,
    now: Timestamp,
) -> Result<()> {
    let id = MemoryId(hub.new_uid(now));
    hooks::remember(tx, hub, &hooks::Remembered { thread, update, caller, id, now })
}

/// The layers for a turn, and what they cost, which stands in the envelope's `meta.budget`.
pub(super) async fn context(
    call: &Call,
    thread: &ThreadRow,
    seq: i64,
    envelope: &mut Envelope,
) -> Result<Option<Context>> {
    // What the sender gave as context has gone into the layers, as far as it may.
    envelope.context = None;
    let assembled = context::of(&call.hub, thread, seq, call.now()).await?;
    envelope.meta.insert("budget".to_owned(), serde_json::json!(assembled.budget));
    Ok(Some(assembled.context))
}
