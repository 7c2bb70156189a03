//! How the links of this hub are doing right now. Nothing here is the truth: a restart begins anew.

use std::collections::HashMap;

use connector_api::Capabilities;
use parking_lot::Mutex;
use protocol::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

/// How a link is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkStatus {
    /// There is no account behind it: it holds what was imported.
    Archive,
    /// It has not been reached yet.
    #[default]
    Connecting,
    /// It is up.
    Connected,
    /// The service asks for patience.
    RateLimited,
    /// A person must do something first.
    NeedsAttention,
    /// The service cannot be reached.
    Unreachable,
}

/// How a link is doing, in words too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkState {
    /// The status.
    pub status: LinkStatus,
    /// Why, for people; empty while all is well.
    pub reason: String,
    /// Since when.
    pub since: Timestamp,
    /// What the link can do.
    pub capabilities: Capabilities,
}

impl LinkState {
    /// Whether what happens at the service is told as it happens.
    pub const fn is_streaming(&self) -> bool {
        self.capabilities.stream || self.capabilities.hooks
    }
}

/// How every link with an account is doing.
#[derive(Debug, Default)]
pub struct Links {
    states: Mutex<HashMap<i64, LinkState>>,
}

impl Links {
    /// How a link is doing; `None` before anybody has looked.
    pub fn state(&self, link_row: i64) -> Option<LinkState> {
        self.states.lock().get(&link_row).cloned()
    }

    /// A link is doing otherwise now.
    pub fn set(&self, link_row: i64, state: LinkState) {
        self.states.lock().insert(link_row, state);
    }

    /// A link is gone.
    pub fn forget(&self, link_row: i64) {
        self.states.lock().remove(&link_row);
    }
}
