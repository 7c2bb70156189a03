//! What goes wrong at a service: answers that never arrive, refusals, lists that lag behind.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use parking_lot::Mutex;
use serde_json::Value;

/// The troubles of one fake.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    drops: usize,
    refusals: VecDeque<Refusal>,
    hiding: Hiding,
    /// Raised when everything that was hidden is shown.
    shown: u64,
}

/// An answer instead of doing anything.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The HTTP status.
    pub status: u16,
    /// Headers beside those of every answer.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

/// For how long something new is not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Hiding {
    #[default]
    No,
    /// For so many looks.
    Looks(usize),
    /// Until [`Trouble::show`].
    UntilTold(u64),
}

impl Trouble {
    /// The next so many writes are done, and their answers are lost on the way.
    pub fn drop_answers(&self, count: usize) {
        self.state.lock().drops = count;
    }

    /// Answers the next request with this and does nothing.
    pub fn refuse_next(&self, status: u16, headers: &[(&str, &str)], body: Value) {
        let headers =
            headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        self.state.lock().refusals.push_back(Refusal { status, headers, body });
    }

    /// What is written from now on is not listed for so many looks; 0 ends it.
    pub fn hide_for_looks(&self, looks: usize) {
        self.state.lock().hiding = if looks == 0 { Hiding::No } else { Hiding::Looks(looks) };
    }

    /// What is written from now on is not listed until [`show`](Self::show).
    pub fn hide_until_shown(&self) {
        let mut state = self.state.lock();
        state.hiding = Hiding::UntilTold(state.shown);
    }

    /// Lists everything, and hides nothing any more.
    pub fn show(&self) {
        let mut state = self.state.lock();
        state.hiding = Hiding::No;
        state.shown += 1;
    }

    /// What a new thing is born with.
    pub(super) fn hiding(&self) -> Hiding {
        self.state.lock().hiding
    }

    /// Whether something is listed in this look.
    pub(super) fn is_listed(&self, hiding: &mut Hiding) -> bool {
        match hiding {
            Hiding::No => true,
            Hiding::Looks(left) => {
                let is_over = *left == 0;
                *left = left.saturating_sub(1);
                is_over
            }
            Hiding::UntilTold(shown) => self.state.lock().shown > *shown,
        }
    }

    /// The refusal that is due, as an answer.
    pub(super) fn refusal(&self) -> Option<Response> {
        let refusal = self.state.lock().refusals.pop_front()?;
        let status = StatusCode::from_u16(refusal.status).expect("a status of HTTP");
        let mut answer = (status, refusal.body.to_string()).into_response();
        for (name, value) in refusal.headers {
            let name = axum::http::HeaderName::try_from(name).expect("the name of a header");
            answer.headers_mut().insert(name, value.parse().expect("the value of a header"));
        }
        Some(answer)
    }

    /// The answer to a write, or half of it where it is lost on the way.
    pub(super) fn delivered(&self, answer: Response) -> Response {
        let mut state = self.state.lock();
        if state.drops == 0 {
            return answer;
        }
        state.drops -= 1;
        let (mut parts, _) = answer.into_parts();
        parts.headers.remove("content-length");
        let broken = std::io::Error::other("the answer is lost");
        let half = [Ok(Bytes::from_static(b"{\"id\"")), Err(broken)];
        Response::from_parts(parts, Body::from_stream(futures_util::stream::iter(half)))
    }
}
