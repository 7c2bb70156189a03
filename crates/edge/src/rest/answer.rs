//! Requests for operations: every one is answered in the same way.
//!
//! They come from the front itself and pass no router and no layers: this is what agents ask all day,
//! and what every layer takes would be a good part of what a post does.

use std::ops::ControlFlow;
use std::sync::Arc;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, header};
use axum::response::Response;
use hub::{Answer, Entry};
use protocol::id::RequestId;
use protocol::{Caller, limits};
use tokio_util::sync::CancellationToken;

use super::input::{self, Fields};
use super::table::Found;
use crate::app::App;
use crate::front::Client;
use crate::{auth, fair, status, trace};

const REQUEST_ID: HeaderName = HeaderName::from_static(status::REQUEST_ID);
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Breaks off with the answer, or goes on with the request where no operation stands at its path.
pub(crate) async fn answer<B>(
    app: &App,
    client: Option<&Client>,
    request: Request<B>,
) -> ControlFlow<Response, Request<B>>
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let (entry, fields) = match app.rest.find(&app.catalogue, &parts.method, parts.uri.path()) {
        Found::Operation(entry, fields) => (entry, fields),
        Found::OtherMethods(allowed) => {
            let mut response = status::no_such_method(app);
            response.headers_mut().insert(header::ALLOW, allowed.clone());
            return ControlFlow::Break(response);
        }
        found @ Found::Nothing => {
            drop(found);
            return ControlFlow::Continue(Request::from_parts(parts, body));
        }
    };
    let response = handle(app, client, entry, fields, &parts, body).await;
    ControlFlow::Break(if parts.method == Method::HEAD { head(response) } else { response })
}

/// The same behind a router, for whatever it has no route for.
pub(crate) async fn answer_or_refuse(
    State(app): State<App>,
    request: axum::extract::Request,
) -> Response {
    let client = request.extensions().get::<Arc<Client>>().map(Arc::clone);
    match answer(&app, client.as_deref(), request).await {
        ControlFlow::Break(response) => response,
        ControlFlow::Continue(_) => status::no_such_route(&app),
    }
}

async fn handle<B>(
    app: &App,
    client: Option<&Client>,
    entry: &Entry,
    fields: Option<Fields<'_>>,
    parts: &Parts,
    body: B,
) -> Response
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let caller = match admitted(app, client, parts).await {
        Ok(caller) => caller,
        Err(refusal) => return *refusal,
    };
    // What is not UTF-8 is the name of nothing.
    let Some(fields) = fields else { return status::no_such_route(app) };
    // Dropped when the client hangs up, and with it whatever waits.
    let gone = CancellationToken::new();
    let _hang_up = gone.clone().drop_guard();
    let call = app.hub.call(caller, trace::of(&parts.headers), gone);
    let request_id = call.identity.request_id;
    let body = match fair::read(body, limits::BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(why) => return fair::not_read(app, why, parts.version, request_id),
    };
    let query = parts.uri.query().unwrap_or_default();
    let answer = match input::assemble(entry, fields, query, body) {
        Ok(input) => app.catalogue.call(call, entry.name, input).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => success(&*answer, request_id),
        Err(error) => status::of_error(&error, request_id),
    }
}

/// Whoever sent the request, unless nobody knows them or they hold too much already.
async fn admitted(
    app: &App,
    client: Option<&Client>,
    parts: &Parts,
) -> Result<Arc<Caller>, Box<Response>> {
    // The private socket has settled the question already.
    if let Some(caller) = parts.extensions.get::<Arc<Caller>>() {
        return Ok(Arc::clone(caller));
    }
    let caller = auth::caller(app, client, &parts.uri, &parts.headers).await?;
    match fair::too_many_connections(app, &caller, client, parts.version) {
        Some(refusal) => Err(Box::new(refusal)),
        None => Ok(caller),
    }
}

fn success(answer: &dyn Answer, request_id: RequestId) -> Response {
    let mut response = Response::new(Body::from(answer.json()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, JSON);
    if let Ok(value) = HeaderValue::try_from(request_id.to_string()) {
        headers.insert(REQUEST_ID, value);
    }
    response
}

/// An answer that only says how long it would be.
fn head(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    if let Some(length) = body.size_hint().exact() {
        parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(parts, Body::empty())
}
