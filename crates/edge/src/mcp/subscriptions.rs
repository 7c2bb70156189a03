//! Subscriptions to threads, in both eras: each is one who follows a thread, and dies with its
//! connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use hub::threads::{Follow, follow};
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use tokio::task::{AbortHandle, JoinSet};

use super::failure;
use super::server::Server;
use super::uri::ThreadUri;
use protocol::limits::mcp as limits;

/// The subscriptions of one connection of the era of `initialize`. They end when it does.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<Option<Running>>>);

#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    by_uri: HashMap<String, AbortHandle>,
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, uri: String, followed: Follow, sink: Sink) -> Result<(), ErrorData> {
        let mut guard = self.lock();
        let running = guard.get_or_insert_default();
        while running.tasks.try_join_next().is_some() {}
        running.by_uri.retain(|_, task| !task.is_finished());
        if let Some(before) = running.by_uri.remove(&uri) {
            before.abort();
        }
        if running.by_uri.len() >= limits::SUBSCRIPTIONS_MAX {
            return Err(too_many());
        }
        let task = running.tasks.spawn(pass_on(uri.clone(), followed, sink));
        running.by_uri.insert(uri, task);
        Ok(())
    }

    /// Ends one subscription, if there is one.
    pub(super) fn end(&self, uri: &str) {
        let task = self.lock().as_mut().and_then(|running| running.by_uri.remove(uri));
        if let Some(task) = task {
            task.abort();
        }
    }
}

/// Where a notification goes.
#[derive(Clone)]
enum Sink {
    /// To the connection.
    Connection(Peer<RoleServer>),
    /// To the stream of the request that asked for it.
    Listen(SubscriptionSink),
}

impl Sink {
    /// Whether the client could be told.
    async fn updated(&self, uri: &str) -> bool {
        match self {
            Self::Connection(peer) => {
                let param = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(param).await.is_ok()
            }
            Self::Listen(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }
}

/// `resources/subscribe`.
pub(super) async fn subscribe(
    server: &Server,
    uri: String,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let followed = followed(server, &uri, context).await?;
    server.subscriptions.begin(uri, followed, Sink::Connection(context.peer.clone()))
}

/// `subscriptions/listen`: runs for as long as somebody listens.
///
/// rmcp acknowledges before this is asked, and the acknowledgment cannot wait for the store. So a
/// thread that the caller may not read ends the request with the error that reading it would give,
/// and each other one is told of at once: whatever happened since the acknowledgment is not missed.
pub(super) async fn listen(server: &Server, context: SubscriptionContext) -> Result<(), ErrorData> {
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    if uris.len() > limits::SUBSCRIPTIONS_MAX {
        return Err(too_many());
    }
    let mut told = Vec::with_capacity(uris.len());
    for uri in uris {
        let followed = followed(server, &uri, context.request_context()).await?;
        let sink = Sink::Listen(context.sink().clone());
        told.push(async move {
            if sink.updated(&uri).await {
                pass_on(uri, followed, sink).await;
            }
        });
    }
    let stopping = &server.shared.app.hub.stopping;
    if told.is_empty() {
        // The client listens to nothing we have; hold the line all the same.
        tokio::select! {
            () = context.cancelled() => {}
            () = stopping.cancelled() => {}
        }
        return Ok(());
    }
    tokio::select! {
        _ = join_all(told) => {}
        () = context.cancelled() => {}
    }
    Ok(())
}

/// Follows the thread behind a URI, if reading it would be allowed.
async fn followed(
    server: &Server,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Follow, ErrorData> {
    follow_thread(server, uri, context).await.map_err(|error| failure::about(uri, error))
}

async fn follow_thread(
    server: &Server,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Follow, ErrorData> {
    let thread = ThreadUri::parse(uri).ok_or_else(failure::unknown_resource)?;
    // Through the door first: it knows about scopes and quotas, and leaves an entry.
    server.ask(context, "get_thread", json!({ "thread_id": thread.thread_id })).await?;
    let call = server.call(context)?;
    let result = follow(&call, &thread.thread_id).await;
    result.map_err(|error| failure::rpc_error(&error, call.identity.request_id.to_string()))
}

/// Tells of changes until there is nothing more to tell, or nobody to tell it to.
async fn pass_on(uri: String, followed: Follow, sink: Sink) {
    while followed.changed().await && sink.updated(&uri).await {
        // A burst is told once more when it is over, not once for each message.
        tokio::time::sleep(limits::NOTIFY_INTERVAL).await;
    }
}

fn too_many() -> ErrorData {
    let message =
        format!("a connection may be subscribed to {} threads", limits::SUBSCRIPTIONS_MAX);
    ErrorData::invalid_params(message, None)
}
