//! The app of the fake: it is known by its signature, and gets tokens for its installation.

use std::sync::Arc;

use axum::extract::{Path, State as Extract};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::super::calling::this_second;
use super::{APP_ID, CLIENT_ID, INSTALLATION_ID, PRIVATE_KEY_PKCS1, Shared, TOKEN};

/// The longest that a signature of the app may last, in seconds.
const JWT_SECONDS_MAX: i64 = 600;

pub(super) async fn app(Extract(shared): Extract<Arc<Shared>>, headers: HeaderMap) -> Response {
    as_app(&shared, &headers, "GET /app", || {
        json!({
            "id": APP_ID, "client_id": CLIENT_ID, "slug": "waystation", "name": "Waystation",
            "permissions": {
                "issues": "write", "pull_requests": "write", "discussions": "write",
                "metadata": "read",
            },
        })
    })
}

pub(super) async fn installation(
    Extract(shared): Extract<Arc<Shared>>,
    headers: HeaderMap,
) -> Response {
    as_app(&shared, &headers, "GET /repos/…/installation", || json!({"id": INSTALLATION_ID}))
}

pub(super) async fn user(Extract(shared): Extract<Arc<Shared>>, headers: HeaderMap) -> Response {
    shared.state.lock().requests.push("GET /user".to_owned());
    if bearer(&headers) != Some(TOKEN) {
        return bad_credentials();
    }
    json!({"login": "waystation", "id": 5}).to_string().into_response()
}

pub(super) async fn access_token(
    Extract(shared): Extract<Arc<Shared>>,
    Path(id): Path<i64>,
    headers: HeaderMap,
) -> Response {
    shared.state.lock().requests.push(format!("POST /app/installations/{id}/access_tokens"));
    if let Some(refusal) = shared.trouble.refusal() {
        return refusal;
    }
    if !is_app(&headers) {
        return bad_credentials();
    }
    if id != INSTALLATION_ID {
        return (StatusCode::NOT_FOUND, json!({"message": "Not Found"}).to_string())
            .into_response();
    }
    let mut state = shared.state.lock();
    state.tokens_made += 1;
    let token = format!("ghs_fake{}", state.tokens_made);
    state.tokens.insert(token.clone());
    // An hour from the moment that the header `Date` says.
    let until = httpdate(this_second() + 3_600);
    (StatusCode::CREATED, json!({"token": token, "expires_at": until}).to_string()).into_response()
}

/// Answers the app itself.
pub(super) fn as_app(
    shared: &Shared,
    headers: &HeaderMap,
    what: &str,
    answer: impl FnOnce() -> Value,
) -> Response {
    shared.state.lock().requests.push(what.to_owned());
    if let Some(refusal) = shared.trouble.refusal() {
        return refusal;
    }
    if is_app(headers) { answer().to_string().into_response() } else { bad_credentials() }
}

/// Whether a request is signed by the app, and for no longer than GitHub takes.
pub(super) fn is_app(headers: &HeaderMap) -> bool {
    let Some((content, signature)) = bearer(headers).and_then(|token| token.rsplit_once('.'))
    else {
        return false;
    };
    let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return false };
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public_key());
    if public.verify(content.as_bytes(), &signature).is_err() {
        return false;
    }
    let claims = content.split('.').nth(1).and_then(|claims| URL_SAFE_NO_PAD.decode(claims).ok());
    let claims: Value = serde_json::from_slice(&claims.unwrap_or_default()).unwrap_or_default();
    let second = |name: &str| claims.get(name).and_then(Value::as_i64).unwrap_or_default();
    let now = this_second();
    let is_known = claims
        .get("iss")
        .and_then(Value::as_str)
        .is_some_and(|iss| iss == CLIENT_ID || iss.parse() == Ok(APP_ID));
    is_known
        && second("iat") <= now
        && second("exp") > now
        && second("exp") <= now + JWT_SECONDS_MAX
}

fn public_key() -> Vec<u8> {
    let body: String =
        PRIVATE_KEY_PKCS1.lines().filter(|line| !line.starts_with('-')).map(str::trim).collect();
    let der = STANDARD.decode(body).expect("the fake's key is base64");
    RsaKeyPair::from_der(&der).expect("the fake's key is a key").public_key().as_ref().to_vec()
}

pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

pub(super) fn bad_credentials() -> Response {
    let body = json!({"message": "Bad credentials"}).to_string();
    (StatusCode::UNAUTHORIZED, body).into_response()
}

/// A moment as RFC 3339.
pub(super) fn httpdate(seconds: i64) -> String {
    protocol::Timestamp::from_ms(seconds * 1_000).to_string()
}
