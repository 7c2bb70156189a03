//! Before a `subscriptions/listen` is acknowledged: chats that cannot be followed are taken out of it.
//!
//! rmcp acknowledges a listen request without waiting for anything, and an error after that would end
//! the subscriptions to everything else. So the request is looked at before rmcp sees it, on either
//! transport: chats that can be followed are followed from then on, the others leave the request and
//! thereby the acknowledgment. Who asks for nothing else gets the refusal as the error of the request.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use hub::{Call, Trace};
use protocol::Caller;
use rmcp::model::ClientRequest;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::arrivals::{FollowedChats, follow_chats};
use super::chats;
use super::server::Server;
use protocol::limits::mcp as limits;

const LISTEN: &str = "subscriptions/listen";

/// What became of the chats in a listen request.
#[derive(Clone, Default)]
pub(super) struct Sifted(Arc<Mutex<Chats>>);

#[derive(Default)]
struct Chats {
    followed: Vec<FollowedChats>,
    refused: Option<ErrorData>,
}

impl Sifted {
    /// What was found out about a request before it came to be served.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let over_http = || context.extensions.get::<Parts>()?.extensions.get::<Self>();
        context.extensions.get::<Self>().or_else(over_http).cloned().unwrap_or_default()
    }

    /// Those that are followed, and why the first of the others is not.
    pub(super) fn take(&self) -> (Vec<FollowedChats>, Option<ErrorData>) {
        let chats = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (chats.followed, chats.refused)
    }
}

/// Follows the chats in a request to listen, before rmcp acknowledges it.
pub(super) async fn sift_request(
    server: &Server,
    request: &mut ClientRequest,
    context: &mut RequestContext<RoleServer>,
) -> Result<(), ErrorData> {
    if let ClientRequest::SubscriptionsListenRequest(listen) = request
        && let Some(uris) = &mut listen.params.notifications.resource_subscriptions
    {
        let call = server.call(context)?;
        let sifted = Box::pin(sift(server, &call, uris)).await;
        context.extensions.insert(sifted);
    }
    Ok(())
}

/// Follows the chats among these URIs, and takes out those that cannot be.
async fn sift(server: &Server, call: &Call, uris: &mut Vec<String>) -> Sifted {
    let mut chats = Chats::default();
    let mut kept = Vec::with_capacity(uris.len());
    // A request for too many is refused as a whole.
    let is_too_long = uris.len() > limits::SUBSCRIPTIONS_MAX;
    for uri in std::mem::take(uris) {
        if is_too_long || !chats::is_address(&uri) {
            kept.push(uri);
            continue;
        }
        match follow_chats(server, call, &uri).await {
            Ok(followed) => {
                chats.followed.push(followed);
                kept.push(uri);
            }
            Err(error) => chats.refused = chats.refused.or(Some(error)),
        }
    }
    *uris = kept;
    Sifted(Arc::new(Mutex::new(chats)))
}

/// The body of a request over HTTP, as rmcp shall see it.
pub(super) async fn sift_body(server: &Server, parts: &mut Parts, body: Bytes) -> Bytes {
    let is_listen = parts.headers.get("mcp-method").is_some_and(|method| method == LISTEN);
    let Some(caller) = parts.extensions.get::<Arc<Caller>>().filter(|_| is_listen) else {
        return body;
    };
    let Ok(mut message) = serde_json::from_slice::<Value>(&body) else { return body };
    let list = message.pointer_mut("/params/notifications/resourceSubscriptions");
    let Some(Value::Array(list)) = list else { return body };
    let Some(mut uris) =
        list.iter().map(|uri| uri.as_str().map(str::to_owned)).collect::<Option<Vec<String>>>()
    else {
        return body;
    };
    let trace = parts.headers.get("traceparent").and_then(|trace| trace.to_str().ok());
    let trace = trace.and_then(Trace::parse);
    let hub = &server.shared.app.hub;
    let call = hub.call(Arc::clone(caller), trace, CancellationToken::new());
    let sifted = Box::pin(sift(server, &call, &mut uris)).await;
    *list = uris.into_iter().map(Value::String).collect();
    parts.extensions.insert(sifted);
    message.to_string().into()
}
