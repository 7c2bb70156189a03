//! The readable part of an entry: what helps to find it may stand in it. It can be erased; a commitment
//! to it is sealed, so it cannot be rewritten.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::commitment::Commitment;
use crate::call::Trace;

/// How a stored detail stands to its commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetailState {
    /// There is nothing to read, and never was.
    Absent,
    /// It was erased.
    Erased,
    /// It is what the entry was made with.
    Fits,
    /// It is something else, or there is no salt left to tell.
    Differs,
    /// No commitment was made to it.
    Uncommitted,
}

impl DetailState {
    /// Of a detail, as it is found beside its commitment and their salt.
    pub(super) fn of(detail: Option<&str>, commitment: Option<&[u8]>, salt: Option<&[u8]>) -> Self {
        match (detail, commitment) {
            (None, None) => Self::Absent,
            (None, Some(_)) => Self::Erased,
            (Some(_), None) => Self::Uncommitted,
            (Some(detail), Some(commitment)) => {
                let salt = salt.and_then(|salt| <&[u8; 16]>::try_from(salt).ok());
                let made = salt.map(|salt| Commitment::detail(salt, detail));
                let fits = made.is_some_and(|made| made.0 == *commitment);
                if fits { Self::Fits } else { Self::Differs }
            }
        }
    }
}

/// What an auditor may read of a change, and the trace of the request that made it.
pub(crate) fn with_trace<'a>(
    detail: Option<&'a str>,
    trace: Option<&Trace>,
) -> Option<Cow<'a, str>> {
    let Some(trace) = trace else { return detail.map(Cow::Borrowed) };
    let mut object = match detail {
        None => Map::new(),
        Some(text) => match serde_json::from_str(text) {
            Ok(Value::Object(object)) => object,
            _ => return Some(Cow::Borrowed(text)),
        },
    };
    object.insert("trace".to_owned(), json!(trace.trace_id));
    Some(Cow::Owned(Value::Object(object).to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_joins_what_is_there() {
        let trace =
            Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").unwrap();
        let id = &trace.trace_id;
        let made = |detail| with_trace(detail, Some(&trace)).unwrap().into_owned();
        assert_eq!(made(None), format!(r#"{{"trace":"{id}"}}"#));
        assert_eq!(made(Some(r#"{"a":1}"#)), format!(r#"{{"a":1,"trace":"{id}"}}"#));
        assert_eq!(made(Some("a line")), "a line");
        assert_eq!(with_trace(Some("{}"), None).as_deref(), Some("{}"));
        assert_eq!(with_trace(None, None), None);
    }
}
