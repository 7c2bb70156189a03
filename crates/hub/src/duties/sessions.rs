//! Looks after session layers: connects their keeper, hands layers to it, and has a model write some.

use std::sync::Arc;

use protocol::limits::session as limits;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;
use crate::relay::context::carry_out;

/// Hands layers on and has some written until it is stopped.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut writing = JoinSet::new();
    while !stop.is_cancelled() {
        hub.sessions.flush().await;
        while writing.len() < limits::SESSION_SUMMARIES_IN_FLIGHT_MAX
            && let Some(wanted) = hub.sessions.summaries.next()
        {
            writing.spawn(carry_out(Arc::clone(&hub), wanted));
        }
        tokio::select! {
            () = hub.sessions.bell.notified() => {}
            Some(_) = writing.join_next(), if !writing.is_empty() => {}
            () = stop.cancelled() => break,
        }
    }
    writing.shutdown().await;
    // What was made last is of use after a restart.
    hub.sessions.flush().await;
}

/// Keeps the keeper connected until it is stopped. Its loss is said once, and its return.
pub(crate) async fn run_keeper(hub: Arc<Hub>, stop: CancellationToken) {
    let sessions = &hub.sessions;
    let Some(keeper) = sessions.keeper() else { return };
    let (at, mut is_known) = (keeper.name(), false);
    while !stop.is_cancelled() {
        let connected = tokio::select! {
            connected = keeper.connect() => connected,
            () = stop.cancelled() => break,
        };
        match connected {
            Ok(()) => {
                tracing::info!(at, "session layers are kept");
                sessions.found();
                tokio::select! {
                    () = sessions.lost() => is_known = true,
                    () = stop.cancelled() => break,
                }
            }
            Err(error) => {
                if !is_known {
                    tracing::warn!(at, %error, "session layers are made anew until their keeper answers");
                }
                is_known = true;
            }
        }
        tokio::select! {
            () = tokio::time::sleep(limits::SESSION_KEEPER_LOOK_EVERY) => {}
            () = stop.cancelled() => break,
        }
    }
}
