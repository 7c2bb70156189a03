//! The pauses of a call that waits for wakes or agents: until something happened, until the next one is due, or
//! until its time is up.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use protocol::limits::wake as limits;
use store::Engine;
use tokio::time::Sleep;

use super::bells::Bell;
use crate::hub::Hub;

/// The pauses of one call.
pub(crate) struct Pause {
    hub: Arc<Hub>,
    deadline: Pin<Box<Sleep>>,
}

impl Pause {
    /// A call begins to wait.
    pub(crate) fn new(hub: &Arc<Hub>, wait: Duration) -> Self {
        Self { hub: Arc::clone(hub), deadline: Box::pin(tokio::time::sleep(wait)) }
    }

    /// Waits until there may be something new; `false` when the call's time is up or the hub stops.
    pub(crate) async fn until(&mut self, bell: &Bell, next_ms: Option<i64>) -> bool {
        // Another hub rings no bell here.
        let every = match self.hub.store.engine() {
            Engine::Postgres => limits::WAKE_LOOK_EVERY,
            Engine::Sqlite => limits::WAKE_LOOK_EVERY * 30,
        };
        let next = next_ms.map_or(every, |ms| {
            Duration::from_millis(u64::try_from(ms.max(1)).unwrap_or(1)).min(every)
        });
        tokio::select! {
            () = bell.rung() => true,
            () = &mut self.deadline => false,
            () = self.hub.stopping.cancelled() => false,
            () = tokio::time::sleep(next) => true,
        }
    }
}
