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
use http_body_util::BodyExt;
use hub::links::{HookAnswer, HookRequest};
use protocol::ErrorCode;
use protocol::limits::links as limits;
use tokio::sync::{Semaphore, SemaphorePermit};

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
    let (parts, body) = request.into_parts();
    let (request, _places) = match whole(&app, &parts, body).await {
        Ok(whole) => whole,
        Err(Unread::NoPlace) => {
            return busy(&app, ErrorCode::Overloaded, "the hub has too much to do right now");
        }
        Err(Unread::TooLarge) => {
            count_refused(&app, peer);
            return plain(StatusCode::PAYLOAD_TOO_LARGE, "");
        }
        Err(Unread::Broken) => {
            count_refused(&app, peer);
            return plain(StatusCode::BAD_REQUEST, "");
        }
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
    if !code.is_retryable() {
        count_refused(&app, peer);
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

/// Why the body of a request was not read to its end.
enum Unread {
    /// It is larger than anything a service sends.
    TooLarge,
    /// It breaks off, comes too slowly, or is no body at all.
    Broken,
    /// Others hold all places.
    NoPlace,
}

/// The request as a connector wants it, and the places that it takes.
async fn whole<'a>(
    app: &'a App,
    parts: &Parts,
    body: Body,
) -> Result<(HookRequest, SemaphorePermit<'a>), Unread> {
    let (body, places) = bytes(&app.hooks.places, body).await?;
    let text = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let request = HookRequest {
        method: parts.method.as_str().to_owned(),
        headers: parts.headers.iter().filter_map(text).collect(),
        query: form_pairs(parts.uri.query().unwrap_or_default()).unwrap_or_default(),
        body,
    };
    Ok((request, places))
}

/// A whole body in one piece: whatever pieces it comes in, each is copied once. It takes a place for each
/// [`limits::HOOK_BYTES_MIN`] that have come: whoever only announces much, or sends it slowly, holds few.
async fn bytes(places: &Semaphore, body: Body) -> Result<(Vec<u8>, SemaphorePermit<'_>), Unread> {
    let mut held = places.try_acquire().map_err(|_| Unread::NoPlace)?;
    let announced = body.size_hint().lower();
    let mut pieces = std::pin::pin!(body);
    // Room is made for what most requests need; what is only announced takes none.
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if announced > limits::HOOK_BYTES_MAX {
        return Err(Unread::TooLarge);
    }
    let mut whole = Vec::with_capacity(announced.min(limits::HOOK_BYTES_MIN));
    while let Some(piece) = pieces.frame().await {
        // Trailers say nothing here.
        let Ok(bytes) = piece.map_err(|_| Unread::Broken)?.into_data() else { continue };
        let length = whole.len().saturating_add(bytes.len());
        if length > limits::HOOK_BYTES_MAX {
            return Err(Unread::TooLarge);
        }
        let more = length.div_ceil(limits::HOOK_BYTES_MIN).saturating_sub(held.num_permits());
        if more > 0 {
            let more = u32::try_from(more).unwrap_or(u32::MAX);
            held.merge(places.try_acquire_many(more).map_err(|_| Unread::NoPlace)?);
        }
        whole.extend_from_slice(&bytes);
    }
    Ok((whole, held))
}

/// Notes that an address sent what nobody takes.
fn count_refused(app: &App, peer: Option<Peer>) {
    if let Some(Peer(address)) = peer {
        app.hooks.refused.count(address, app.hub.now());
    }
}

fn plain(status: StatusCode, text: impl Into<String>) -> Response {
    (status, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text.into()).into_response()
}

/// A refusal after which the service tries again.
fn busy(app: &App, code: ErrorCode, message: &str) -> Response {
    status::not_now(app, code, code.http_status(), message, "send the same request again later")
}
