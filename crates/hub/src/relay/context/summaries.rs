//! Having a model write session layers, in the background: few at a time, one for each thread, and the
//! newest wish of a thread only.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use connector_api::model::Prompt;
use connector_api::session::SessionLayer;
use parking_lot::Mutex;
use protocol::limits::relay::SESSION_LAYER_BYTES_MAX;
use protocol::limits::session as limits;
use protocol::{ThreadId, Timestamp};
use store::ThreadRow;
use tokio::time::timeout;

use super::material::Turn;
use super::sessions::{Sessions, keep};
use super::{points, session};
use crate::hub::Hub;

/// What a model is asked to write.
#[derive(Default)]
pub(crate) struct Summaries(Mutex<State>);

#[derive(Default)]
struct State {
    waiting: VecDeque<Wanted>,
    /// Threads that a model writes about, and the digest of the turns it was shown.
    running: HashMap<ThreadId, String>,
    /// Threads that a model failed, and until when they are left alone.
    resting: HashMap<ThreadId, Timestamp>,
}

/// A summary that is wanted.
pub(crate) struct Wanted {
    thread: ThreadId,
    row: i64,
    /// The layer without its words.
    layer: SessionLayer,
    prompt: Prompt,
    /// What decisions name.
    named: Vec<String>,
}

impl Sessions {
    /// The wish for a model's summary of these turns.
    pub(super) fn wanted(&self, thread: &ThreadRow, turns: &[Turn], now: Timestamp) -> Wanted {
        let shown = points::shown(turns, now);
        // The half of it, as in every summary; the other half is for words.
        let named = session::named_in_decisions(shown, SESSION_LAYER_BYTES_MAX / 2);
        Wanted {
            thread: thread.id,
            row: thread.row,
            layer: self.layer(shown, String::new(), "", now),
            prompt: points::prompt(shown, &named),
            named,
        }
    }

    /// Asks for a summary, unless the thread is left alone, too many wait, or nobody could keep it.
    pub(super) fn want(&self, wanted: Wanted, now: Timestamp) {
        if self.can_keep() && self.summaries.add(wanted, now) {
            self.bell.notify_one();
        }
    }
}

impl Summaries {
    fn add(&self, wanted: Wanted, now: Timestamp) -> bool {
        let mut state = self.0.lock();
        let is_resting = state.resting.get(&wanted.thread).is_some_and(|until| now < *until);
        let is_running = state.running.get(&wanted.thread) == Some(&wanted.layer.turns);
        if is_resting || is_running {
            return false;
        }
        if let Some(there) = state.waiting.iter_mut().find(|there| there.thread == wanted.thread) {
            *there = wanted;
            return true;
        }
        if state.waiting.len() >= limits::SESSION_SUMMARIES_WAITING_MAX {
            return false;
        }
        state.waiting.push_back(wanted);
        true
    }

    /// The next summary that may be begun; it runs until it was [ended](Self::end).
    pub(crate) fn next(&self) -> Option<Wanted> {
        let mut state = self.0.lock();
        let State { waiting, running, .. } = &mut *state;
        let index = waiting.iter().position(|wanted| !running.contains_key(&wanted.thread))?;
        let wanted = waiting.remove(index)?;
        running.insert(wanted.thread, wanted.layer.turns.clone());
        Some(wanted)
    }

    fn end(&self, thread: ThreadId, has_failed: bool, now: Timestamp) {
        let mut state = self.0.lock();
        state.running.remove(&thread);
        if !has_failed {
            return;
        }
        if state.resting.len() >= limits::SESSION_SUMMARY_PAUSES_MAX {
            state.resting.clear();
        }
        state.resting.insert(thread, now.plus_ms(limits::SESSION_SUMMARY_PAUSE_MS));
        // What was asked for meanwhile would fail as well.
        state.waiting.retain(|wanted| wanted.thread != thread);
    }
}

/// Has the model write a summary, and keeps it if it can be believed.
pub(crate) async fn carry_out(hub: Arc<Hub>, wanted: Wanted) {
    let thread = wanted.thread;
    let outcome = write(&hub, wanted).await;
    hub.metrics.count(
        "waystation_session_summaries_total",
        "Session layers that a model was asked for, by outcome.",
        &[("outcome", outcome)],
        1,
    );
    hub.sessions.summaries.end(thread, outcome != WRITTEN, hub.now());
}

/// The outcome of a summary that is kept.
const WRITTEN: &str = "written";

async fn write(hub: &Arc<Hub>, wanted: Wanted) -> &'static str {
    let Wanted { thread, row, layer, prompt, named } = wanted;
    let Some((model, name)) = hub.model.as_ref().and_then(|model| Some((model, model.writer()?)))
    else {
        return "no_model";
    };
    let answer = match timeout(limits::SESSION_SUMMARY_TIMEOUT, model.complete(&prompt)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            tracing::warn!(%thread, %error, "the model summarised no session; it is quoted instead");
            return "failed";
        }
        Err(_) => {
            tracing::warn!(%thread, "the model took too long for a session; it is quoted instead");
            return "failed";
        }
    };
    match points::check(&answer, &named) {
        Ok(summary) => {
            let method = format!("model:{name}");
            let layer = SessionLayer { summary, method, updated_ms: hub.now().as_ms(), ..layer };
            keep(hub, row, thread, layer).await;
            WRITTEN
        }
        Err(doubt) => {
            let why = doubt.name();
            tracing::debug!(%thread, why, "a model's summary is not used; the session is quoted");
            why
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(thread: u8, turns: &str) -> Wanted {
        Wanted {
            thread: ThreadId::new(Timestamp::from_ms(1), [thread; 10]),
            row: i64::from(thread),
            layer: SessionLayer { turns: turns.to_owned(), ..SessionLayer::default() },
            prompt: Prompt::default(),
            named: Vec::new(),
        }
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    #[test]
    fn a_thread_has_one_wish_and_one_writer() {
        let summaries = Summaries::default();
        assert!(summaries.add(wanted(1, "a"), at(0)) && summaries.add(wanted(1, "b"), at(0)));
        assert!(summaries.add(wanted(2, "c"), at(0)));
        let first = summaries.next().unwrap();
        assert_eq!(first.layer.turns, "b", "the newest wish counts");
        assert!(!summaries.add(wanted(1, "b"), at(0)), "somebody writes that already");
        assert!(summaries.add(wanted(1, "d"), at(0)));
        assert_eq!(summaries.next().unwrap().row, 2);
        assert!(summaries.next().is_none(), "a thread has one writer");
        summaries.end(first.thread, false, at(0));
        assert_eq!(summaries.next().unwrap().layer.turns, "d");
    }

    #[test]
    fn a_thread_that_failed_is_left_alone_for_a_while() {
        let summaries = Summaries::default();
        summaries.add(wanted(1, "a"), at(0));
        let first = summaries.next().unwrap();
        summaries.add(wanted(1, "b"), at(0));
        summaries.end(first.thread, true, at(0));
        assert!(summaries.next().is_none());
        assert!(!summaries.add(wanted(1, "c"), at(limits::SESSION_SUMMARY_PAUSE_MS - 1)));
        assert!(summaries.add(wanted(1, "c"), at(limits::SESSION_SUMMARY_PAUSE_MS)));
    }

    #[test]
    fn only_so_many_wait() {
        let summaries = Summaries::default();
        let most = u8::try_from(limits::SESSION_SUMMARIES_WAITING_MAX).unwrap();
        assert!((0..most).all(|thread| summaries.add(wanted(thread, "a"), at(0))));
        assert!(!summaries.add(wanted(most, "a"), at(0)));
        assert!(summaries.add(wanted(0, "b"), at(0)), "a newer wish takes its own place");
    }
}
