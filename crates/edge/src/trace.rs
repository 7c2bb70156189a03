//! What a caller uses to find its request again: a trace, which goes to the log and the audit trail, and
//! a correlation id. Both go back on the answer as they came.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use hub::Trace;
use protocol::limits;

const TRACE_PARENT_NAME: &str = "traceparent";
const TRACE_PARENT: HeaderName = HeaderName::from_static(TRACE_PARENT_NAME);
const CORRELATION_ID_NAME: &str = "x-correlation-id";
const CORRELATION_ID: HeaderName = HeaderName::from_static(CORRELATION_ID_NAME);

/// The trace that a request belongs to.
pub(crate) fn of(headers: &HeaderMap) -> Option<Trace> {
    headers.get(TRACE_PARENT)?.to_str().ok().and_then(Trace::parse)
}

/// A request's trace and correlation id, where they are sound.
#[derive(Debug, Default)]
pub struct Marks {
    trace: Option<HeaderValue>,
    correlation: Option<HeaderValue>,
}

impl Marks {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self {
            trace: sound(headers, &TRACE_PARENT, |text| Trace::parse(text).is_some()),
            correlation: sound(headers, &CORRELATION_ID, |text| {
                !text.is_empty() && text.len() <= limits::CORRELATION_ID_BYTES_MAX
            }),
        }
    }

    /// The headers that say them to another hub.
    pub fn headers(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let both = [(TRACE_PARENT_NAME, &self.trace), (CORRELATION_ID_NAME, &self.correlation)];
        both.into_iter().filter_map(|(name, value)| Some((name, value.as_ref()?.to_str().ok()?)))
    }

    pub(crate) fn carry_back(self, response: &mut Response) {
        for (name, value) in [(TRACE_PARENT, self.trace), (CORRELATION_ID, self.correlation)] {
            if let Some(value) = value {
                response.headers_mut().insert(name, value);
            }
        }
    }
}

fn sound(
    headers: &HeaderMap,
    name: &HeaderName,
    is_sound: impl Fn(&str) -> bool,
) -> Option<HeaderValue> {
    let value = headers.get(name)?;
    value.to_str().is_ok_and(is_sound).then(|| value.clone())
}
