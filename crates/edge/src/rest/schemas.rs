//! The published schemas: anyone may read them, and keep them for a while.

use axum::http::header;
use axum::response::{IntoResponse, Response};

/// The JSON Schema of the envelope.
pub(crate) async fn envelope_schema() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/schema+json"),
        (header::CACHE_CONTROL, "public, max-age=3600"),
    ];
    (headers, protocol::relay::schema::envelope().to_string()).into_response()
}
