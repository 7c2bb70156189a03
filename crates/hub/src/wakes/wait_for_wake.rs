//! A call that waits beside a session for its wake, and hands it over by ending.

use std::sync::Arc;

use futures_util::FutureExt;
use protocol::limits::wake as limits;
use protocol::{
    Caller, Scope, SessionStatus, ThreadId, Timestamp, WakeId, WakeLane, limits as all_limits,
    validate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{SessionRow, Tx, WakeRow};

use super::bells::{Bell, Place};
use super::claim_wakes::wait_ms;
use super::job;
use super::life::{self, HUMAN};
use super::notice::Notice;
use super::pause::Pause;
use super::reach;
use super::settings::WakeSettings;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::hub::Hub;
use crate::operation::{Effect, Operation, Quota, Route};

/// Wait beside your session for a wake, at most 55 s. The wake counts as handed over when this returns
/// it. While your session is in a turn, or a human types, it waits on; the newest call beside a session
/// is the one that counts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitForWake {
    /// The session; your token's unless you say otherwise.
    #[schemars(length(min = 1, max = all_limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    session_id: Option<String>,
    /// The session by your program's own name for it.
    #[schemars(length(min = 1, max = all_limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    vendor_session_id: Option<String>,
    /// How long to wait in milliseconds, 30000 unless you say otherwise, at most 55000; 0 looks once.
    #[schemars(range(max = all_limits::WAIT_MS_MAX))]
    timeout_ms: Option<u64>,
}

/// The wake, or why there is none.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct WaitForWakeOutput {
    /// The wake.
    #[serde(skip_serializing_if = "Option::is_none")]
    wake: Option<WaitedWake>,
    /// Whether the time ran out with nothing to tell.
    timed_out: bool,
    /// Whether a newer call waits beside the session.
    superseded: bool,
}

/// A wake that was handed over.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct WaitedWake {
    /// The wake.
    wake_id: WakeId,
    /// Which time it is given out.
    attempt: i64,
    /// The thread it is about.
    thread_id: ThreadId,
    /// What to say.
    notice: Notice,
}

impl Operation for WaitForWake {
    const NAME: &'static str = "wait_for_wake";
    const ROUTE: Route = Route::post("/v1/wakes/wait");
    const SCOPE: Scope = Scope::SessionsWrite;
    const EFFECT: Effect = Effect::Write;
    const QUOTA: Quota = Quota::Waits;
    const TOOLSET: &'static str = "admin";
    type Output = WaitForWakeOutput;

    async fn run(self, call: &Call) -> Result<WaitForWakeOutput> {
        for (field, value) in
            [("session_id", &self.session_id), ("vendor_session_id", &self.vendor_session_id)]
        {
            if let Some(value) = value {
                validate::name(value).field(field)?;
            }
        }
        let wait = wait_ms("timeout_ms", self.timeout_ms)?;
        let caller = call.caller();
        let bell = call.hub.wakes.bell_of(&caller.workspace_id, &caller.agent_id);
        let mut pause = Pause::new(&call.hub, wait);
        let until = call.now().plus_ms(i64::try_from(wait.as_millis()).unwrap_or(0));
        let waiter = self.park(call, until).await?;
        waiter.wait(call, &bell, &mut pause).await
    }

    fn brief(output: &WaitForWakeOutput) -> String {
        match &output.wake {
            Some(wake) => wake.notice.native.clone(),
            None if output.superseded => "a newer call waits".to_owned(),
            None => "no wake".to_owned(),
        }
    }
}

impl WaitForWake {
    /// Takes the place beside the session; who had it is superseded.
    async fn park(self, call: &Call, until: Timestamp) -> Result<Waiter> {
        let caller = call.shared_caller();
        let session = call.read(move |tx| self.session(tx, &caller)).await?;
        let caller = call.caller();
        let place = (caller.workspace_id.clone(), caller.agent_id.clone(), session);
        let nonce = call.new_uid().to_string();
        // It is there before its mark is: a caller that goes away meanwhile leaves none behind.
        let waiter = Waiter { hub: Arc::clone(&call.hub), place, nonce };
        let (place, by) = (waiter.place.clone(), waiter.nonce.clone());
        let park = move |tx: &mut Tx<'_>| Ok(tx.park_session(borrowed(&place), &by, until)?);
        call.hub.store.write::<_, Error, _>(park).await?;
        call.hub.wakes.park(&waiter.place, &waiter.nonce);
        // The call that waited before sees that it is no longer the newest.
        call.hub.wakes.ring(&waiter.place.0, &waiter.place.1);
        Ok(waiter)
    }

    /// The session that is meant.
    fn session(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<String> {
        let (workspace, agent) = (caller.workspace_id.as_str(), caller.agent_id.as_str());
        let by_vendor = match &self.vendor_session_id {
            Some(vendor) => tx.session_of_vendor(workspace, agent, vendor)?,
            None => None,
        };
        Ok(by_vendor
            .map(|row| row.session)
            .or_else(|| self.session_id.clone())
            .or_else(|| self.vendor_session_id.clone())
            .unwrap_or_else(|| caller.session_id.clone()))
    }
}

/// A call that waits beside a session; dropping it gives the place up, also when its caller went away.
struct Waiter {
    hub: Arc<Hub>,
    place: Place,
    nonce: String,
}

/// What a look showed.
#[derive(Default, Serialize)]
struct Looked {
    wake_id: Option<WakeId>,
    is_superseded: bool,
    /// Whether a wake was put off, or failed.
    has_moved: bool,
    #[serde(skip)]
    given: Option<WakeRow>,
}

impl Waiter {
    async fn wait(&self, call: &Call, bell: &Bell, pause: &mut Pause) -> Result<WaitForWakeOutput> {
        let superseded = WaitForWakeOutput { superseded: true, ..WaitForWakeOutput::default() };
        loop {
            if !self.hub.wakes.is_newest(&self.place, &self.nonce) {
                return Ok(superseded);
            }
            let now = self.hub.now();
            let (workspace, agent, _) = self.place.clone();
            let is_due = call.read(move |tx| Ok(tx.is_any_wake_due(&workspace, &agent, now)?));
            if is_due.await? {
                let looked = self.look(call, now).await?;
                if let Some(wake) = looked.given {
                    return given(call, wake).await;
                }
                if looked.is_superseded {
                    return Ok(superseded);
                }
                if looked.has_moved {
                    self.hub.wakes.ring(&self.place.0, &self.place.1);
                }
            }
            let (workspace, agent, _) = self.place.clone();
            let next = call.read(move |tx| Ok(tx.next_wake_due(&workspace, &agent, now)?)).await?;
            if !pause.until(bell, next.map(|next| next.ms_since(now))).await {
                let timed_out = !self.hub.stopping.is_cancelled();
                return Ok(WaitForWakeOutput { timed_out, ..WaitForWakeOutput::default() });
            }
        }
    }

    /// Takes a wake if there is one and nothing keeps it waiting.
    async fn look(&self, call: &Call, now: Timestamp) -> Result<Looked> {
        let (place, nonce) = (self.place.clone(), self.nonce.clone());
        let settings = self.hub.settings.wake.clone();
        call.write(move |tx| {
            let place = borrowed(&place);
            let session = tx.session(place.0, place.1, place.2)?;
            if session.as_ref().is_some_and(|row| row.parked_by.as_deref() != Some(&nonce)) {
                return Ok(Change::nothing(Looked { is_superseded: true, ..Looked::default() }));
            }
            let given_before = now.plus_ms(-limits::WAKE_REHAND_MS);
            let lane = WakeLane::ClaudeRewake.name();
            let Some(mut wake) = tx.lock_wake_for_waiter(place, lane, (now, given_before))? else {
                return Ok(Change::nothing(Looked::default()));
            };
            let looked = step(&mut wake, session.as_ref(), place.2, &settings, now);
            if !looked.has_moved && looked.given.is_none() {
                return Ok(Change::nothing(looked));
            }
            tx.update_wake(&wake)?;
            let detail =
                serde_json::json!({ "state": wake.state, "lane": wake.lane, "why": wake.why });
            Ok(Change::of(wake.id.to_string(), looked).with_detail(detail.to_string()))
        })
        .await
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        self.hub.wakes.unpark(&self.place, &self.nonce);
        let (place, nonce) = (self.place.clone(), std::mem::take(&mut self.nonce));
        let unpark = self.hub.store.write(move |tx: &mut Tx<'_>| {
            Ok::<_, Error>(tx.unpark_session(borrowed(&place), &nonce)?)
        });
        // The first look at it puts it in the writer's queue, and nobody has to wait for its answer: at
        // worst the mark ends by itself.
        drop(unpark.now_or_never());
        // A host may reach the session now.
        self.hub.wakes.ring(&self.place.0, &self.place.1);
    }
}

fn borrowed(place: &Place) -> (&str, &str, &str) {
    (&place.0, &place.1, &place.2)
}

/// Hands a wake over, or puts it off while the session is in a turn or its human types.
fn step(
    wake: &mut WakeRow,
    session: Option<&SessionRow>,
    name: &str,
    settings: &WakeSettings,
    now: Timestamp,
) -> Looked {
    let oldest = now.plus_ms(-limits::WAKE_TOLD_MS_MAX);
    let is_in_turn =
        session.is_some_and(|row| row.status == SessionStatus::Active && row.heartbeat >= oldest);
    if is_in_turn {
        return Looked::default();
    }
    let is_human_busy = session.is_some_and(|row| reach::is_human_busy(row, settings, now));
    if is_human_busy && wake.force.is_none() {
        if wake.fail_on_human {
            life::fail(wake, HUMAN, true, settings, now);
            return Looked { has_moved: true, ..Looked::default() };
        }
        let since = wake.deferred.unwrap_or(now);
        // Ending this call does not touch the human's line, so the longest wait ends here.
        if since.plus_ms(settings.defer_ms_max) > now {
            life::defer(wake, HUMAN, now.plus_ms(settings.recheck_ms), now);
            return Looked { has_moved: true, ..Looked::default() };
        }
    }
    life::give(wake, None, None);
    wake.lane = Some(WakeLane::ClaudeRewake.name().to_owned());
    wake.session = Some(name.to_owned());
    life::hand(wake, now);
    Looked { wake_id: Some(wake.id), given: Some(wake.clone()), ..Looked::default() }
}

async fn given(call: &Call, wake: WakeRow) -> Result<WaitForWakeOutput> {
    call.hub.wakes.ring(&wake.workspace, &wake.agent);
    let wake = call
        .read(move |tx| {
            let notice = job::notice_of(tx, &wake)?;
            let (wake_id, thread_id) = (wake.id, wake.thread_id);
            Ok(WaitedWake { wake_id, attempt: wake.attempt, thread_id, notice })
        })
        .await?;
    Ok(WaitForWakeOutput { wake: Some(wake), ..WaitForWakeOutput::default() })
}
