//! Looking at what was posted: who is to be woken for it, and asking for those wakes.
//!
//! Looking only reads, so that a flood of posts costs the writer nothing while nobody is to be woken.
//! Asking runs in the writer and looks again at whatever may have changed in between.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::limits::{PAGE_BYTES_MAX, PAGE_MAX, wake as limits};
use protocol::wake::WakePolicy;
use protocol::{MessageKind, ThreadId, ThreadStatus, Timestamp};
use serde::Deserialize;
use store::{MessageRow, ThreadRow, Tx};

use super::life;
use super::policy::{self, Cause, Due, Ear, Hops, News};
use super::request::{self, Means, NewWake, Requested};
use super::standing::Standing;
use crate::clock::fresh_uid;
use crate::error::Result;

/// Somebody to be woken, as far as looking can tell.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    /// Its workspace.
    pub(crate) workspace: String,
    /// The agent.
    pub(crate) agent: String,
    thread_row: i64,
    thread_id: ThreadId,
    /// The newest message that wakes it, or would.
    through_seq: i64,
    cause: Cause,
}

/// A thread, and those in it who could be woken with their policies.
struct Audience {
    thread: ThreadRow,
    agents: Vec<(String, WakePolicy)>,
}

/// What a look at the log found.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// How far it went.
    pub(crate) upto: i64,
    /// Whether there is anybody in any workspace who could ever be woken.
    pub(crate) is_anyone_there: bool,
    /// Who is to be woken.
    pub(crate) candidates: Vec<Candidate>,
}

/// Looks at one portion of the messages after a row and up to another.
pub(crate) fn look(
    tx: &mut Tx<'_>,
    base: &WakePolicy,
    (after, settled): (i64, i64),
    now: Timestamp,
) -> Result<Looked> {
    if !tx.is_anyone_wakeable()? {
        return Ok(Looked { upto: settled, ..Looked::default() });
    }
    let places = tx.log_places(after, settled, limits::WAKE_LOOK_ROWS_MAX)?;
    let is_full = places.len() == limits::WAKE_LOOK_ROWS_MAX;
    let upto = places.last().filter(|_| is_full).map_or(settled, |(row, _)| *row);
    let mut audiences = HashMap::new();
    for thread_row in places.iter().map(|(_, thread_row)| *thread_row).collect::<BTreeSet<_>>() {
        if let Some(audience) = audience(tx, base, thread_row)? {
            audiences.insert(thread_row, audience);
        }
    }
    let mut found = BTreeMap::<(i64, String), Candidate>::new();
    if !audiences.is_empty() {
        let oldest = now.plus_ms(-limits::WAKE_NEWS_MS_MAX);
        for message in tx.log_after(after, places.len())? {
            // What nobody heard in a day is no news; it is still unread.
            let is_news = message.row <= upto && message.created > oldest;
            if let Some(audience) = audiences.get(&message.thread_row).filter(|_| is_news) {
                audience.hear(&message, &mut found);
            }
        }
    }
    Ok(Looked { upto, is_anyone_there: true, candidates: found.into_values().collect() })
}

/// Those in a thread who could be woken and whose policy listens to it, and those to whom it is to be
/// said that the loop breaker holds them: once, however much is posted then.
fn audience(tx: &mut Tx<'_>, base: &WakePolicy, thread_row: i64) -> Result<Option<Audience>> {
    let wakeable = tx.wakeable_participants(thread_row)?;
    if wakeable.is_empty() {
        return Ok(None);
    }
    let Some(access) = tx.thread_by_row(thread_row, "")? else { return Ok(None) };
    let thread = access.thread;
    let mut agents = Vec::new();
    for agent in wakeable {
        let who = (thread.workspace.as_str(), agent.as_str());
        let standing = Standing::find(tx, base, who, Some(thread_row))?;
        let is_heard = match ear(&standing, &thread) {
            Ear::Open => true,
            Ear::Looping => !is_loop_noted(tx, thread_row, &agent)?,
            Ear::Shut => false,
        };
        if is_heard {
            agents.push((agent, standing.policy));
        }
    }
    Ok((!agents.is_empty()).then_some(Audience { thread, agents }))
}

impl Audience {
    /// Notes whom one message wakes. The newest counts, and the best reason.
    fn hear(&self, message: &MessageRow, found: &mut BTreeMap<(i64, String), Candidate>) {
        let moved = Moved::of(message);
        let news = News {
            by: moved.as_ref().map_or(&message.sender, |moved| &moved.by),
            kind: message.kind,
            body: &message.body,
            moves_thread: moved.is_some(),
        };
        for (agent, policy) in &self.agents {
            let Some(cause) = policy::cause(policy, agent, &news) else { continue };
            let candidate =
                found.entry((self.thread.row, agent.clone())).or_insert_with(|| Candidate {
                    workspace: self.thread.workspace.clone(),
                    agent: agent.clone(),
                    thread_row: self.thread.row,
                    thread_id: self.thread.id,
                    through_seq: 0,
                    cause,
                });
            candidate.through_seq = candidate.through_seq.max(message.seq);
            candidate.cause = candidate.cause.max(cause);
        }
    }
}

/// What the hub says of a change of status.
#[derive(Deserialize)]
struct Moved {
    event_type: String,
    by: String,
}

impl Moved {
    fn of(message: &MessageRow) -> Option<Self> {
        let metadata = message.metadata.as_deref().filter(|_| message.kind == MessageKind::System);
        metadata
            .and_then(|text| serde_json::from_str::<Self>(text).ok())
            .filter(|moved| moved.event_type == "status_changed")
    }
}

/// A session of an agent is seen for the first time: it is woken for what was said to the agent in the
/// last day, unless the agent was told.
pub(crate) fn arrived(
    tx: &mut Tx<'_>,
    (workspace, agent): (&str, &str),
    now: Timestamp,
    means: &Means,
) -> Result<()> {
    life::came_back(tx, (workspace, agent), now)?;
    if !means.is_enabled {
        return Ok(());
    }
    let oldest = now.plus_ms(-limits::WAKE_NEWS_MS_MAX);
    let mut unread = tx.unread_threads_of(workspace, agent, PAGE_MAX)?;
    unread.retain(|listed| listed.thread.updated > oldest);
    for listed in unread.into_iter().rev().take(limits::WAKES_OF_ARRIVAL_MAX) {
        let row = listed.thread.row;
        let Some(audience) = audience(tx, &means.policy, row)? else { continue };
        let page = (limits::WAKE_LOOK_ROWS_MAX, PAGE_BYTES_MAX);
        let news = tx.messages_of_others_after(row, listed.last_read_seq, agent, page.0, page.1)?;
        let mut found = BTreeMap::new();
        for message in news.iter().filter(|message| message.created > oldest) {
            audience.hear(message, &mut found);
        }
        if let Some(candidate) = found.remove(&(row, agent.to_owned())) {
            // What failed while nobody was there can be reached now.
            let told = tx.told_through(row, agent)?;
            candidate.ask_beyond(tx, told, now, means)?;
        }
    }
    Ok(())
}

impl Candidate {
    /// Asks for the wake, unless the agent has read that far or was to be woken for it before, or
    /// the thread is no longer one to be woken for.
    pub(crate) fn ask(
        &self,
        tx: &mut Tx<'_>,
        now: Timestamp,
        means: &Means,
    ) -> Result<Option<Requested>> {
        let woken = tx.woken_through(self.thread_row, &self.agent)?;
        self.ask_beyond(tx, woken, now, means)
    }

    /// Asks for the wake, if it is about more than this number.
    fn ask_beyond(
        &self,
        tx: &mut Tx<'_>,
        told_seq: i64,
        now: Timestamp,
        means: &Means,
    ) -> Result<Option<Requested>> {
        let read =
            tx.cursor(self.thread_row, &self.agent)?.map_or(0, |cursor| cursor.last_read_seq);
        if self.through_seq <= read.max(told_seq) {
            return Ok(None);
        }
        let who = (self.workspace.as_str(), self.agent.as_str());
        let standing = Standing::find(tx, &means.policy, who, Some(self.thread_row))?;
        let access = tx.thread_by_row(self.thread_row, &self.agent)?;
        let Some(access) = access.filter(|access| access.is_member) else { return Ok(None) };
        let ear = ear(&standing, &access.thread);
        let due = match ear {
            Ear::Open => standing.due(tx, who, now)?,
            Ear::Looping if is_loop_noted(tx, self.thread_row, &self.agent)? => return Ok(None),
            Ear::Looping => Due { at: now, held: None },
            Ear::Shut => return Ok(None),
        };
        let new = NewWake {
            workspace: &self.workspace,
            thread_row: self.thread_row,
            thread_id: self.thread_id,
            agent: &self.agent,
            through_seq: self.through_seq,
            reason: self.cause.name(),
            asked: None,
            now,
            due: due.at,
            held: due.held.map(policy::Held::name),
            uid: fresh_uid(&*means.entropy, now),
        };
        if ear == Ear::Looping {
            return request::note(tx, &new, policy::LOOP_BREAKER);
        }
        request::request(tx, &new).map(Some)
    }
}

/// Whether posts of a thread wake an agent for which this policy holds.
fn ear(standing: &Standing, thread: &ThreadRow) -> Ear {
    let hops = Hops { agent_turns: thread.agent_turns, is_paused: thread.paused.is_some() };
    if thread.status == ThreadStatus::Closed {
        return Ear::Shut;
    }
    policy::ear(&standing.policy, hops)
}

/// Whether it was said already that the loop breaker holds an agent.
fn is_loop_noted(tx: &mut Tx<'_>, thread_row: i64, agent: &str) -> Result<bool> {
    Ok(tx.newest_why(thread_row, agent)?.as_deref() == Some(policy::LOOP_BREAKER))
}
