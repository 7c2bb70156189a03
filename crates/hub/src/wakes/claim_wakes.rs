//! A host takes the wakes that are for its agents.

use std::time::Duration;

use protocol::limits::wake as limits;
use protocol::{Scope, Timestamp, WakeId, WakeState, limits as all_limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Tx, WakeRow};

use super::job::{self, WakeJob};
use super::life;
use super::pause::Pause;
use super::request::Means;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Quota, Route};

/// Take the wakes that are for agents of a host, as soon as there are some, at most 55 s. Each is yours
/// until its lease ends; `report_wake` says how it goes and makes the lease longer. What nobody reports
/// is given out again, with another `attempt`, and reports of the old one count for nothing.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClaimWakes {
    /// The host, by the name its sessions carry.
    #[schemars(length(min = 1, max = all_limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    host: String,
    /// How long to wait in milliseconds, 30000 unless you say otherwise, at most 55000; 0 looks once.
    #[schemars(range(max = all_limits::WAIT_MS_MAX))]
    wait_ms: Option<u64>,
    /// How many wakes, at most 16.
    #[schemars(range(min = 1, max = limits::WAKES_CLAIMED_MAX))]
    limit: Option<u32>,
    /// Whether you have just started and hold nothing: what you held before is given out again at once.
    restarted: Option<bool>,
}

/// What there is to do.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ClaimWakesOutput {
    /// The wakes.
    wakes: Vec<WakeJob>,
}

impl Operation for ClaimWakes {
    const NAME: &'static str = "claim_wakes";
    const ROUTE: Route = Route::post("/v1/wakes/claim");
    const SCOPE: Scope = Scope::AgentsHost;
    const EFFECT: Effect = Effect::Write;
    const QUOTA: Quota = Quota::Waits;
    const TOOLSET: &'static str = "admin";
    type Output = ClaimWakesOutput;

    async fn run(self, call: &Call) -> Result<ClaimWakesOutput> {
        validate::name(&self.host).field("host")?;
        let wait_ms = wait_ms("wait_ms", self.wait_ms)?;
        let limit = self.limit.unwrap_or(limits::WAKES_CLAIMED_MAX);
        if !(1..=limits::WAKES_CLAIMED_MAX).contains(&limit) {
            let reason = format_args!("must be from 1 to {}", limits::WAKES_CLAIMED_MAX);
            return Err(Error::invalid("limit", reason));
        }
        let limit = usize::try_from(limit).unwrap_or(1);
        let workspace = call.caller().workspace_id.clone();
        if self.restarted == Some(true) {
            let (workspace, host) = (workspace.clone(), self.host.clone());
            call.write(move |tx| {
                Ok(match tx.release_wakes(&workspace, &host)? {
                    0 => Change::nothing(0),
                    released => Change::of(host.clone(), released),
                })
            })
            .await?;
        }
        let bell = call.hub.wakes.bell_of_all(&workspace);
        let mut pause = Pause::new(&call.hub, wait_ms);
        let mut is_first = true;
        loop {
            let now = call.hub.now();
            let looked = workspace.clone();
            let (is_due, next) = call
                .read(move |tx| {
                    let is_due = tx.is_any_wake_due(&looked, "", now)?;
                    Ok((is_due, tx.next_wake_due(&looked, "", now)?))
                })
                .await?;
            // The first look also finds what was forgotten by others.
            if is_due || is_first {
                let rows = claim(call, &self.host, now, limit).await?;
                if !rows.is_empty() {
                    return jobs(call, rows, self.host).await;
                }
            }
            is_first = false;
            if !pause.until(&bell, next.map(|next| next.ms_since(now))).await {
                return Ok(ClaimWakesOutput::default());
            }
        }
    }

    fn brief(output: &ClaimWakesOutput) -> String {
        match output.wakes.len() {
            0 => "no wakes".to_owned(),
            count => format!("{count} wakes"),
        }
    }
}

/// What was claimed, as the audit trail commits to it.
#[derive(Serialize)]
struct Claimed {
    wakes: Vec<WakeId>,
    #[serde(skip)]
    rows: Vec<WakeRow>,
}

async fn claim(call: &Call, host: &str, now: Timestamp, limit: usize) -> Result<Vec<WakeRow>> {
    let (workspace, host) = (call.caller().workspace_id.clone(), host.to_owned());
    let means = call.hub.wake_means();
    let claimed = call
        .write(move |tx| {
            let rows = take(tx, (&workspace, &host), now, limit, &means)?;
            let wakes: Vec<WakeId> = rows.iter().map(|wake| wake.id).collect();
            let named: Vec<String> = wakes.iter().map(ToString::to_string).collect();
            let claimed = Claimed { wakes, rows };
            if named.is_empty() {
                return Ok(Change::nothing(claimed));
            }
            let detail = serde_json::json!({ "host": host });
            Ok(Change::of(named.join(" "), claimed).with_detail(detail.to_string()))
        })
        .await?;
    Ok(claimed.rows)
}

fn take(
    tx: &mut Tx<'_>,
    (workspace, host): (&str, &str),
    now: Timestamp,
    limit: usize,
    means: &Means,
) -> Result<Vec<WakeRow>> {
    let long_ago = now.plus_ms(-limits::WAKE_TOLD_MS_MAX);
    for told in tx.lock_told_wakes(workspace, long_ago, limit)? {
        life::supersede(tx, told, now, means)?;
    }
    // What a waiting call was given and nobody heard of: this host can look whether it arrived.
    let before = now.plus_ms(-limits::WAKE_HANDED_MS_MAX);
    let lane = protocol::WakeLane::ClaudeRewake.name();
    for mut stray in tx.lock_stray_wakes(workspace, host, lane, before, limit)? {
        stray.state = WakeState::Requested;
        stray.host = Some(host.to_owned());
        stray.handing = stray.lane.clone();
        stray.due = now;
        stray.lease = None;
        tx.update_wake(&stray)?;
    }
    let handing_before = now.plus_ms(-limits::WAKE_HANDING_MS_MAX);
    let mut rows = tx.lock_claimable_wakes(workspace, host, (now, handing_before), limit)?;
    for wake in &mut rows {
        life::give(wake, Some(host), Some(now.plus_ms(limits::WAKE_LEASE_MS)));
        tx.update_wake(wake)?;
    }
    Ok(rows)
}

/// Everything a host must know. It is looked up after the commit: the writer, which serves everyone,
/// does not read through threads.
async fn jobs(call: &Call, rows: Vec<WakeRow>, host: String) -> Result<ClaimWakesOutput> {
    let settings = call.hub.settings.wake.clone();
    call.read(move |tx| {
        let mut wakes = Vec::with_capacity(rows.len());
        for wake in &rows {
            wakes.push(job::of(tx, wake, &host, &settings)?);
        }
        Ok(ClaimWakesOutput { wakes })
    })
    .await
}

/// How long a call waits.
pub(super) fn wait_ms(field: &str, asked: Option<u64>) -> Result<Duration> {
    let ms = asked.unwrap_or(all_limits::WAIT_MS_DEFAULT);
    if ms > all_limits::WAIT_MS_MAX {
        let reason = format_args!("must be at most {}", all_limits::WAIT_MS_MAX);
        return Err(Error::invalid(field, reason));
    }
    Ok(Duration::from_millis(ms))
}
