//! The daemon's HTTP: calls, the event stream, and whether it lives.

use std::collections::HashMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Query, State as Shared};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::stream;
use serde_json::Value;

use super::state::{Hearing, Piece, State};
use super::{FakeSignal, answers};

pub(super) fn routes(state: Arc<State>) -> Router {
    Router::new()
        .route("/api/v1/check", get(|| async {}))
        .route("/api/v1/rpc", post(rpc))
        .route("/api/v1/events", get(events))
        .with_state(state)
}

async fn rpc(Shared(state): Shared<Arc<State>>, Json(request): Json<Value>) -> Json<Value> {
    Json(answers::answer(&mut state.lock(), &request))
}

async fn events(
    Shared(state): Shared<Arc<State>>,
    Query(query): Query<HashMap<String, String>>,
    headers: HeaderMap,
) -> Response {
    if query.get("account").is_some_and(|account| account != FakeSignal::ACCOUNT) {
        return StatusCode::BAD_REQUEST.into_response();
    }
    let last_event = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let (_, pieces) = state.lock().listen(Hearing::Events, last_event);
    let body = stream::unfold(pieces, |mut pieces| async move {
        let piece = match pieces.recv().await? {
            Piece::Bytes(bytes) => Ok(Bytes::from(bytes)),
            Piece::HangUp => Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)),
        };
        Some((piece, pieces))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(body)).into_response()
}
