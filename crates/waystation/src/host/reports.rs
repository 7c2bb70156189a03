//! What a host tells the hub about a wake, and what it hears back.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::Timestamp;
use serde_json::{Value, json};
use supervisor::Lane;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::door::{CallError, Door};
use super::job::Job;

/// One step of a wake.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    state: &'static str,
    lane: Option<Lane>,
    session: Option<String>,
    reason: Option<String>,
    until_ms: Option<i64>,
    is_final: bool,
}

impl Report {
    /// A lane is about to be touched.
    pub(super) fn handing(lane: Lane, session: &str) -> Self {
        let session = Some(session.to_owned());
        Self { state: "handing", lane: Some(lane), session, ..Self::default() }
    }

    /// The wake waits.
    pub(super) fn deferred(reason: &str, until_ms: Option<i64>) -> Self {
        Self { state: "deferred", reason: Some(reason.to_owned()), until_ms, ..Self::default() }
    }

    /// The agent's program has the notice.
    pub(super) fn handed(lane: Lane, session: &str) -> Self {
        Self { state: "handed_to_host", ..Self::handing(lane, session) }
    }

    /// A turn has begun because of it.
    pub(super) fn turn_started(lane: Lane, session: &str) -> Self {
        Self { state: "turn_started", ..Self::handing(lane, session) }
    }

    /// Nothing worked.
    pub(super) fn failed(reason: &str, is_final: bool) -> Self {
        let reason = Some(reason.to_owned());
        Self { state: "failed", reason, is_final, ..Self::default() }
    }

    fn json(&self, wake_id: &str, attempt: i64) -> Value {
        let mut report = json!({ "wake_id": wake_id, "attempt": attempt, "state": self.state });
        let fields = report.as_object_mut().expect("the value was just written as an object");
        if let Some(lane) = self.lane {
            fields.insert("lane".to_owned(), lane.name().into());
        }
        if let Some(session) = self.session.as_ref().filter(|name| !name.is_empty()) {
            fields.insert("session_id".to_owned(), session.as_str().into());
        }
        if let Some(reason) = &self.reason {
            fields.insert("reason".to_owned(), reason.as_str().into());
        }
        if let Some(until_ms) = self.until_ms {
            fields.insert("until".to_owned(), Timestamp::from_ms(until_ms).to_string().into());
        }
        if self.is_final {
            fields.insert("final".to_owned(), true.into());
        }
        report
    }
}

/// What the hub says to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// Go on.
    GoOn,
    /// The wake is no longer wanted, or somebody else has it.
    LetGo,
    /// The hub has handed the wake out anew, to this host: what was decided is to be decided again.
    Anew,
    /// The host was told to stop before the hub could be asked.
    Stopping,
}

/// A wake in work. The hub may hand the same wake out anew to the same host, after an absence or
/// because something happened; then the work goes on with what the hub knows now.
pub(super) struct Work {
    pub(super) wake_id: String,
    job: Mutex<Arc<Job>>,
    /// Something happened that is worth a look.
    pub(super) news: Notify,
}

impl Work {
    /// Work on a wake that was just claimed.
    pub(super) fn new(job: Job) -> Self {
        let wake_id = job.wake_id.clone();
        Self { wake_id, job: Mutex::new(Arc::new(job)), news: Notify::new() }
    }

    /// The wake as the hub handed it out last.
    pub(super) fn job(&self) -> Arc<Job> {
        Arc::clone(&self.job.lock())
    }

    /// The hub has handed the same wake out again.
    pub(super) fn go_on_with(&self, job: Job) {
        *self.job.lock() = Arc::new(job);
        self.news.notify_one();
    }

    /// Reports a step until the hub has heard it.
    pub(super) async fn tell(
        &self,
        door: &Door,
        report: &Report,
        stop: &CancellationToken,
    ) -> Heard {
        let attempt = self.job().attempt;
        let input = report.json(&self.wake_id, attempt);
        let heard = match door.insist("report_wake", &input, stop).await {
            None => return Heard::Stopping,
            Some(Ok(answer)) => match answer.get("stop").and_then(Value::as_bool) {
                Some(true) => Heard::LetGo,
                _ => Heard::GoOn,
            },
            Some(Err(error)) => {
                let (wake, state) = (&self.wake_id, report.state);
                tracing::warn!(%wake, state, %error, "a report was not taken");
                match error {
                    CallError::Away(_) => Heard::Stopping,
                    CallError::Refused(_) => Heard::LetGo,
                }
            }
        };
        let is_anew = heard == Heard::LetGo && self.job().attempt != attempt;
        if is_anew { Heard::Anew } else { heard }
    }

    /// Reports what has happened, whichever attempt it was that did it.
    pub(super) async fn tell_fact(&self, door: &Door, report: &Report, stop: &CancellationToken) {
        while self.tell(door, report, stop).await == Heard::Anew {}
    }
}
