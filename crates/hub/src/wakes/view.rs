//! How a wake is shown to callers.

use protocol::{ThreadId, Timestamp, WakeId, WakeState};
use schemars::JsonSchema;
use serde::Serialize;
use store::WakeRow;

/// One wake.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WakeView {
    /// The wake.
    wake_id: WakeId,
    /// The thread it is about.
    thread_id: ThreadId,
    /// The agent to be reached.
    agent_id: String,
    /// How far it has come.
    pub(crate) state: WakeState,
    /// What it is for.
    reason: String,
    /// Who asked for it; a post did where nobody is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_by: Option<String>,
    /// Whether an operator overrode what would have kept it waiting.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    forced: bool,
    /// The newest message it is about.
    through_seq: i64,
    /// When it was asked for.
    requested_at: Timestamp,
    /// Not before then.
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<Timestamp>,
    /// How often it was given out.
    attempt: i64,
    /// How often that came to nothing.
    failures: i64,
    /// The host that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// The session it was handed to.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    /// The lane it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    /// Why it waits, failed or ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// When the agent's program got the notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_at: Option<Timestamp>,
    /// When a turn began because of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    turn_started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<Timestamp>,
}

impl WakeView {
    /// A stored wake as callers see it.
    pub(crate) fn of(wake: WakeRow) -> Self {
        let waits = wake.state < WakeState::HandedToHost;
        Self {
            wake_id: wake.id,
            thread_id: wake.thread_id,
            agent_id: wake.agent,
            state: wake.state,
            reason: wake.reason,
            asked_by: wake.asked.then_some(wake.asked_by),
            forced: wake.force.is_some(),
            through_seq: wake.through_seq,
            requested_at: wake.requested,
            due_at: waits.then_some(wake.due),
            attempt: wake.attempt,
            failures: wake.failures,
            host: wake.host,
            session_id: wake.session,
            lane: wake.lane,
            why: wake.why,
            handed_at: wake.handed,
            turn_started_at: wake.turn,
            ended_at: wake.ended,
        }
    }

    /// The wake in a few words.
    pub(crate) fn brief(&self) -> String {
        let lane = self.lane.as_ref().map_or_else(String::new, |lane| format!(" by {lane}"));
        let why = self.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        format!(
            "{} {} {}{lane}{why}, about {} up to #{}",
            self.wake_id, self.agent_id, self.state, self.thread_id, self.through_seq
        )
    }
}
