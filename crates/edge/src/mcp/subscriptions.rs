//! Subscriptions to threads and chats, in both eras: each is one who follows, and dies with its
//! connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures_util::future::{BoxFuture, join_all};
use hub::identity::Follower;
use hub::threads::{Follow, follow};
use rmcp::model::{
    MetaObject, NotificationMetaObject, RequestId, ResourceUpdatedNotification,
    ResourceUpdatedNotificationParam, ServerNotification,
};
use rmcp::service::{Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};
use tokio::task::{AbortHandle, JoinSet};

use super::arrivals::{FollowedChats, follow_chats};
use super::server::Server;
use super::sessions::Standing;
use super::sift::Sifted;
use super::uri::ThreadUri;
use super::{chats, failure, token};
use protocol::limits::mcp as limits;

/// The subscriptions of one connection of the era of `initialize`. They end when it does.
#[derive(Clone, Default)]
pub(super) struct Subscriptions(Arc<Mutex<Option<Running>>>);

/// Looks at the subscriptions of a connection, and keeps none of them.
pub(super) struct Onlooker(Weak<Mutex<Option<Running>>>);

#[derive(Default)]
struct Running {
    tasks: JoinSet<()>,
    by_uri: HashMap<String, AbortHandle>,
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, uri: String, followed: Followed, sink: Sink) -> Result<(), ErrorData> {
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
        let task = match followed {
            Followed::Thread(thread) => running.tasks.spawn(pass_on(uri.clone(), thread, sink)),
            Followed::Chats(chats) => running.tasks.spawn(chats.pass_on(sink)),
        };
        running.by_uri.insert(uri, task);
        Ok(())
    }

    pub(super) fn onlooker(&self) -> Onlooker {
        Onlooker(Arc::downgrade(&self.0))
    }

    fn updates(&self) -> Vec<ServerNotification> {
        let guard = self.lock();
        let live = guard.iter().flat_map(|running| &running.by_uri);
        live.filter(|(_, task)| !task.is_finished())
            .map(|(uri, _)| {
                let param = ResourceUpdatedNotificationParam::new(uri);
                let updated = ResourceUpdatedNotification::new(param);
                ServerNotification::ResourceUpdatedNotification(updated)
            })
            .collect()
    }

    /// Ends one subscription, if there is one.
    pub(super) fn end(&self, uri: &str) {
        let task = self.lock().as_mut().and_then(|running| running.by_uri.remove(uri));
        if let Some(task) = task {
            task.abort();
        }
    }
}

impl Onlooker {
    /// An update of each resource that is subscribed to.
    pub(super) fn updates(&self) -> Vec<ServerNotification> {
        self.0.upgrade().map(|running| Subscriptions(running).updates()).unwrap_or_default()
    }
}

/// What a subscription follows.
enum Followed {
    Thread(Follow),
    Chats(FollowedChats),
}

/// Where a notification goes: to the connection, or to the stream of the request that asked for it.
///
/// rmcp's own sink lets nothing through but the very URIs that were asked for, and whoever asks for
/// `messages://telegram/*` wants to hear which chat it was.
#[derive(Clone)]
pub(super) struct Sink {
    peer: Peer<RoleServer>,
    listen: Option<RequestId>,
}

impl Sink {
    /// Whether the client could be told.
    pub(super) async fn updated(&self, uri: &str, about: Map<String, Value>) -> bool {
        let param = ResourceUpdatedNotificationParam::new(uri);
        let mut notification = ResourceUpdatedNotification::new(param);
        let mut meta = NotificationMetaObject(MetaObject(about));
        if let Some(id) = &self.listen {
            meta.set_subscription_id(id.clone());
        }
        if !meta.is_empty() {
            notification.extensions.insert(meta);
        }
        let notification = ServerNotification::ResourceUpdatedNotification(notification);
        self.peer.send_notification(notification).await.is_ok()
    }
}

/// `resources/subscribe`.
pub(super) async fn subscribe(
    server: &Server,
    uri: String,
    context: &RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    let follower = follower(server, context)?;
    let followed = if chats::is_address(&uri) {
        let followed = follow_chats(server, &server.call(context)?, &uri).await?;
        Followed::Chats(followed.by(follower))
    } else {
        Followed::Thread(followed(server, &uri, context).await?.by(follower))
    };
    let sink = Sink { peer: context.peer.clone(), listen: None };
    server.subscriptions.begin(uri, followed, sink)
}

/// Who subscribes: in a session over HTTP, whoever asks in it with a newer token later on.
fn follower(
    server: &Server,
    context: &RequestContext<RoleServer>,
) -> Result<Arc<Follower>, ErrorData> {
    let parts = context.extensions.get::<http::request::Parts>();
    match parts.and_then(|parts| parts.extensions.get::<Arc<Standing>>()) {
        Some(standing) => Ok(standing.subscriber(&server.subscriptions)),
        None => Ok(Arc::new(Follower::new(server.caller(context)?))),
    }
}

/// `subscriptions/listen`: runs for as long as somebody listens.
///
/// rmcp acknowledges before this is asked, and the acknowledgment cannot wait for the store. So a
/// thread that the caller may not read ends the request with the error that reading it would give,
/// and each other one is told of at once: whatever happened since the acknowledgment is not missed.
/// Chats were looked at before the acknowledgment, and are followed since.
pub(super) async fn listen(server: &Server, context: SubscriptionContext) -> Result<(), ErrorData> {
    let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    if uris.len() > limits::SUBSCRIPTIONS_MAX {
        return Err(too_many());
    }
    let request = context.request_context();
    let sink = Sink { peer: request.peer.clone(), listen: Some(request.id.clone()) };
    let (followed_chats, refused) = Sifted::of(request).take();
    if let Some(error) = refused.filter(|_| uris.is_empty()) {
        return Err(error);
    }
    let mut told: Vec<BoxFuture<'static, ()>> = Vec::with_capacity(uris.len());
    for uri in uris.into_iter().filter(|uri| !chats::is_address(uri)) {
        let followed = followed(server, &uri, request).await?;
        let sink = sink.clone();
        told.push(Box::pin(async move {
            if sink.updated(&uri, Map::new()).await {
                pass_on(uri, followed, sink).await;
            }
        }));
    }
    for chats in followed_chats {
        told.push(Box::pin(chats.pass_on(sink.clone())));
    }
    let (hub, caller) = (&server.shared.app.hub, server.caller(request)?);
    let tell = async {
        if told.is_empty() {
            // The client listens to nothing we have; hold the line all the same.
            hub.stopping.cancelled().await;
        }
        join_all(told).await;
    };
    tokio::select! {
        () = tell => {}
        () = context.cancelled() => {}
        // Who hears nothing for long would not hear either that there is nothing more to come.
        () = token::ended(hub, &caller) => {}
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
    while followed.changed().await && sink.updated(&uri, Map::new()).await {
        // A burst is told once more when it is over, not once for each message.
        tokio::time::sleep(limits::NOTIFY_INTERVAL).await;
    }
}

fn too_many() -> ErrorData {
    let message = format!("a connection may have {} subscriptions", limits::SUBSCRIPTIONS_MAX);
    ErrorData::invalid_params(message, None)
}
