//! The private sockets of a machine whose hub is elsewhere: the same to commands and agents as those of
//! a hub, with everything passed on to it.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use protocol::{ErrorCode, limits};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::listener::{
    GREETING, GREETING_BYTES_MAX, Greeting, Sockets, bind, is_same_user, serve_http,
};
use super::routes::{Owner, OwnerInfo};
use crate::accept::Accepting;
use crate::error::EdgeError;
use crate::fair::{self, Unread};
use crate::trace::Marks;

/// What a hub elsewhere answered.
#[derive(Debug)]
pub struct Relayed {
    /// The HTTP status.
    pub status: u16,
    /// The body, JSON.
    pub body: Vec<u8>,
}

impl Relayed {
    /// An error of this machine's side, in the hub's own shape.
    pub fn error(code: ErrorCode, message: &str, hint: &str) -> Self {
        Self::of(code, message, hint, code.is_retryable())
    }

    /// The error of a request that may have been done, and would be done twice if it came again.
    pub fn unknown_outcome(message: &str) -> Self {
        let hint = "look before you send it again, or use an idempotency_key";
        Self::of(ErrorCode::Unavailable, message, hint, false)
    }

    fn of(code: ErrorCode, message: &str, hint: &str, retryable: bool) -> Self {
        let body = json!({ "error": {
            "code": code, "message": message, "request_id": "", "hint": hint,
            "retryable": retryable,
        } });
        Self { status: code.http_status(), body: body.to_string().into_bytes() }
    }
}

/// The way to a hub elsewhere.
pub trait Upstream: Send + Sync + 'static {
    /// Calls an operation for whoever greets like this.
    fn call(
        &self,
        greeting: Greeting,
        operation: String,
        body: Bytes,
        marks: &Marks,
    ) -> impl Future<Output = Relayed> + Send;

    /// Carries MCP, a message a line, until one side ends. The first line that is written is the answer
    /// to the greeting.
    fn mcp(
        &self,
        greeting: Greeting,
        read: BufReader<OwnedReadHalf>,
        write: OwnedWriteHalf,
        stop: CancellationToken,
    ) -> impl Future<Output = std::io::Result<()>> + Send;
}

/// Binds both sockets; the future serves them until told to stop.
pub fn relay<U: Upstream>(
    upstream: Arc<U>,
    owner: Owner,
    sockets: &Sockets,
    stop: CancellationToken,
) -> Result<impl Future<Output = ()> + Send + use<U>, EdgeError> {
    let http = bind(&sockets.hub)?;
    let stream = bind(&sockets.mcp)?;
    let router = Router::new()
        .route("/local/call/{operation}", post(call::<U>))
        .route("/local/info", get(info).post(info))
        .route("/local/stop", post(end))
        .fallback(nothing_here)
        .layer(Extension(owner))
        .with_state(Arc::clone(&upstream));
    let paths = sockets.clone();
    Ok(async move {
        tokio::join!(
            serve_http(http, router.into(), Arc::new(AtomicUsize::new(0)), stop.clone()),
            serve_mcp(stream, upstream, stop),
        );
        for path in [paths.hub, paths.mcp] {
            if let Err(error) = std::fs::remove_file(&path) {
                tracing::debug!(%error, path = %path.display(), "a socket was gone already");
            }
        }
    })
}

async fn call<U: Upstream>(
    State(upstream): State<Arc<U>>,
    Path(operation): Path<String>,
    request: Request,
) -> Response {
    let marks = Marks::of(request.headers());
    let mut response = respond(ask(&*upstream, operation, request, &marks).await);
    marks.carry_back(&mut response);
    response
}

async fn ask<U: Upstream>(
    upstream: &U,
    operation: String,
    request: Request,
    marks: &Marks,
) -> Relayed {
    let Some(greeting) = greeting(request.headers()) else {
        let message = "this request does not say who asks";
        let hint = "use the waystation command";
        return Relayed::error(ErrorCode::Unauthorized, message, hint);
    };
    match fair::read(request.into_body(), limits::BODY_BYTES_MAX).await {
        Ok(body) => upstream.call(greeting, operation, body.into(), marks).await,
        Err(why) => not_read(why),
    }
}

/// The answer to a body that was not read to its end.
fn not_read(why: Unread) -> Relayed {
    match why {
        Unread::TooLarge => {
            let message = format!("the request is larger than {} bytes", limits::BODY_BYTES_MAX);
            Relayed::error(ErrorCode::PayloadTooLarge, &message, "send a long text in parts")
        }
        Unread::TooSlow | Unread::Malformed | Unread::Broken => {
            let hint = "send the request again, whole; an idempotency_key makes that safe";
            Relayed::error(ErrorCode::Timeout, "the request's body did not come", hint)
        }
    }
}

async fn info(Extension(owner): Extension<Owner>) -> Json<OwnerInfo> {
    Json(owner.info)
}

async fn end(Extension(owner): Extension<Owner>, headers: HeaderMap) -> Response {
    if !greeting(&headers).is_some_and(|greeting| greeting.operator) {
        let hint = "run this as the user who owns the data folder";
        let message = "only the operator may stop it";
        return respond(Relayed::error(ErrorCode::Forbidden, message, hint));
    }
    owner.stop.cancel();
    "stopping\n".into_response()
}

async fn nothing_here() -> Response {
    let hint = "the hub itself has more; ask it at its own address";
    respond(Relayed::error(ErrorCode::NotFound, "there is nothing at this path", hint))
}

fn greeting(headers: &HeaderMap) -> Option<Greeting> {
    serde_json::from_slice(headers.get(GREETING)?.as_bytes()).ok()
}

fn respond(answer: Relayed) -> Response {
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::BAD_GATEWAY);
    (status, [(header::CONTENT_TYPE, "application/json")], answer.body).into_response()
}

async fn serve_mcp<U: Upstream>(listener: UnixListener, upstream: Arc<U>, stop: CancellationToken) {
    let mut clients = JoinSet::new();
    let mut accepting = Accepting::new(listener);
    loop {
        let stream = tokio::select! {
            accepted = accepting.next() => accepted,
            Some(_) = clients.join_next(), if !clients.is_empty() => continue,
            () = stop.cancelled() => break,
        };
        if !is_same_user(&stream) {
            tracing::warn!("another user tried the private socket");
            continue;
        }
        let (upstream, stop) = (Arc::clone(&upstream), stop.clone());
        clients.spawn(async move {
            if let Err(error) = serve_mcp_client(stream, &*upstream, stop).await {
                tracing::debug!(%error, "a local MCP client ended early");
            }
        });
    }
    while clients.join_next().await.is_some() {}
}

async fn serve_mcp_client<U: Upstream>(
    stream: UnixStream,
    upstream: &U,
    stop: CancellationToken,
) -> std::io::Result<()> {
    let (read, write) = stream.into_split();
    let mut read = BufReader::new(read);
    let mut line = String::new();
    let mut hello = (&mut read).take(GREETING_BYTES_MAX);
    tokio::time::timeout(limits::HEADER_READ_TIMEOUT, hello.read_line(&mut line)).await??;
    let greeting = serde_json::from_str(&line).map_err(std::io::Error::other)?;
    upstream.mcp(greeting, read, write, stop).await
}
