//! Keeps one task for each link with an account, and begins it anew when the link was changed.

use std::collections::HashMap;
use std::sync::Arc;

use protocol::limits;
use store::{LinkRow, StoreError};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::hub::Hub;
use crate::links;

/// The tasks of links.
#[derive(Default)]
struct Tasks {
    set: JoinSet<()>,
    running: HashMap<i64, Task>,
}

struct Task {
    id: Id,
    link: Arc<LinkRow>,
    stop: CancellationToken,
}

/// Runs until it is stopped; then every link has ended.
pub(crate) async fn run(hub: Arc<Hub>, stop: CancellationToken) {
    let mut tasks = Tasks::default();
    loop {
        match hub.store.read(|tx| tx.live_links(limits::chats::LINKS_MAX)).await {
            Ok(links) => tasks.set_to(&hub, links),
            Err(StoreError::Closed | StoreError::Failed) => break,
            Err(error) => tracing::debug!(%error, "links could not be looked for"),
        }
        tokio::select! {
            () = hub.links.changed() => {}
            () = tokio::time::sleep(limits::links::LINKS_LOOK_EVERY) => {}
            Some(ended) = tasks.set.join_next_with_id() => tasks.ended(&hub, ended),
            () = stop.cancelled() => break,
        }
    }
    tasks.running.values().for_each(|task| task.stop.cancel());
    while let Some(ended) = tasks.set.join_next_with_id().await {
        tasks.ended(&hub, ended);
    }
}

impl Tasks {
    /// Starts what is new and stops what is gone. What was changed is stopped now, and started when
    /// it has ended: two clients of one account would be in each other's way.
    fn set_to(&mut self, hub: &Arc<Hub>, links: Vec<LinkRow>) {
        let known: HashMap<i64, &LinkRow> = links.iter().map(|link| (link.row, link)).collect();
        for task in self.running.values() {
            let link = known.get(&task.link.row);
            if !link.is_some_and(|link| is_same(link, &task.link)) {
                task.stop.cancel();
            }
        }
        for link in links {
            if self.running.contains_key(&link.row) {
                continue;
            }
            let (link, stop) = (Arc::new(link), CancellationToken::new());
            let work = links::run(Arc::clone(hub), Arc::clone(&link), stop.clone());
            let id = self.set.spawn(work).id();
            self.running.insert(link.row, Task { id, link, stop });
        }
    }

    fn ended(&mut self, hub: &Hub, ended: Result<(Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => id,
            Err(error) => {
                tracing::error!(%error, "a link broke off; it begins anew");
                error.id()
            }
        };
        let row = self.running.iter().find(|(_, task)| task.id == id).map(|(row, _)| *row);
        if let Some(row) = row {
            self.running.remove(&row);
            hub.links.forget(row);
        }
    }
}

/// Whether it is still the link it was, unchanged.
fn is_same(link: &LinkRow, before: &LinkRow) -> bool {
    (link.row, link.version, &link.workspace) == (before.row, before.version, &before.workspace)
}
