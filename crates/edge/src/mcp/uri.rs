//! The URI of a thread: `threads://{thread_id}`, with `?since_seq=N&limit=M` to read on.

/// How a client makes the URI of a thread.
pub(super) const TEMPLATE: &str = "threads://{thread_id}";

/// A thread as a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadUri {
    /// The thread's id, as it was given.
    pub(super) thread_id: String,
    /// Read what comes after this number.
    pub(super) since_seq: Option<i64>,
    /// How many messages.
    pub(super) limit: Option<i64>,
}

impl ThreadUri {
    /// The URI of a thread.
    pub(super) fn of(thread_id: &str) -> String {
        format!("threads://{thread_id}")
    }

    /// Reads a URI; `None` for what names no thread.
    pub(super) fn parse(uri: &str) -> Option<Self> {
        let rest = uri.strip_prefix("threads://")?;
        let (thread_id, query) = rest.split_once('?').unwrap_or((rest, ""));
        let thread_id = thread_id.strip_suffix('/').unwrap_or(thread_id);
        if thread_id.is_empty() || thread_id.contains(['/', '#']) {
            return None;
        }
        let mut parsed = Self { thread_id: thread_id.to_owned(), since_seq: None, limit: None };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=')?;
            let value = Some(value.parse().ok()?);
            match name {
                "since_seq" => parsed.since_seq = value,
                "limit" => parsed.limit = value,
                _ => return None,
            }
        }
        Some(parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_a_thread_and_where_to_read() {
        let uri = ThreadUri::parse("threads://th_1?since_seq=4&limit=2").unwrap();
        assert_eq!((uri.thread_id.as_str(), uri.since_seq, uri.limit), ("th_1", Some(4), Some(2)));
        assert_eq!(ThreadUri::parse(&ThreadUri::of("th_1")).unwrap().limit, None);
    }

    #[test]
    fn anything_else_names_none() {
        for odd in [
            "threads://",
            "file:///th_1",
            "threads://a/b",
            "threads://a?x=1",
            "threads://a?limit=x",
        ] {
            assert_eq!(ThreadUri::parse(odd), None, "{odd}");
        }
    }
}
