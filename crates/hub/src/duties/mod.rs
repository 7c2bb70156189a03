//! Duties: the hub's background loops. Each has an owner that awaits it and a token that ends it.
mod audit_reads;
mod containment_index;
mod deliveries;
mod expiry;
mod other_hubs;
mod outbox;
mod reminders;
mod retention;
mod search_index;
mod sessions;
mod sync;
mod tools;
mod trouble;
mod wake;
mod work;

use std::future::Future;
use std::sync::Arc;

use store::Engine;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::audit::WaitingEntries;
use crate::hub::Hub;
use crate::memory;

pub use trouble::Trouble;

/// The running duties.
#[derive(Default)]
pub struct Duties {
    tasks: JoinSet<()>,
    stop: CancellationToken,
}

impl Duties {
    /// Starts a loop; it should end soon after the token it is given.
    pub fn spawn<F>(&mut self, name: &'static str, work: impl FnOnce(CancellationToken) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let work = work(self.stop.child_token());
        self.tasks.spawn(async move {
            work.await;
            tracing::debug!(duty = name, "duty ended");
        });
    }

    /// Asks every loop to end and waits for it.
    pub async fn stop(mut self) {
        self.stop.cancel();
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a duty broke off");
            }
        }
    }
}

/// Starts what every hub does.
pub(crate) fn start(hub: &Arc<Hub>, duties: &mut Duties, reads: WaitingEntries) {
    let (store, bell) = (hub.store.clone(), Arc::clone(&hub.audit_bell));
    duties.spawn("audit_reads", |stop| audit_reads::run(store, reads, bell, stop));
    let (store, index, live) = (hub.store.clone(), hub.search.clone(), Arc::clone(&hub.live));
    duties.spawn("search_index", |stop| search_index::run(store, index, live, stop));
    let (store, index) = (hub.store.clone(), hub.containment.clone());
    let live = Arc::clone(&hub.live);
    duties.spawn("containment_index", |stop| containment_index::run(store, index, live, stop));
    let links = Arc::clone(hub);
    duties.spawn("sync", |stop| sync::run(links, stop));
    let actions = Arc::clone(hub);
    duties.spawn("outbox", |stop| outbox::run(actions, stop));
    let proposals = Arc::clone(hub);
    duties.spawn("reminders", |stop| reminders::run(proposals, stop));
    let queues = Arc::clone(hub);
    duties.spawn("work", |stop| work::run(queues, stop));
    let messages = Arc::clone(hub);
    duties.spawn("expiry", |stop| expiry::run(messages, stop));
    let remembered = Arc::clone(hub);
    duties.spawn("memory_index", |stop| memory::run_index(remembered, stop));
    let memories = Arc::clone(hub);
    duties.spawn("memory", |stop| memory::run_keeping(memories, stop));
    let kept = Arc::clone(hub);
    duties.spawn("retention", |stop| retention::run(kept, stop));
    let calls = Arc::clone(hub);
    duties.spawn("tools", |stop| tools::run(calls, stop));
    let layers = Arc::clone(hub);
    duties.spawn("sessions", |stop| sessions::run(layers, stop));
    if hub.sessions.keeper().is_some() {
        let kept = Arc::clone(hub);
        duties.spawn("session_keeper", |stop| sessions::run_keeper(kept, stop));
    }
    if hub.settings.wake.enabled {
        let (wakes, started) = (Arc::clone(hub), hub.now());
        duties.spawn("wake", move |stop| wake::run(wakes, started, stop));
    }
    if hub.store.engine() == Engine::Postgres {
        let (store, live, clock) = (hub.store.clone(), Arc::clone(&hub.live), hub.clock());
        let revocations = Arc::clone(&hub.revocations);
        duties.spawn("other_hubs", |stop| other_hubs::run(store, live, revocations, clock, stop));
    }
    let (sealer, clock, bell) = (hub.sealer.clone(), hub.clock(), Arc::clone(&hub.audit_bell));
    duties.spawn("sealer", |stop| sealer.run(move || clock.now(), stop, bell));
}
