//! MCP over HTTP: rmcp's service, behind one thin layer that reads the body once, answers plain calls,
//! refuses what is no JSON-RPC in JSON-RPC's own words, and keeps sessions to those who began them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, BodyStream, Full, Limited, StreamBody};
use hub::Hub;
use protocol::{Caller, limits as common};
use rmcp::ServerHandler;
use rmcp::model::{ErrorCode, ProtocolVersion};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::server::{Server, Who};
use super::sessions::Sessions;
use super::written::Written;
use super::{App, failure, plain, sift, token, toolsets};
use protocol::limits::mcp as limits;

pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

const LOCAL_ORIGINS: [&str; 6] = [
    "http://localhost:*",
    "https://localhost:*",
    "http://127.0.0.1:*",
    "https://127.0.0.1:*",
    "http://[::1]:*",
    "https://[::1]:*",
];

/// What an operator may choose about MCP over HTTP.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Names this hub answers to, with or without a port; `*` for any. Empty means this machine only.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, such as `https://app.example.com:443`. Empty means pages of
    /// this machine only. Requests without an origin do not come from a page and are not asked for one.
    pub allowed_origins: Vec<String>,
    /// The largest body.
    pub body_bytes_max: usize,
    /// A session that nobody used or listened to for so long is over.
    pub session_idle: Duration,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            body_bytes_max: common::BODY_BYTES_MAX,
            session_idle: limits::SESSION_IDLE,
        }
    }
}

impl HttpSettings {
    /// Whether any name will do, because somebody before us looks at it.
    fn takes_any_host(&self) -> bool {
        self.allowed_hosts.iter().any(|host| host == "*")
    }

    fn config(&self) -> StreamableHttpServerConfig {
        let origins: Vec<&str> = match self.allowed_origins.as_slice() {
            [] => LOCAL_ORIGINS.to_vec(),
            origins => origins.iter().map(String::as_str).collect(),
        };
        // Sessions are for clients of the older era, plain JSON for those of the newer; rmcp's
        // documentation says that these exclude each other, its code and our tests that they do not.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(true)
            .with_json_response(true)
            .with_sse_keep_alive(Some(common::STREAM_KEEP_ALIVE))
            .with_max_request_body_bytes(self.body_bytes_max)
            .with_allowed_origins(origins)
            .enforce_origin_validation();
        match self.allowed_hosts.as_slice() {
            [] => config,
            _ if self.takes_any_host() => config.disable_allowed_hosts(),
            hosts => config.with_allowed_hosts(hosts.iter().cloned()),
        }
    }
}

/// The hub over MCP, for requests that authentication has given an `Arc<Caller>`.
pub fn http_service(app: App, settings: &HttpSettings) -> HttpService<Server> {
    http_service_of(Server::new(app, Who::Request), settings)
}

/// The same for a server that is there already.
pub fn http_service_of(server: Server, settings: &HttpSettings) -> HttpService<Server> {
    let stop = server.shared.app.hub.stopping.clone();
    let first = server.clone();
    service(move || first.connection(), settings, stop, Some(server))
}

/// Any MCP server, behind the same layers. `connection` makes the handler of one connection; open
/// streams end when `stop` does.
pub fn http_service_for<H: ServerHandler + Clone>(
    connection: impl Fn() -> H + Send + Sync + 'static,
    settings: &HttpSettings,
    stop: CancellationToken,
) -> HttpService<H> {
    service(connection, settings, stop, None)
}

fn service<H: ServerHandler>(
    connection: impl Fn() -> H + Send + Sync + 'static,
    settings: &HttpSettings,
    stop: CancellationToken,
    hub: Option<Server>,
) -> HttpService<H> {
    let sessions = Arc::new(Sessions::new(settings.session_idle, stop));
    let rmcp = StreamableHttpService::new(
        move || Ok(connection()),
        Arc::clone(&sessions),
        settings.config(),
    );
    let (body_bytes_max, takes_any_host) = (settings.body_bytes_max, settings.takes_any_host());
    HttpService(Arc::new(Inner { rmcp, sessions, body_bytes_max, takes_any_host, hub }))
}

/// MCP over HTTP, as a service to mount at a path.
pub struct HttpService<H>(Arc<Inner<H>>);

struct Inner<H> {
    rmcp: StreamableHttpService<H, Sessions>,
    sessions: Arc<Sessions>,
    body_bytes_max: usize,
    takes_any_host: bool,
    /// Answers plain calls, and looks at subscriptions before they are acknowledged.
    hub: Option<Server>,
}

type Body = BoxBody<Bytes, Infallible>;
type Answer = Response<Body>;

impl<H> Clone for HttpService<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<H, B> tower::Service<Request<B>> for HttpService<H>
where
    H: ServerHandler,
    B: hyper::body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let inner = Arc::clone(&self.0);
        Box::pin(async move { Ok(inner.answer(request).await) })
    }
}

impl<H: ServerHandler> Inner<H> {
    async fn answer<B>(&self, request: Request<B>) -> Answer
    where
        B: hyper::body::Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (mut parts, body) = request.into_parts();
        let caller = parts.extensions.get::<Arc<Caller>>().cloned();
        if names_newer_era(&parts.headers) {
            // The newer era has no sessions: whichever is named there means nothing.
            parts.headers.remove(SESSION_ID);
        }
        let session = parts.headers.get(SESSION_ID).and_then(|id| id.to_str().ok());
        if session.is_some_and(|id| self.sessions.is_foreign(id, caller.as_deref())) {
            return no_session();
        }
        if let Some(standing) =
            session.zip(caller.as_ref()).and_then(|(id, caller)| self.sessions.renew(id, caller))
        {
            parts.extensions.insert(standing);
        }
        if let Err(unknown) = toolsets::of_address(&parts) {
            let text = unknown.to_string();
            let code = ErrorCode::INVALID_REQUEST.0;
            return refusal(StatusCode::BAD_REQUEST, &failure::envelope(&Value::Null, code, &text));
        }
        accept_both(&mut parts.headers);
        if parts.method != Method::POST {
            return self.answer_without_body(parts).await;
        }
        let body = match Limited::new(body, self.body_bytes_max).collect().await {
            Ok(collected) => collected.to_bytes(),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => {
                let message = format!("the request is larger than {} bytes", self.body_bytes_max);
                return refusal(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    &failure::envelope(&Value::Null, ErrorCode::INVALID_REQUEST.0, &message),
                );
            }
            Err(_) => return text(StatusCode::BAD_REQUEST, "the body could not be read"),
        };
        let is_json = is_json(&parts.headers);
        let body = match &self.hub {
            Some(server) => {
                // Otherwise rmcp looks at the name first.
                if self.takes_any_host
                    && let Some(plain) = plain::answer(server, &self.sessions, &parts, &body).await
                {
                    return json(StatusCode::OK, plain);
                }
                if let Some(written) = Written::of(&body) {
                    parts.extensions.insert(written);
                }
                sift::sift_body(server, &mut parts, body).await
            }
            None => body,
        };
        let request = Request::from_parts(parts, Full::new(body.clone()));
        let answer = self.rmcp.handle(request).await;
        // rmcp says so of a body that it could not read as a message, and of nothing else that
        // claims to be JSON; only then is the body read a second time.
        if answer.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return refusal(StatusCode::BAD_REQUEST, &failure::not_a_message(&body));
        }
        if let Some(id) = answer.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()) {
            self.sessions.bind(id, caller.as_ref()).await;
        }
        answer
    }

    async fn answer_without_body(&self, parts: http::request::Parts) -> Answer {
        let ends_session = parts.method == Method::DELETE;
        // rmcp ends a session again and again.
        if ends_session
            && let Some(id) = parts.headers.get(SESSION_ID).and_then(|id| id.to_str().ok())
            && !self.sessions.is_used(id).await
        {
            return no_session();
        }
        let caller = parts.extensions.get::<Arc<Caller>>().cloned();
        let request = Request::from_parts(parts, Full::<Bytes>::default());
        let mut answer = self.rmcp.handle(request).await;
        if ends_session && answer.status() == StatusCode::ACCEPTED {
            // The session is over, not about to be; some clients complain about the latter.
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        match (&self.hub, caller) {
            (Some(server), Some(caller)) => {
                let hub = Arc::clone(&server.shared.app.hub);
                answer.map(|events| until_token_ends(events, hub, caller))
            }
            _ => answer,
        }
    }
}

/// A stream that ends, at the latest, with the token it was asked for with.
fn until_token_ends(events: Body, hub: Arc<Hub>, caller: Arc<Caller>) -> Body {
    let ended = async move { token::ended(&hub, &caller).await };
    let events = BodyStream::new(events).take_until(Box::pin(ended));
    BodyExt::boxed(StreamBody::new(events))
}

/// Whether the headers of a request say that it is of the era without sessions.
fn names_newer_era(headers: &HeaderMap) -> bool {
    headers.get(VERSION).is_some_and(|version| version == ProtocolVersion::V_2026_07_28.as_str())
}

/// Exactly what rmcp says of a session that does not exist.
fn no_session() -> Answer {
    text(StatusCode::NOT_FOUND, "Not Found: Session not found")
}

/// Who accepts anything accepts both of the types that the protocol asks a client to accept.
fn accept_both(headers: &mut HeaderMap) {
    let anything = match headers.get(ACCEPT) {
        None => true,
        Some(accept) => accept.to_str().is_ok_and(|accept| accept.contains("*/*")),
    };
    if anything {
        headers.insert(ACCEPT, BOTH);
    }
}

pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    content_type.is_some_and(|value| value.starts_with("application/json"))
}

fn text(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::from(text).boxed());
    *answer.status_mut() = status;
    answer
}

fn refusal(status: StatusCode, body: &Value) -> Answer {
    json(status, body.to_string().into_bytes())
}

fn json(status: StatusCode, body: Vec<u8>) -> Answer {
    let mut answer = Response::new(Full::from(body).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}
