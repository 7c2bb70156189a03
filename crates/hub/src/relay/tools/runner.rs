//! What runs calls: who waits for them, which of them run here, and taking those that may be run.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use protocol::limits::tools as limits;
use protocol::relay::ToolCallState;
use protocol::{Timestamp, ToolCallId};
use store::{ToolCallRow, Tx};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::catalogue::Catalogue;
use crate::clock::fresh_uid;
use crate::error::Result;
use crate::hub::Hub;

/// The calls of this hub.
#[derive(Default)]
pub struct Tools {
    bell: Notify,
    running: Mutex<HashMap<ToolCallId, CancellationToken>>,
}

impl Tools {
    /// There is a call to be run.
    pub fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until there may be a call to be run.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Ends a call that runs here.
    pub(super) fn stop(&self, id: ToolCallId) {
        if let Some(running) = self.running.lock().get(&id) {
            running.cancel();
        }
    }

    /// A call runs here, for as long as the answer is held.
    pub(super) fn runs(self: &Arc<Self>, id: ToolCallId) -> Running {
        let stop = CancellationToken::new();
        self.running.lock().insert(id, stop.clone());
        Running { tools: Arc::clone(self), id, stop }
    }
}

/// A call that runs here.
pub(super) struct Running {
    tools: Arc<Tools>,
    id: ToolCallId,
    pub(super) stop: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.tools.running.lock().remove(&self.id);
    }
}

/// One runner of calls: what it needs for each of them.
pub(crate) struct Runner {
    pub(crate) hub: Arc<Hub>,
    /// Its name, by which its leases are known.
    pub(crate) name: String,
    catalogue: OnceLock<Catalogue>,
}

impl Runner {
    /// A runner of this hub.
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        let name = format!("tools_{}", fresh_uid(&*hub.entropy(), hub.now()));
        Self { hub, name, catalogue: OnceLock::new() }
    }

    /// The operations that are tools. Only a hub whose agents call tools pays for describing them.
    pub(super) fn catalogue(&self) -> &Catalogue {
        self.catalogue.get_or_init(crate::operations::catalogue)
    }
}

/// Takes calls that may be run, so that nobody else runs them.
pub(crate) fn begin(
    tx: &mut Tx<'_>,
    holder: &str,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<ToolCallRow>> {
    let mut calls = tx.lock_runnable_tool_calls(now, limit)?;
    for call in &mut calls {
        call.state = ToolCallState::Running;
        call.attempts += 1;
        call.holder = Some(holder.to_owned());
        call.lease = Some(now.plus_ms(limits::TOOL_LEASE_MS));
        tx.update_tool_call(call)?;
    }
    Ok(calls)
}
