//! The Authorization header, and the certificate of the connection. Tokens are never taken from a query
//! or a body.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use protocol::{Caller, limits};

use crate::app::App;
use crate::front::Client;
use crate::server::Peer;
use crate::{fair, status};

/// Lets a request pass with its verified caller attached, or answers 401.
pub(crate) async fn require_caller(
    State(app): State<App>,
    request: Request,
    next: Next,
) -> Response {
    with_caller(&app, request, |request| next.run(request)).await
}

/// The same for whoever knows what comes next.
pub(crate) async fn with_caller<F>(
    app: &App,
    mut request: Request,
    next: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    // The private socket has settled the question already.
    if request.extensions().get::<Arc<Caller>>().is_some() {
        return next(request).await;
    }
    if request.uri().query().is_some_and(|query| query.contains("access_token=")) {
        return status::of_code(
            app,
            protocol::ErrorCode::ValidationError,
            StatusCode::BAD_REQUEST.as_u16(),
            "a token in the address would be logged on its way",
            Some("send it as Authorization: Bearer TOKEN"),
        );
    }
    let token = match bearer(request.headers()) {
        Ok(token) => token,
        Err(reason) => return status::unauthorized(app, reason),
    };
    let certificate = Client::of(&request).and_then(|client| client.names.as_ref());
    let caller = match app.verifier.verify_both(token, certificate, app.hub.now()).await {
        Ok(Some(caller)) => caller,
        Ok(None) => match &app.web.open {
            Some(caller) => Arc::clone(caller),
            None => return status::unauthorized(app, "this request carries no token"),
        },
        Err(error) => {
            slow_down(app, Client::of(&request).and_then(|client| client.peer)).await;
            return status::unauthorized(app, &error.to_string());
        }
    };
    // Nothing behind this point can see or pass on the caller's token.
    request.headers_mut().remove(header::AUTHORIZATION);
    request.extensions_mut().insert(Arc::clone(&caller));
    fair::admit(app, &caller, request, next).await
}

/// Whoever got many tokens wrong waits for the next refusal.
async fn slow_down(app: &App, peer: Option<Peer>) {
    if let Some(Peer(address)) = peer
        && app.failures.count(address, app.hub.now())
    {
        tokio::time::sleep(limits::AUTH_FAILURE_DELAY).await;
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, &'static str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Ok(None),
        (Some(value), None) => {
            value.to_str().map_err(|_| "the Authorization header is not text")?
        }
        _ => return Err("the request carries two Authorization headers"),
    };
    match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err("the Authorization header must be: Bearer TOKEN"),
    }
}
