//! The life of a wake: every step it can take, and what ends it.

use protocol::limits::wake as limits;
use protocol::{SessionStatus, Timestamp, WakeState};
use store::{SessionRow, Tx, WakeRow};

use super::request::{self, Means};
use super::settings::WakeSettings;
use crate::error::Result;

/// Why a wake waits for a human.
pub(crate) const HUMAN: &str = "human_input_busy";
/// Why a wake waits for a turn to end.
pub(crate) const BUSY: &str = "turn_running";

/// Ends a wake. The caller writes it back.
pub(crate) fn end(wake: &mut WakeRow, state: WakeState, why: Option<&str>, now: Timestamp) {
    wake.state = state;
    wake.why = why.map(str::to_owned);
    wake.ended = Some(now);
    wake.lease = None;
    wake.handing = None;
}

/// Gives a wake to a host or a waiting call: a new attempt, to which older ones must give way.
pub(crate) fn give(wake: &mut WakeRow, host: Option<&str>, until: Option<Timestamp>) {
    wake.attempt += 1;
    wake.host = host.map(str::to_owned).or_else(|| wake.host.take());
    wake.lease = until;
}

/// A wake waits for a human or a turn.
pub(crate) fn defer(wake: &mut WakeRow, why: &str, until: Timestamp, now: Timestamp) {
    wake.state = WakeState::Deferred;
    wake.why = Some(why.to_owned());
    wake.due = until;
    wake.handing = None;
    if why == HUMAN {
        wake.deferred = wake.deferred.or(Some(now));
    }
}

/// The agent's program has the notice.
pub(crate) fn hand(wake: &mut WakeRow, now: Timestamp) {
    wake.state = WakeState::HandedToHost;
    wake.handed = Some(now);
    wake.handing = None;
    wake.why = None;
    wake.lease = None;
}

/// The agent's program has begun a turn because of a wake.
pub(crate) fn start_turn(wake: &mut WakeRow, now: Timestamp) {
    if wake.state < WakeState::HandedToHost {
        hand(wake, now);
    }
    wake.state = WakeState::TurnStarted;
    wake.turn = wake.turn.or(Some(now));
}

/// Why a host found nobody to hand a wake to, and no way to get anybody.
const NOBODY_THERE: [&str; 4] =
    ["nothing_to_resume", "no_session", "resume_not_allowed", "no_start_command"];

/// Whether this says that nobody is there.
pub(crate) fn is_absence(why: &str) -> bool {
    NOBODY_THERE.contains(&why)
}

/// Nobody is there, and nobody asked for this wake but a post: it waits, for all to see, until its agent
/// comes back. It is looked at again ever more seldom, for a return that nobody heard of.
pub(crate) fn wait_for_return(wake: &mut WakeRow, why: &str, now: Timestamp) {
    let waited_ms = now.ms_since(wake.requested);
    let pause_ms = waited_ms.clamp(limits::WAKE_ABSENCE_MS_MIN, limits::WAKE_ABSENCE_MS_MAX);
    defer(wake, why, now.plus_ms(pause_ms), now);
    wake.through_seq = wake.through_seq.max(wake.again_seq.take().unwrap_or(0));
    (wake.host, wake.lease, wake.lane) = (None, None, None);
}

/// An agent is there again: what waited for it is due.
pub(crate) fn returned(
    tx: &mut Tx<'_>,
    (workspace, agent): (&str, &str),
    now: Timestamp,
) -> Result<()> {
    for mut wake in tx.lock_open_wakes_of(workspace, agent, limits::WAKES_OPEN_MAX)? {
        let waited =
            wake.state == WakeState::Deferred && wake.why.as_deref().is_some_and(is_absence);
        if waited && wake.due > now {
            wake.due = now;
            tx.update_wake(&wake)?;
        }
    }
    Ok(())
}

/// An attempt came to nothing: there is another one after a while, unless that is of no use or was tried
/// often enough.
pub(crate) fn fail(
    wake: &mut WakeRow,
    why: &str,
    is_final: bool,
    settings: &WakeSettings,
    now: Timestamp,
) {
    wake.failures += 1;
    if is_final || wake.failures >= settings.attempts_max {
        return end(wake, WakeState::Failed, Some(why), now);
    }
    let place = usize::try_from(wake.failures - 1).unwrap_or(usize::MAX);
    let longest = limits::WAKE_BACKOFF_MS.last().copied().unwrap_or(0);
    let pause_ms = limits::WAKE_BACKOFF_MS.get(place).copied().unwrap_or(longest);
    defer(wake, why, now.plus_ms(pause_ms), now);
    // What came meanwhile is part of the next attempt; nobody has it until then.
    wake.through_seq = wake.through_seq.max(wake.again_seq.take().unwrap_or(0));
    (wake.host, wake.lease, wake.lane) = (None, None, None);
    // The next attempt waits for a human as long as the first one did.
    (wake.handed, wake.turn, wake.deferred) = (None, None, None);
}

/// An agent has acknowledged a thread up to a message: whatever it was to be woken for until then is
/// read, and what came after it was told gets a wake of its own. Answers whether anything changed.
pub(crate) fn acknowledged(
    tx: &mut Tx<'_>,
    (thread_row, agent): (i64, &str),
    seq: i64,
    now: Timestamp,
    means: &Means,
) -> Result<bool> {
    let Some(mut wake) = tx.lock_open_wake(thread_row, agent)? else { return Ok(false) };
    if wake.through_seq > seq {
        return Ok(false);
    }
    end(&mut wake, WakeState::Read, None, now);
    tx.update_wake(&wake)?;
    if wake.again_seq.is_some_and(|again| again > seq) {
        request::succeed(tx, &wake, now, means)?;
    }
    Ok(true)
}

/// A session reports that its turn is over: wakes that waited for that are due, and messages that came
/// during the turn get a wake of their own. Answers whether anything changed.
pub(crate) fn turn_ended(
    tx: &mut Tx<'_>,
    (workspace, agent): (&str, &str),
    now: Timestamp,
    means: &Means,
) -> Result<bool> {
    let mut changed = false;
    for mut wake in tx.lock_open_wakes_of(workspace, agent, limits::WAKES_OPEN_MAX)? {
        // A host's attempt waits for the turn; one that failed, or waits for a human, has a time of its
        // own.
        let waited = wake.state == WakeState::Deferred
            && wake.handing.is_none()
            && wake.host.is_some()
            && wake.why.as_deref() != Some(HUMAN);
        if waited {
            wake.due = wake.due.min(now);
            wake.lease = None;
            tx.update_wake(&wake)?;
            changed = true;
        } else if wake.again_seq.is_some() && is_over(tx, &wake, now)? {
            changed |= supersede(tx, wake, now, means)?;
        }
    }
    Ok(changed)
}

/// A session of an agent is seen for the first time: what failed before may work now, and need not wait.
pub(crate) fn came_back(
    tx: &mut Tx<'_>,
    (workspace, agent): (&str, &str),
    now: Timestamp,
) -> Result<()> {
    for mut wake in tx.lock_open_wakes_of(workspace, agent, limits::WAKES_OPEN_MAX)? {
        let has_failed = wake.state == WakeState::Deferred
            && (wake.failures > 0 || wake.why.as_deref().is_some_and(is_absence))
            && wake.host.is_none()
            && wake.why.as_deref() != Some(HUMAN);
        if has_failed && wake.due > now {
            wake.due = now;
            tx.update_wake(&wake)?;
        }
    }
    Ok(())
}

/// A wake whose agent was told and did not acknowledge gives way to one about what came since, if there
/// is still something unread.
pub(crate) fn supersede(
    tx: &mut Tx<'_>,
    mut wake: WakeRow,
    now: Timestamp,
    means: &Means,
) -> Result<bool> {
    end_told(tx, &mut wake, now)?;
    let read = tx.cursor(wake.thread_row, &wake.agent)?.map_or(0, |cursor| cursor.last_read_seq);
    if wake.again_seq.is_some_and(|again| again > read) {
        request::succeed(tx, &wake, now, means)?;
    }
    Ok(true)
}

/// Ends a wake that was told and never acknowledged.
pub(crate) fn end_told(tx: &mut Tx<'_>, wake: &mut WakeRow, now: Timestamp) -> Result<()> {
    end(wake, WakeState::Cancelled, Some("the turn ended without ack_read; superseded"), now);
    Ok(tx.update_wake(wake)?)
}

/// Whether the turn that a wake brought about is over, as far as anybody can know: its session said so
/// since, or it has been far too long.
pub(crate) fn is_over(tx: &mut Tx<'_>, wake: &WakeRow, now: Timestamp) -> Result<bool> {
    let told = wake.turn.or(wake.handed).unwrap_or(wake.requested);
    if told.plus_ms(limits::WAKE_TOLD_MS_MAX) <= now {
        return Ok(true);
    }
    // What was handed over may still lie in the program's queue.
    let since = match wake.state {
        WakeState::TurnStarted => told,
        _ => told.plus_ms(limits::WAKE_HANDED_MS_MAX),
    };
    let says_so = |session: &SessionRow| {
        session.status != SessionStatus::Active && session.heartbeat >= since
    };
    let named = match &wake.session {
        Some(session) => tx.session(&wake.workspace, &wake.agent, session)?,
        None => None,
    };
    match named {
        Some(session) => Ok(says_so(&session)),
        None => Ok(tx.sessions_of(&wake.workspace, &wake.agent, 1)?.first().is_some_and(says_so)),
    }
}

/// Takes back every open wake about a thread, of one agent or of all; answers whom it concerned.
pub(crate) fn cancel_about(
    tx: &mut Tx<'_>,
    thread_row: i64,
    agents: Option<&[&str]>,
    why: &str,
    now: Timestamp,
) -> Result<Vec<String>> {
    let mut cancelled = Vec::new();
    for mut wake in tx.lock_open_wakes_about(thread_row, limits::WAKES_OPEN_MAX)? {
        if agents.is_none_or(|agents| agents.contains(&wake.agent.as_str())) {
            end(&mut wake, WakeState::Cancelled, Some(why), now);
            tx.update_wake(&wake)?;
            cancelled.push(wake.agent);
        }
    }
    Ok(cancelled)
}
