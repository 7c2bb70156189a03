//! Errors as HTTP answers.

use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hub::Error;
use hub::identity::IdentityError;
use protocol::id::RequestId;
use protocol::{ErrorBody, ErrorCode, ErrorEnvelope, limits};

use crate::app::App;

/// The header that carries the request's id on every answer.
pub(crate) const REQUEST_ID: &str = "x-request-id";

/// An operation's error.
pub(crate) fn of_error(error: &Error, request_id: RequestId) -> Response {
    of_body(error.body(request_id.to_string()), error.code().http_status())
}

/// A refusal before any operation, under `FORBIDDEN`.
pub(crate) fn refused(app: &App, status: StatusCode, message: &str, hint: &str) -> Response {
    of_code(app, ErrorCode::Forbidden, status.as_u16(), message, Some(hint))
}

/// Nobody knows who asks.
pub(crate) fn unauthorized(app: &App, message: &str) -> Response {
    let hint = "send Authorization: Bearer TOKEN; waystation token issue makes one";
    let mut response = of_code(app, ErrorCode::Unauthorized, 401, message, Some(hint));
    let challenge = if app.web.authorization_servers.is_empty() {
        "Bearer".to_owned()
    } else {
        let url = &app.web.public_url;
        format!("Bearer resource_metadata=\"{url}/.well-known/oauth-protected-resource\"")
    };
    if let Ok(value) = HeaderValue::from_str(&challenge) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

/// Why nobody knows who asks. That an issuer is away may be over soon, and the answer says so.
pub(crate) fn unverified(app: &App, error: &IdentityError) -> Response {
    let (code, message) = (error.code(), error.to_string());
    if !code.is_retryable() {
        return unauthorized(app, &message);
    }
    let hint = "the issuer of your token does not answer the hub; send the same request again";
    let again_ms = u64::try_from(limits::JWKS_REFETCH_MIN.as_millis()).unwrap_or(u64::MAX);
    let body =
        ErrorBody { retry_after_ms: Some(again_ms), ..body(app, code, &message, Some(hint)) };
    of_body(body, code.http_status())
}

pub(crate) fn no_such_route(app: &App) -> Response {
    let hint = "GET /v1/openapi.json lists every route";
    of_code(app, ErrorCode::NotFound, 404, "there is nothing at this path", Some(hint))
}

pub(crate) fn no_such_method(app: &App) -> Response {
    let hint = "GET /v1/openapi.json lists every route and its method";
    of_code(app, ErrorCode::ValidationError, 405, "this path takes another method", Some(hint))
}

/// The same, for a router.
pub(crate) async fn other_method(State(app): State<App>) -> Response {
    no_such_method(&app)
}

/// A refusal that may be over in a second.
pub(crate) fn not_now(
    app: &App,
    code: ErrorCode,
    status: u16,
    message: &str,
    hint: &str,
) -> Response {
    let body = ErrorBody { retry_after_ms: Some(1_000), ..body(app, code, message, Some(hint)) };
    of_body(body, status)
}

pub(crate) fn of_code(
    app: &App,
    code: ErrorCode,
    status: u16,
    message: &str,
    hint: Option<&str>,
) -> Response {
    of_body(body(app, code, message, hint), status)
}

fn body(app: &App, code: ErrorCode, message: &str, hint: Option<&str>) -> ErrorBody {
    let request_id = RequestId(app.hub.new_uid(app.hub.now()));
    ErrorBody {
        code,
        message: message.to_owned(),
        request_id: request_id.to_string(),
        retryable: code.is_retryable(),
        retry_after_ms: None,
        field: None,
        hint: hint.map(str::to_owned),
    }
}

fn of_body(body: ErrorBody, status: u16) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let retry_after_ms = body.retry_after_ms;
    let request_id = body.request_id.clone();
    let json = serde_json::to_vec(&ErrorEnvelope { error: body })
        .expect("an error is a struct of text and numbers");
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], json).into_response();
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        headers.insert(REQUEST_ID, value);
    }
    if let Some(ms) = retry_after_ms {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(ms.div_ceil(1_000)));
    }
    response
}
