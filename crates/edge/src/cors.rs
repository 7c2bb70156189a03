//! What a browser asks and is told before a page of an allowed origin may call the hub and read its
//! answers. The guard has turned away every other origin, and a browser shows its page nothing then.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};

const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PUT, DELETE");

/// The headers of requests that the hub reads.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, accept, last-event-id, mcp-session-id, mcp-protocol-version, \
     mcp-method, mcp-name, traceparent, x-correlation-id",
);

/// The headers of answers that tell a client what to do next, or where to look.
const ANSWER_HEADERS: HeaderValue = HeaderValue::from_static(
    "mcp-session-id, x-request-id, www-authenticate, retry-after, allow, traceparent, \
     x-correlation-id",
);

/// For how many seconds a browser need not ask again.
const KEPT_SECONDS: HeaderValue = HeaderValue::from_static("600");

/// A web page that may call the hub, by its origin.
pub(crate) struct Page(HeaderValue);

impl Page {
    /// The page that a request comes from, if any. The guard has let the request pass.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        headers.get(header::ORIGIN).cloned().map(Self)
    }

    /// Lets the page read an answer.
    pub(crate) fn show(self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, self.0);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANSWER_HEADERS);
        headers.append(header::VARY, HeaderValue::from_name(header::ORIGIN));
    }
}

/// The answer to a browser that asks what its page may send; it asks without a token.
pub(crate) fn preflight<B>(request: &Request<B>) -> Option<Response> {
    let asks = |name: HeaderName| request.headers().contains_key(name);
    let is_preflight = request.method() == Method::OPTIONS
        && asks(header::ORIGIN)
        && asks(header::ACCESS_CONTROL_REQUEST_METHOD);
    is_preflight.then(|| {
        let allowed = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS),
            (header::ACCESS_CONTROL_MAX_AGE, KEPT_SECONDS),
        ];
        (StatusCode::NO_CONTENT, allowed).into_response()
    })
}
