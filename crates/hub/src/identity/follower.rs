//! Who follows something for longer than one request: an agent, by the newest of its tokens.

use std::sync::Arc;

use parking_lot::Mutex;
use protocol::Caller;

use super::Revocations;

/// An agent that follows something, by the newest token it came with.
pub struct Follower(Mutex<Arc<Caller>>);

impl Follower {
    /// Whoever begins to follow.
    pub fn new(caller: Arc<Caller>) -> Self {
        Self(Mutex::new(caller))
    }

    /// The same agent came with another token.
    pub fn renew(&self, caller: Arc<Caller>) {
        *self.0.lock() = caller;
    }

    /// Its newest token.
    pub fn caller(&self) -> Arc<Caller> {
        Arc::clone(&self.0.lock())
    }

    /// Waits until its newest token is revoked.
    pub(crate) async fn revoked(&self, revocations: &Revocations) {
        loop {
            let caller = self.caller();
            revocations.revoked(&caller).await;
            if self.caller().jti == caller.jti {
                return;
            }
        }
    }
}
