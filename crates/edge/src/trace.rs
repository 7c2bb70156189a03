//! What a caller uses to find its request again goes back on the answer as it came.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use hub::Trace;
use protocol::limits;

const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");
const CORRELATION_ID: HeaderName = HeaderName::from_static("x-correlation-id");

/// Runs a request and carries its trace and its correlation id back.
pub(crate) async fn carry_back(request: Request, next: Next) -> Response {
    let trace = sound(request.headers(), &TRACE_PARENT, |text| Trace::parse(text).is_some());
    let correlation = sound(request.headers(), &CORRELATION_ID, |text| {
        !text.is_empty() && text.len() <= limits::CORRELATION_ID_BYTES_MAX
    });
    let mut response = next.run(request).await;
    for (name, value) in [(TRACE_PARENT, trace), (CORRELATION_ID, correlation)] {
        if let Some(value) = value {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

fn sound(
    headers: &HeaderMap,
    name: &HeaderName,
    is_sound: impl Fn(&str) -> bool,
) -> Option<HeaderValue> {
    let value = headers.get(name)?;
    value.to_str().is_ok_and(is_sound).then(|| value.clone())
}
