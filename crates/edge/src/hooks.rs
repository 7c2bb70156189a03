//! Services that call a link: `/hooks/{workspace}/{link}`.
//!
//! No token vouches for them. The link's connector checks the signature over the very bytes that came,
//! and an answer of 200 goes out only when what they said is committed, so that a service may forget.
//! Whoever cannot sign learns no more than that.

use axum::body::{Body, HttpBody};
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use http_body_util::{BodyExt, Limited};
use hub::links::{HookAnswer, HookRequest};
use protocol::ErrorCode;
use protocol::limits::links as limits;

use crate::app::App;
use crate::front::Client;
use crate::rest::form_pairs;
use crate::server::Peer;
use crate::status;

/// Takes a request of a service.
pub(crate) async fn receive(
    State(app): State<App>,
    Path((workspace, link)): Path<(String, String)>,
    request: Request,
) -> Response {
    let peer = Client::of(&request).and_then(|client| client.peer);
    if let Some(Peer(address)) = peer
        && (app.hooks.refused.is_used_up(address, app.hub.now())
            // Behind a proxy on this machine everyone has the same address.
            || (app.hooks.all.count(address, app.hub.now()) && !address.is_loopback()))
    {
        return busy(&app, ErrorCode::RateLimited, "too many requests came from this address");
    }
    let Ok(_places) = app.hooks.places.try_acquire_many(size(&request)) else {
        return busy(&app, ErrorCode::Overloaded, "the hub has too much to do right now");
    };
    let (parts, body) = request.into_parts();
    let Some(request) = whole(&parts, body).await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "");
    };
    // A name that holds a slash would read as another workspace's.
    let received = if workspace.contains('/') || link.contains('/') {
        Err(ErrorCode::NotFound)
    } else {
        let name = format!("{workspace}/{link}");
        let taken =
            tokio::time::timeout(limits::HOOK_TIMEOUT, app.hub.links.receive(&name, request));
        match taken.await {
            Ok(taken) => taken.map_err(|error| error.code()),
            Err(_) => Err(ErrorCode::Timeout),
        }
    };
    let code = match received {
        Ok(HookAnswer::Text(answer)) => return plain(StatusCode::OK, answer),
        Ok(HookAnswer::Json(answer)) => return Json(answer).into_response(),
        Err(code) => code,
    };
    tracing::debug!(%code, "a hook was refused");
    if let Some(Peer(address)) = peer
        && !code.is_retryable()
    {
        app.hooks.refused.count(address, app.hub.now());
    }
    match code {
        // Exactly what any other path says at which there is nothing.
        ErrorCode::NotFound => status::no_such_route(&app),
        ErrorCode::Unauthorized => plain(StatusCode::UNAUTHORIZED, ""),
        code if code.is_retryable() => busy(&app, code, "it could not be taken in now"),
        ErrorCode::ValidationError | ErrorCode::InvalidParameter => {
            plain(StatusCode::BAD_REQUEST, "")
        }
        _ => plain(StatusCode::INTERNAL_SERVER_ERROR, ""),
    }
}

/// How many places a request takes: as many as its length needs, where it says one.
fn size(request: &Request) -> u32 {
    let length = request.headers().get(header::CONTENT_LENGTH);
    let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
    let bytes = length.unwrap_or(limits::HOOK_BYTES_MAX).min(limits::HOOK_BYTES_MAX);
    u32::try_from(bytes.div_ceil(limits::HOOK_BYTES_MIN).max(1)).unwrap_or(u32::MAX)
}

/// The request as a connector wants it; `None` when it is larger than anything a service sends.
async fn whole(parts: &Parts, body: Body) -> Option<HookRequest> {
    let body = bytes(body).await?;
    let text = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    Some(HookRequest {
        method: parts.method.as_str().to_owned(),
        headers: parts.headers.iter().filter_map(text).collect(),
        query: form_pairs(parts.uri.query().unwrap_or_default()).unwrap_or_default(),
        body,
    })
}

/// A whole body in one piece: whatever pieces it comes in, each is copied once.
async fn bytes(body: Body) -> Option<Vec<u8>> {
    let announced = body.size_hint().lower();
    let mut pieces = std::pin::pin!(Limited::new(body, limits::HOOK_BYTES_MAX));
    // Room is made for what most requests need; what is only announced takes none.
    let room = usize::try_from(announced).unwrap_or(usize::MAX).min(limits::HOOK_BYTES_MIN);
    let mut whole = Vec::with_capacity(room);
    while let Some(piece) = pieces.frame().await {
        if let Ok(bytes) = piece.ok()?.into_data() {
            whole.extend_from_slice(&bytes);
        }
    }
    Some(whole)
}

fn plain(status: StatusCode, text: impl Into<String>) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.into()).into_response()
}

/// A refusal after which the service tries again.
fn busy(app: &App, code: ErrorCode, message: &str) -> Response {
    status::not_now(app, code, code.http_status(), message, "send the same request again later")
}
