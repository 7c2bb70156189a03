//! A host, or the agent itself, says how a wake goes.

use protocol::limits::wake as limits;
use protocol::{
    Caller, Scope, Timestamp, WakeId, WakeLane, WakeState, limits as all_limits, validate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::WakeRow;

use super::life::{self, HUMAN};
use super::settings::WakeSettings;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Report how a wake goes. Say `handing` before you touch a lane, so that whoever goes on after a crash
/// looks first whether the notice arrived. `stop` in the answer means that the wake was cancelled or
/// given to somebody else: let go of it. The woken agent itself may report that it was told.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportWake {
    /// The wake.
    wake_id: String,
    /// Which time it was given out, as `claim_wakes` said; the woken agent itself may leave it out.
    #[schemars(range(min = 0))]
    attempt: Option<i64>,
    /// How it goes.
    state: WakeReport,
    /// The lane; needed with `handing`.
    lane: Option<WakeLane>,
    /// Why it waits or failed; `human_input_busy` where a human types.
    #[schemars(length(min = 1, max = limits::WAKE_REASON_CHARS_MAX))]
    reason: Option<String>,
    /// With `deferred`: you let go of it, and it is given out again then. Without this you keep it and
    /// look again yourself.
    until: Option<Timestamp>,
    /// With `failed`: trying again is of no use.
    #[serde(rename = "final")]
    is_final: Option<bool>,
    /// The session it was handed to.
    #[schemars(length(min = 1, max = all_limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    session_id: Option<String>,
}

/// How a wake goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WakeReport {
    /// A lane is about to be touched.
    Handing,
    /// It waits for a human or a turn.
    Deferred,
    /// The agent's program has the notice.
    HandedToHost,
    /// The agent's program has begun a turn because of it.
    TurnStarted,
    /// It came to nothing.
    Failed,
}

/// The report was taken, or came too late.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReportWakeOutput {
    /// Whether the report was taken.
    ok: bool,
    /// Whether to let go of the wake.
    stop: bool,
    /// Until when it is yours alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    lease_until: Option<Timestamp>,
    #[serde(skip)]
    agent: String,
}

impl Operation for ReportWake {
    const NAME: &'static str = "report_wake";
    const ROUTE: Route = Route::post("/v1/wakes/{wake_id}/reports");
    const SCOPE: Scope = Scope::AgentsHost;
    const OTHER_SCOPE: Option<Scope> = Some(Scope::SessionsWrite);
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = "admin";
    type Output = ReportWakeOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.wake_id)
    }

    async fn run(self, call: &Call) -> Result<ReportWakeOutput> {
        const MISSING: Error = Error::NotFound { what: "wake" };
        self.check()?;
        let id: WakeId = self.wake_id.parse().map_err(|_| MISSING)?;
        let (caller, now) = (call.shared_caller(), call.now());
        let settings = call.hub.settings.wake.clone();
        let output = call
            .write(move |tx| {
                let mut wake = tx
                    .lock_wake(id)?
                    .filter(|wake| wake.workspace == caller.workspace_id)
                    .ok_or(MISSING)?;
                let attempt = self.admitted(&caller, &wake)?;
                let is_taken = wake.state.is_open()
                    && attempt == wake.attempt
                    && self.apply(&mut wake, &settings, now);
                let output = ReportWakeOutput {
                    ok: is_taken,
                    stop: !is_taken,
                    lease_until: wake.lease.filter(|_| is_taken),
                    agent: wake.agent.clone(),
                };
                if !is_taken {
                    return Ok(Change::none(output));
                }
                tx.update_wake(&wake)?;
                let detail = serde_json::json!({
                    "attempt": attempt, "report": self.state, "state": wake.state, "lane": wake.lane,
                    "why": wake.why,
                });
                Ok(Change::of(id.to_string(), output).with_detail(detail.to_string()))
            })
            .await?;
        if output.ok {
            call.hub.wakes.ring(&call.caller().workspace_id, &output.agent);
        }
        Ok(output)
    }

    fn brief(output: &ReportWakeOutput) -> String {
        if output.stop { "let go of it".to_owned() } else { "recorded".to_owned() }
    }
}

impl ReportWake {
    fn check(&self) -> Result<()> {
        if self.attempt.is_some_and(|attempt| attempt < 0) {
            return Err(Error::invalid("attempt", "must not be negative"));
        }
        if let Some(reason) = &self.reason {
            let chars_max = usize::try_from(limits::WAKE_REASON_CHARS_MAX).unwrap_or(usize::MAX);
            validate::line(reason, chars_max).field("reason")?;
        }
        if let Some(session) = &self.session_id {
            validate::name(session).field("session_id")?;
        }
        if self.state == WakeReport::Handing && self.lane.is_none() {
            return Err(Error::invalid("lane", "goes together with handing"));
        }
        Ok(())
    }

    /// Which attempt is reported on, if the caller may.
    fn admitted(&self, caller: &Caller, wake: &WakeRow) -> Result<i64> {
        if caller.scopes.has(Scope::AgentsHost) {
            return self.attempt.ok_or_else(|| Error::invalid("attempt", "is missing"));
        }
        let is_told = matches!(self.state, WakeReport::HandedToHost | WakeReport::TurnStarted);
        if wake.agent == caller.agent_id && is_told {
            return Ok(self.attempt.unwrap_or(wake.attempt));
        }
        Err(Error::MissingScope { scope: Scope::AgentsHost })
    }

    /// Takes the step; `false` when the wake is past it.
    fn apply(&self, wake: &mut WakeRow, settings: &WakeSettings, now: Timestamp) -> bool {
        let is_told = wake.state >= WakeState::HandedToHost;
        let lease = Some(now.plus_ms(limits::WAKE_LEASE_MS));
        match self.state {
            WakeReport::Handing | WakeReport::Deferred if is_told => return false,
            WakeReport::Handing => {
                wake.handing = self.lane.map(|lane| lane.name().to_owned());
                // Whoever takes the wake up again asks this session whether the notice arrived.
                if self.session_id.is_some() {
                    wake.session.clone_from(&self.session_id);
                }
                wake.lease = lease;
            }
            WakeReport::Deferred => {
                let reason = self.reason.as_deref().unwrap_or(life::BUSY);
                life::defer(
                    wake,
                    reason,
                    self.until.unwrap_or(now.plus_ms(settings.recheck_ms)),
                    now,
                );
                wake.lease = lease.filter(|_| self.until.is_none());
            }
            WakeReport::HandedToHost if is_told => {}
            WakeReport::HandedToHost => {
                self.note_lane(wake);
                life::hand(wake, now);
            }
            WakeReport::TurnStarted => {
                self.note_lane(wake);
                life::start_turn(wake, now);
            }
            WakeReport::Failed => {
                let reason = self.reason.as_deref().unwrap_or("failed");
                if !wake.asked && life::is_absence(reason) {
                    life::wait_for_return(wake, reason, now);
                    return true;
                }
                let is_final =
                    self.is_final == Some(true) || (wake.fail_on_human && reason == HUMAN);
                life::fail(wake, reason, is_final, settings, now);
            }
        }
        true
    }

    fn note_lane(&self, wake: &mut WakeRow) {
        let lane = self.lane.map(|lane| lane.name().to_owned());
        wake.lane = lane.or_else(|| wake.lane.take()).or_else(|| wake.handing.clone());
        if let Some(session) = &self.session_id {
            wake.session = Some(session.clone());
        }
    }
}
