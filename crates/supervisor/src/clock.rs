//! The one place of this crate that asks what time it is.

use std::time::Instant;

/// The moment it is.
#[expect(
    clippy::disallowed_methods,
    reason = "terminals live in real time; rules get it handed in"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
