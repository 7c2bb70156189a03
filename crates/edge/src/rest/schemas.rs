//! The published schemas: anyone may read them, and keep them for a while.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use crate::app::App;

/// The JSON Schema of the envelope.
pub(crate) async fn envelope_schema(State(app): State<App>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/schema+json"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, app.envelope_schema.to_string()).into_response()
}
