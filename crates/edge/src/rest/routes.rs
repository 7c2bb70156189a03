//! One route for each operation, all with the same handler.

use std::sync::Arc;

use axum::Router;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use http_body_util::{BodyExt, Limited};
use hub::{Entry, Error, Input, Method, Trace};
use protocol::{Caller, limits};
use tokio_util::sync::CancellationToken;

use super::input;
use crate::app::App;
use crate::{auth, status};

/// Every operation's route.
pub(crate) fn routes(app: &App) -> Router<App> {
    app.catalogue.entries().iter().fold(Router::new(), |router, entry| {
        let name = entry.name;
        let handler = async move |State(app): State<App>, params: PathParams, request: Request| {
            auth::with_caller(&app, request, |request| handle(&app, name, params, request)).await
        };
        router.route(entry.route.path, on(filter(entry.route.method), handler))
    })
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Delete => MethodFilter::DELETE,
    }
}

type PathParams = Result<RawPathParams, RawPathParamsRejection>;

async fn handle(app: &App, name: &'static str, params: PathParams, request: Request) -> Response {
    let Some(caller) = request.extensions().get::<Arc<Caller>>().cloned() else {
        return status::unauthorized(app, "this request carries no token");
    };
    let trace = request
        .headers()
        .get("traceparent")
        .and_then(|value| value.to_str().ok())
        .and_then(Trace::parse);
    // Dropped when the client hangs up, and with it whatever waits.
    let gone = CancellationToken::new();
    let _hang_up = gone.clone().drop_guard();
    let call = app.hub.call(caller, trace, gone);
    let request_id = call.identity.request_id;
    let Some(entry) = app.catalogue.get(name) else {
        return status::no_such_route(State(app.clone())).await;
    };
    // What is not UTF-8 is the name of nothing.
    let Ok(params) = params else { return status::no_such_route(State(app.clone())).await };
    let answer = match read_input(entry, &params, request).await {
        Ok(input) => app.catalogue.call(call, name, input).await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => {
            let headers = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
            let mut response = (headers, answer.json()).into_response();
            if let Ok(value) = HeaderValue::from_str(&request_id.to_string()) {
                response.headers_mut().insert(status::REQUEST_ID, value);
            }
            response
        }
        Err(error) => status::of_error(&error, request_id),
    }
}

async fn read_input(
    entry: &Entry,
    params: &RawPathParams,
    request: Request,
) -> Result<Input, Error> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    let body = read_body(request).await?;
    input::assemble(entry, params, &query, body)
}

async fn read_body(request: Request) -> Result<Vec<u8>, Error> {
    const TOO_LARGE: Error = Error::TooLarge { bytes_max: limits::BODY_BYTES_MAX };
    let body = Limited::new(request.into_body(), limits::BODY_BYTES_MAX);
    match tokio::time::timeout(limits::CONNECTION_TIMEOUT, body.collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes().to_vec()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(TOO_LARGE),
        Ok(Err(_)) => Err(Error::Cancelled),
        Err(_) => Err(Error::Timeout { seconds: limits::CONNECTION_TIMEOUT.as_secs() }),
    }
}
