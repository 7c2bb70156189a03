//! Following a thread: to be told that something happened in it, for as long as one may read it.

use std::sync::Arc;

use protocol::ThreadId;

use super::rules;
use crate::call::Call;
use crate::error::Result;
use crate::hub::Hub;
use crate::identity::Follower;
use crate::live::Watch;
use store::Tx;

/// One who follows a thread; dropping it ends that.
pub struct Follow {
    hub: Arc<Hub>,
    follower: Arc<Follower>,
    thread: ThreadId,
    watch: Watch,
}

/// Follows a thread, if the caller may read it. What happens after this returns is not missed.
pub async fn follow(call: &Call, thread_id: &str) -> Result<Follow> {
    let thread = rules::thread_id(thread_id)?;
    let mut watch = call.hub.live.watch();
    let caller = Arc::clone(&call.identity.caller);
    let reader = Arc::clone(&caller);
    let row = call.read(move |tx| Ok(rules::enter(tx, thread, &reader, "read")?.row)).await?;
    watch.add_thread(row);
    let follower = Arc::new(Follower::new(caller));
    Ok(Follow { hub: Arc::clone(&call.hub), follower, thread, watch })
}

impl Follow {
    /// The same for somebody who may come with newer tokens.
    #[must_use]
    pub fn by(self, follower: Arc<Follower>) -> Self {
        Self { follower, ..self }
    }

    /// Waits until something happened since the last call. `false` when there is nothing more to be
    /// told: the caller left the thread, its token ended or was revoked, or the hub stops.
    pub async fn changed(&self) -> bool {
        tokio::select! {
            () = self.watch.changed() => self.may_read().await,
            () = self.hub.stopping.cancelled() => false,
            () = self.follower.revoked(&self.hub.revocations) => false,
        }
    }

    async fn may_read(&self) -> bool {
        let (caller, thread) = (self.follower.caller(), self.thread);
        if self.hub.revocations.require_good(&caller, self.hub.now()).is_err() {
            return false;
        }
        let read = move |tx: &mut Tx<'_>| rules::enter(tx, thread, &caller, "read").map(drop);
        match self.hub.store.read(read).await {
            Ok(()) => true,
            // A busy store is no reason to end: whoever is told reads, and is checked there again.
            Err(error) => error.code().is_retryable(),
        }
    }
}
