//! Asking for a wake. There is one open wake for each thread and agent, so asking again while it waits
//! makes it speak of more, and asking again after the agent was told waits for its turn to end.

use std::sync::Arc;

use protocol::id::Uid;
use protocol::wake::WakePolicy;
use protocol::{Role, ThreadId, Timestamp, WakeId, WakeState};
use store::{Tx, WakeRow};

use super::life;
use super::policy::Held;
use super::standing::Standing;
use crate::clock::{Entropy, fresh_uid};
use crate::error::{Error, Result};

/// A wake to be asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewWake<'a> {
    /// The workspace.
    pub(crate) workspace: &'a str,
    /// The thread's row.
    pub(crate) thread_row: i64,
    /// The thread.
    pub(crate) thread_id: ThreadId,
    /// The agent to be reached.
    pub(crate) agent: &'a str,
    /// The newest message it is about.
    pub(crate) through_seq: i64,
    /// What it is for.
    pub(crate) reason: &'a str,
    /// Who asks; nobody where a post does.
    pub(crate) asked: Option<Asked<'a>>,
    /// When.
    pub(crate) now: Timestamp,
    /// Not before then.
    pub(crate) due: Timestamp,
    /// Why not at once.
    pub(crate) held: Option<&'a str>,
    /// What its id is made of.
    pub(crate) uid: Uid,
}

/// Who asks for a wake, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked<'a> {
    /// Who.
    pub(crate) by: &'a str,
    /// That one's role.
    pub(crate) role: Role,
    /// That one's own words, cleaned.
    pub(crate) prompt: Option<&'a str>,
    /// What an operator overrides, and why: JSON.
    pub(crate) force: Option<&'a str>,
    /// Whether it fails at once when a human types.
    pub(crate) fail_on_human: bool,
}

/// What became of the request. Ring [`super::Wakes::ring`] for the agent after the commit, unless it
/// was told already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Requested {
    /// There is a new wake.
    New(WakeId),
    /// The one that waits is about this too now.
    Raised(WakeId),
    /// The agent was told and its turn is not over; what it has not read then gets a wake by itself.
    AlreadyTold(WakeId),
    /// The agent is not woken: this wake has ended already, and says why.
    Noted(WakeId),
}

impl Requested {
    /// The wake.
    pub(crate) fn id(self) -> WakeId {
        let (Self::New(id) | Self::Raised(id) | Self::AlreadyTold(id) | Self::Noted(id)) = self;
        id
    }
}

/// What wakes are made with that follow from something else.
#[derive(Clone)]
pub(crate) struct Means {
    /// Where ids come from.
    pub(crate) entropy: Arc<dyn Entropy>,
    /// The policy of an agent for which nobody has set one.
    pub(crate) policy: WakePolicy,
    /// Whether posts wake anybody.
    pub(crate) is_enabled: bool,
}

/// How often a request looks again when another hub asks for the same at the same moment.
const TRIES_MAX: usize = 3;

/// Asks for a wake.
pub(crate) fn request(tx: &mut Tx<'_>, new: &NewWake<'_>) -> Result<Requested> {
    for _ in 0..TRIES_MAX {
        match tx.lock_open_wake(new.thread_row, new.agent)? {
            Some(open) if open.state < WakeState::HandedToHost => return raise(tx, open, new),
            Some(mut told) => {
                let is_new = new.asked.is_some() || new.through_seq > told.through_seq;
                if !is_new || !life::is_over(tx, &told, new.now)? {
                    return wait_for_its_end(tx, told, new);
                }
                life::end_told(tx, &mut told, new.now)?;
            }
            None => {}
        }
        let wake = fresh(new);
        if tx.insert_wake(&wake)? {
            return Ok(Requested::New(wake.id));
        }
    }
    Err(Error::Overloaded)
}

/// Says why an agent is not woken, for all to see: by a wake that has ended already, or on the one that
/// the agent was told of and that is still open. One that waits will speak of this too.
pub(super) fn note(tx: &mut Tx<'_>, new: &NewWake<'_>, why: &str) -> Result<Option<Requested>> {
    if let Some(mut open) = tx.lock_open_wake(new.thread_row, new.agent)? {
        if open.state >= WakeState::HandedToHost {
            open.why = Some(why.to_owned());
            tx.update_wake(&open)?;
        }
        return Ok(None);
    }
    let wake = fresh(new);
    if !tx.insert_wake(&wake)? {
        return Ok(None);
    }
    let Some(mut noted) = tx.lock_wake(wake.id)? else { return Ok(None) };
    life::end(&mut noted, WakeState::Cancelled, Some(why), new.now);
    tx.update_wake(&noted)?;
    Ok(Some(Requested::Noted(noted.id)))
}

/// A wake about what came after an agent had been told of another one, which has ended.
pub(super) fn succeed(
    tx: &mut Tx<'_>,
    ended: &WakeRow,
    now: Timestamp,
    means: &Means,
) -> Result<()> {
    let who = (ended.workspace.as_str(), ended.agent.as_str());
    let standing = Standing::find(tx, &means.policy, who, Some(ended.thread_row))?;
    let due = standing.due(tx, who, now)?;
    let new = NewWake {
        workspace: &ended.workspace,
        thread_row: ended.thread_row,
        thread_id: ended.thread_id,
        agent: &ended.agent,
        through_seq: ended.again_seq.unwrap_or(ended.through_seq),
        reason: &ended.reason,
        asked: None,
        now,
        due: due.at,
        held: due.held.map(Held::name),
        uid: fresh_uid(&*means.entropy, now),
    };
    request(tx, &new).map(drop)
}

/// The wake that waits is about this too.
fn raise(tx: &mut Tx<'_>, mut open: WakeRow, new: &NewWake<'_>) -> Result<Requested> {
    open.through_seq = open.through_seq.max(new.through_seq);
    if let Some(asked) = &new.asked {
        if !open.asked && open.lease.is_some() && open.handing.is_none() {
            // Whoever has it was told that nobody asked, and might give up: it is given out anew.
            open.attempt += 1;
            open.lease = None;
        }
        open.asked = true;
        asked.by.clone_into(&mut open.asked_by);
        asked.role.name().clone_into(&mut open.asked_role);
        new.reason.clone_into(&mut open.reason);
        open.prompt = asked.prompt.map(str::to_owned);
        open.force = asked.force.map(str::to_owned).or(open.force);
        open.fail_on_human = asked.fail_on_human;
    }
    // Who waits for a human, a turn or the next attempt goes on waiting, unless that is overridden, or
    // somebody asks who may start a session where a post may not.
    let is_absent = open.why.as_deref().is_some_and(life::is_absence);
    let may_start = is_absent && new.asked.is_some();
    let is_held = open.state == WakeState::Deferred && open.force.is_none() && !may_start;
    if !is_held {
        open.due = open.due.min(new.due);
    }
    tx.update_wake(&open)?;
    Ok(Requested::Raised(open.id))
}

/// The agent was told and may still be at it.
fn wait_for_its_end(tx: &mut Tx<'_>, mut told: WakeRow, new: &NewWake<'_>) -> Result<Requested> {
    if new.through_seq > told.through_seq.max(told.again_seq.unwrap_or(0)) {
        told.again_seq = Some(new.through_seq);
        tx.update_wake(&told)?;
    }
    Ok(Requested::AlreadyTold(told.id))
}

fn fresh(new: &NewWake<'_>) -> WakeRow {
    let asked = new.asked;
    WakeRow {
        row: 0,
        id: WakeId(new.uid),
        workspace: new.workspace.to_owned(),
        thread_row: new.thread_row,
        thread_id: new.thread_id,
        agent: new.agent.to_owned(),
        state: WakeState::Requested,
        reason: new.reason.to_owned(),
        asked: asked.is_some(),
        asked_by: asked.map_or_else(String::new, |asked| asked.by.to_owned()),
        asked_role: asked.map_or_else(String::new, |asked| asked.role.name().to_owned()),
        prompt: asked.and_then(|asked| asked.prompt).map(str::to_owned),
        force: asked.and_then(|asked| asked.force).map(str::to_owned),
        fail_on_human: asked.is_some_and(|asked| asked.fail_on_human),
        through_seq: new.through_seq,
        again_seq: None,
        requested: new.now,
        due: new.due,
        attempt: 0,
        failures: 0,
        host: None,
        lease: None,
        session: None,
        lane: None,
        handing: None,
        why: new.held.map(str::to_owned),
        deferred: None,
        handed: None,
        turn: None,
        ended: None,
    }
}
