//! How a link is doing right now. Nothing here is the truth: a restart begins anew.

use connector_api::Capabilities;
use protocol::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a link is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What other hubs on the same database are told of it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ToldState {
    pub(super) status: LinkStatus,
    pub(super) reason: String,
    pub(super) since_ms: i64,
}

impl LinkState {
    /// Whether what happens at the service is told as it happens.
    pub const fn is_streaming(&self) -> bool {
        self.capabilities.stream || self.capabilities.hooks
    }

    /// As it is told to other hubs.
    pub(super) fn told(&self) -> String {
        let told = ToldState {
            status: self.status,
            reason: self.reason.clone(),
            since_ms: self.since.as_ms(),
        };
        serde_json::to_string(&told).expect("a struct of text and numbers prints as JSON")
    }
}
