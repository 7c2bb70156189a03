//! An agent takes work.

use std::time::Duration;

use protocol::limits::{self as all_limits, relay as limits};
use protocol::{Scope, Timestamp, WorkId, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Engine, WorkRow};

use super::item::{self, WorkItem};
use super::life::{self, Reaped};
use super::route;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Quota, Route};
use crate::relay::TOOLSET;

/// Take work from a queue as soon as there is some, the longest ready first and in the order of each
/// thread. Each piece is yours until its lease ends: finish it with `complete_work`, make the lease longer
/// with `extend_work`, or give it back with `release_work`. What nobody finishes is given out again with
/// another `fence`, so look at `attempt`: something may have been done before.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PullWork {
    /// The queue, `default` unless you say otherwise.
    #[schemars(length(min = 1, max = all_limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    queue: Option<String>,
    /// How many pieces, 1 unless you say otherwise, at most 16; never two of one thread.
    #[schemars(range(min = 1, max = limits::WORK_PULLED_MAX))]
    limit: Option<u32>,
    /// How long they are yours in milliseconds, 60000 unless you say otherwise, at most 900000.
    #[schemars(range(min = limits::WORK_LEASE_MS_MIN, max = limits::WORK_LEASE_MS_MAX))]
    lease_ms: Option<i64>,
    /// How long to wait for work in milliseconds, 30000 unless you say otherwise, at most 55000; 0 looks
    /// once.
    #[schemars(range(max = all_limits::WAIT_MS_MAX))]
    wait_ms: Option<u64>,
}

/// What there is to do.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct PullWorkOutput {
    /// The work; empty when there was none in time.
    items: Vec<WorkItem>,
}

impl Operation for PullWork {
    const NAME: &'static str = "pull_work";
    const ROUTE: Route = Route::post("/v1/work/pull");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Write;
    const QUOTA: Quota = Quota::Waits;
    const TOOLSET: &'static str = TOOLSET;
    type Output = PullWorkOutput;

    async fn run(self, call: &Call) -> Result<PullWorkOutput> {
        let pull = self.check(call)?;
        let mut watch = call.hub.live.watch();
        watch.add_work(&call.caller().workspace_id);
        let deadline = tokio::time::sleep(pull.wait);
        tokio::pin!(deadline);
        let mut is_due = true;
        loop {
            if is_due {
                let rows = pull.take(call).await?;
                if !rows.is_empty() {
                    return Ok(PullWorkOutput { items: item::of_all(call, rows).await? });
                }
            }
            let next = tokio::select! {
                () = watch.changed() => true,
                () = &mut deadline => false,
                () = call.hub.stopping.cancelled() => false,
                () = call.cancelled.cancelled() => false,
                () = tokio::time::sleep(look_every(call.hub.store.engine())) => true,
            };
            if !next {
                return Ok(PullWorkOutput::default());
            }
            is_due = pull.is_due(call).await?;
        }
    }

    fn brief(output: &PullWorkOutput) -> String {
        match output.items.as_slice() {
            [] => "no work".to_owned(),
            items => items.iter().map(WorkItem::brief).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// A checked wish for work.
struct Pull {
    queue: String,
    limit: usize,
    lease_ms: i64,
    wait: Duration,
}

/// What was taken, as the audit trail commits to it.
#[derive(Serialize)]
struct Taken {
    work: Vec<WorkId>,
    #[serde(skip)]
    rows: Vec<WorkRow>,
    /// What was taken back before.
    #[serde(skip)]
    reaped: Reaped,
}

impl PullWork {
    fn check(self, call: &Call) -> Result<Pull> {
        let queue = self.queue.unwrap_or_else(|| limits::QUEUE_DEFAULT.to_owned());
        validate::name(&queue).field("queue")?;
        route::check(&call.hub.settings.relay.intake.routes, &queue, &call.caller().agent_id)?;
        let limit = self.limit.unwrap_or(1);
        if !(1..=limits::WORK_PULLED_MAX).contains(&limit) {
            let reason = format_args!("must be from 1 to {}", limits::WORK_PULLED_MAX);
            return Err(Error::invalid("limit", reason));
        }
        let wait_ms = self.wait_ms.unwrap_or(all_limits::WAIT_MS_DEFAULT);
        if wait_ms > all_limits::WAIT_MS_MAX {
            let reason = format_args!("must be at most {}", all_limits::WAIT_MS_MAX);
            return Err(Error::invalid("wait_ms", reason));
        }
        Ok(Pull {
            queue,
            limit: usize::try_from(limit).unwrap_or(1),
            lease_ms: lease_ms(self.lease_ms)?,
            wait: Duration::from_millis(wait_ms),
        })
    }
}

impl Pull {
    /// Takes what is ready, and lets the agent into the threads of it.
    async fn take(&self, call: &Call) -> Result<Vec<WorkRow>> {
        let (caller, queue, now) = (call.shared_caller(), self.queue.clone(), call.hub.now());
        let (limit, until) = (self.limit, now.plus_ms(self.lease_ms));
        let taken = call
            .write(move |tx| {
                // Whoever comes first takes back what others have forgotten.
                let reaped = life::reap(tx, now, limits::WORK_LAPSED_BATCH_MAX)?;
                let place = (caller.workspace_id.as_str(), queue.as_str());
                let rows = tx.lease_work(place, &caller.agent_id, (now, until), limit)?;
                for work in &rows {
                    tx.let_in(work.thread_row, &caller.agent_id, now)?;
                }
                let work: Vec<WorkId> = rows.iter().map(|work| work.id).collect();
                let named: Vec<String> = work.iter().map(ToString::to_string).collect();
                let taken = Taken { work, rows, reaped };
                if named.is_empty() {
                    return Ok(Change::nothing(taken));
                }
                let detail = serde_json::json!({ "queue": queue });
                Ok(Change::of(named.join(" "), taken).with_detail(detail.to_string()))
            })
            .await?;
        for workspace in &taken.reaped.workspaces {
            call.hub.live.announce_work(workspace);
        }
        super::count_dead(&call.hub.metrics, &taken.reaped.dead);
        Ok(taken.rows)
    }

    /// Whether there may be something to take now.
    async fn is_due(&self, call: &Call) -> Result<bool> {
        let (workspace, queue) = (call.caller().workspace_id.clone(), self.queue.clone());
        let now = call.hub.now();
        let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
        let (visible, lapse) = call
            .read(move |tx| Ok((tx.next_work_visible(&workspace, &queue)?, tx.next_work_lapse()?)))
            .await?;
        Ok(due(visible) || due(lapse))
    }
}

/// Another hub rings no bell here, and work that was put off rings none either.
fn look_every(engine: Engine) -> Duration {
    match engine {
        Engine::Postgres => limits::WORK_LOOK_EVERY / 4,
        Engine::Sqlite => limits::WORK_LOOK_EVERY,
    }
}

/// How long work is somebody's.
pub(super) fn lease_ms(asked: Option<i64>) -> Result<i64> {
    let ms = asked.unwrap_or(limits::WORK_LEASE_MS_DEFAULT);
    let allowed = limits::WORK_LEASE_MS_MIN..=limits::WORK_LEASE_MS_MAX;
    if !allowed.contains(&ms) {
        let reason = format_args!("must be from {} to {}", allowed.start(), allowed.end());
        return Err(Error::invalid("lease_ms", reason));
    }
    Ok(ms)
}
