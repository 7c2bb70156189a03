//! Where session layers are kept beside the store, if the operator configured such a place.
//!
//! A keeper is a convenience, never the truth: a layer that is not there, or that nobody can vouch for,
//! is made again from the messages.

use std::sync::Arc;

use protocol::ThreadId;
use serde::{Deserialize, Serialize};

use crate::BoxFuture;
use crate::error::Result;

/// A keeper that is shared.
pub type SharedKeeper = Arc<dyn SessionKeeper>;

/// What the turns of a thread came down to, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionLayer {
    /// The oldest message in it.
    pub from_seq: i64,
    /// The newest message in it.
    pub through_seq: i64,
    /// What it says.
    pub summary: String,
    /// What made it: `quoted`, or `model:` and a name.
    pub method: String,
    /// When it was made, in milliseconds since 1970.
    pub updated_ms: i64,
    /// A digest of the very turns it was made of, with the hub's key, in hexadecimal.
    pub turns: String,
    /// The hub's seal over the thread and all of this, in hexadecimal; the store needs none.
    pub seal: String,
}

impl SessionLayer {
    /// Whether a model wrote it.
    pub fn is_by_model(&self) -> bool {
        self.method.starts_with("model:")
    }
}

/// A place where layers live for a day. What it is asked before it was connected fails at once.
pub trait SessionKeeper: Send + Sync {
    /// What it is called in logs; no secret.
    fn name(&self) -> &str;

    /// Connects, and finds out whether it answers in time.
    fn connect(&self) -> BoxFuture<'_, Result<()>>;

    /// The layer of a thread; a [`Protocol`](crate::ConnectorError::Protocol) error where something else stands.
    fn get(&self, thread: ThreadId) -> BoxFuture<'_, Result<Option<SessionLayer>>>;

    /// Keeps a layer for a day from now, unless one of newer turns is there, or a model's of the same
    /// turns and this one is not; answers whether it did.
    fn set<'a>(&'a self, thread: ThreadId, layer: &'a SessionLayer) -> BoxFuture<'a, Result<bool>>;

    /// Forgets the layer of a thread.
    fn forget(&self, thread: ThreadId) -> BoxFuture<'_, Result<()>>;
}
