//! Runs the tools that agents call, many at the same time, each under a lease.

use std::sync::Arc;
use std::time::Duration;

use protocol::limits::tools as limits;
use store::{Engine, StoreError, ToolCallRow};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::trouble::Trouble;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::relay::tools::{Runner, begin, carry_out};

/// Looks by itself now and then: another hub may have been asked, or may have died.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Runs until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let runner = Arc::new(Runner::new(hub));
    let mut running = JoinSet::new();
    let mut heartbeat = tokio::time::interval(limits::TOOL_HEARTBEAT);
    let (mut trouble, mut is_fresh) = (Trouble::default(), true);
    while !stop.is_cancelled() {
        let mut wait = LOOK_EVERY;
        match turn(&runner, &mut running, &mut is_fresh).await {
            Ok(next) => {
                trouble.is_over();
                wait = wait.min(next);
            }
            Err(Error::Store(StoreError::Closed | StoreError::Failed)) => break,
            Err(error) => {
                trouble.say(&error, "no tools are run for the moment; trying again");
            }
        }
        tokio::select! {
            () = runner.hub.tools.rung() => {}
            Some(_) = running.join_next(), if !running.is_empty() => {}
            _ = heartbeat.tick(), if !running.is_empty() => keep(&runner).await,
            () = tokio::time::sleep(wait) => {}
            () = stop.cancelled() => break,
        }
    }
    running.shutdown().await;
    let_go(&runner).await;
}

/// Begins what may be begun; answers how long nothing else is due.
async fn turn(
    runner: &Arc<Runner>,
    running: &mut JoinSet<()>,
    is_fresh: &mut bool,
) -> Result<Duration> {
    let hub = &runner.hub;
    // Only one process has the embedded database: whoever ran a call before this one is gone.
    if *is_fresh && hub.store.engine() == Engine::Sqlite {
        let now = hub.now();
        hub.store.write(move |tx| Ok::<_, Error>(tx.lapse_tool_leases(now)?)).await?;
    }
    *is_fresh = false;
    let room = limits::TOOLS_IN_FLIGHT_MAX.saturating_sub(running.len());
    if room == 0 {
        return Ok(LOOK_EVERY);
    }
    let now = hub.now();
    // Nothing is written while there is nothing to run.
    let due = hub.store.read(move |tx| Ok::<_, Error>(tx.has_runnable_tool_calls(now)?)).await?;
    if !due {
        return Ok(LOOK_EVERY);
    }
    for call in take(runner, room).await? {
        running.spawn(carry_out(Arc::clone(runner), call));
    }
    Ok(if running.len() < limits::TOOLS_IN_FLIGHT_MAX { Duration::ZERO } else { LOOK_EVERY })
}

async fn take(runner: &Runner, room: usize) -> Result<Vec<ToolCallRow>> {
    let (holder, now) = (runner.name.clone(), runner.hub.now());
    runner.hub.store.write(move |tx| begin(tx, &holder, now, room)).await
}

/// Says that this runner still runs what it has.
async fn keep(runner: &Runner) {
    let (holder, until) = (runner.name.clone(), runner.hub.now().plus_ms(limits::TOOL_LEASE_MS));
    let kept = runner.hub.store.write(move |tx| tx.extend_tool_leases(&holder, until)).await;
    if let Err(error) = kept {
        tracing::debug!(%error, "the leases of tools were not made longer");
    }
}

/// Leaves what it had to others, at once.
async fn let_go(runner: &Runner) {
    let (holder, now) = (runner.name.clone(), runner.hub.now());
    let left = runner.hub.store.write(move |tx| tx.extend_tool_leases(&holder, now)).await;
    if let Err(error) = left {
        tracing::debug!(%error, "the leases of tools end by themselves");
    }
}
