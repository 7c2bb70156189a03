//! Whether the hub lives, whether it is ready, and what it counts.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use protocol::{Caller, Scope};

use crate::app::App;
use crate::status;

/// How old a proof of readiness may be, in milliseconds.
const READY_FRESH_MS: i64 = 1_000;

/// The process answers.
pub(crate) async fn livez() -> &'static str {
    "ok\n"
}

/// The hub can make a write durable: it has done so within the last second.
pub(crate) async fn readyz(State(app): State<App>) -> Response {
    if app.hub.stopping.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response();
    }
    let now = app.hub.now();
    let fresh =
        app.last_ready.lock().is_some_and(|last| (0..READY_FRESH_MS).contains(&now.ms_since(last)));
    if fresh {
        return "ok\n".into_response();
    }
    match app.hub.prove_writable().await {
        Ok(()) => {
            *app.last_ready.lock() = Some(now);
            "ok\n".into_response()
        }
        Err(error) => (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response(),
    }
}

/// Everything the hub counts, for Prometheus.
pub(crate) async fn metrics(
    State(app): State<App>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Response {
    if !caller.scopes.has(Scope::AuditRead) {
        return status::refused(
            &app,
            StatusCode::FORBIDDEN,
            "metrics need the scope audit:read",
            "waystation token issue --agent prometheus --role service --scope audit:read",
        );
    }
    let text = app.hub.metrics_text();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
