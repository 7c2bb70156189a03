//! A caller's request on its way in: it may be one connection or one stream too many.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Version, header};
use axum::middleware::Next;
use axum::response::Response;
use http_body_util::BodyExt;
use hub::Error;
use hyper::body::Body;
use protocol::id::RequestId;
use protocol::{Caller, ErrorCode, limits};

use super::pace::{Paced, TooSlow, Unread};
use super::shares::Kind;
use crate::app::App;
use crate::front::Client;
use crate::status;

/// Passes a request on unless its caller holds too much already, and watches over its body.
pub(crate) async fn admit<F>(
    app: &App,
    caller: &Arc<Caller>,
    request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let version = request.version();
    if let Some(refusal) = too_many_connections(app, caller, Client::of(&request), version) {
        return refusal;
    }
    let share = if is_somebody(app, caller) && wants_stream(&request) {
        match app.shares.take(Kind::Stream, caller) {
            Some(share) => Some(share),
            None => return too_many(app, Kind::Stream, version),
        }
    } else {
        None
    };
    let response = keep_pace(app, request, next).await;
    match share {
        // The share is let go with the last frame, or when the client has left.
        Some(share) if is_stream(&response) => response.map(|body| {
            axum::body::Body::new(body.map_frame(move |frame| {
                let _held = &share;
                frame
            }))
        }),
        _ => response,
    }
}

/// Whoever comes without a token through an open listener is nobody in particular.
fn is_somebody(app: &App, caller: &Arc<Caller>) -> bool {
    app.web.open.as_ref().is_none_or(|open| !Arc::ptr_eq(open, caller))
}

/// Counts a request's connection for its caller; the answer when that is one too many.
pub(crate) fn too_many_connections(
    app: &App,
    caller: &Arc<Caller>,
    client: Option<&Client>,
    version: Version,
) -> Option<Response> {
    let client = client.filter(|client| client.peer.is_some() && is_somebody(app, caller))?;
    let refusal = || too_many(app, Kind::Connection, version);
    (!client.holder.count_for(caller, &app.shares)).then(refusal)
}

/// Whether the answer to a request is a stream that stays open: MCP's of either era. A call that only
/// tells of its progress ends by itself and is none.
fn wants_stream(request: &Request) -> bool {
    let method = request.headers().get("mcp-method");
    request.uri().path() == "/mcp"
        && (request.method() == Method::GET
            || method.is_some_and(|method| method == "subscriptions/listen"))
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Watches over the body of a request that has no caller.
pub(crate) async fn paced(State(app): State<App>, request: Request, next: Next) -> Response {
    keep_pace(&app, request, |request| next.run(request)).await
}

async fn keep_pace<F>(app: &App, request: Request, next: impl FnOnce(Request) -> F) -> Response
where
    F: Future<Output = Response>,
{
    if request.body().is_end_stream() {
        return next(request).await;
    }
    let version = request.version();
    let too_slow = TooSlow::default();
    let request = request.map(|body| axum::body::Body::new(Paced::new(body, too_slow.clone())));
    let response = next(request).await;
    if too_slow.is_so() { came_too_slowly(app, version) } else { response }
}

/// The answer to a body that was not waited for any longer.
fn came_too_slowly(app: &App, version: Version) -> Response {
    let message = format!(
        "the request's body came more slowly than {} bytes a second, or took longer than {} s",
        limits::UPLOAD_BYTES_PER_SECOND_MIN,
        limits::UPLOAD_TIMEOUT.as_secs()
    );
    let hint = "send the request again, whole; an idempotency_key makes that safe";
    last(status::not_now(app, ErrorCode::Timeout, 408, &message, hint), version)
}

/// The answer to a body that was not read to its end.
pub(crate) fn not_read(
    app: &App,
    why: Unread,
    version: Version,
    request_id: RequestId,
) -> Response {
    let error = match why {
        Unread::TooSlow => return came_too_slowly(app, version),
        Unread::TooLarge => Error::TooLarge { bytes_max: limits::BODY_BYTES_MAX },
        Unread::Malformed => Error::Invalid {
            field: String::new(),
            message: "the request's body is not framed as HTTP has it".to_owned(),
            hint: Some("send its content-length, or chunks with their sizes in hex".to_owned()),
        },
        Unread::Broken => Error::Cancelled,
    };
    status::of_error(&error, request_id)
}

fn too_many(app: &App, kind: Kind, version: Version) -> Response {
    let most = app.shares.most(kind);
    let (what, hint, setting) = match kind {
        Kind::Connection => (
            "connections",
            "send further requests over one of them, or close those that are not needed",
            "connections_per_agent_max",
        ),
        Kind::Stream => (
            "event streams",
            "close one, or follow several threads over one of them",
            "streams_per_agent_max",
        ),
    };
    let message = format!("this agent holds {most} {what} already, as many as it may");
    let hint = format!("{hint}; the operator can raise limits.{setting}");
    let response = status::not_now(app, ErrorCode::RateLimited, 429, &message, &hint);
    match kind {
        Kind::Connection => last(response, version),
        Kind::Stream => response,
    }
}

/// Ends the connection with this answer.
fn last(mut response: Response, version: Version) -> Response {
    if version <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
