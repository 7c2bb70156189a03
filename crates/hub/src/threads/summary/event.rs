//! The typed events that the fold understands.

use protocol::message::event_type;

/// The `event_type` by which the hub says that a thread was moved.
pub(super) const STATUS_CHANGED: &str = "status_changed";

/// What an event says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Reported,
    Fix,
    ReReview,
    Verified,
    Rejected,
    Escalated,
    Resolved,
}

impl Event {
    /// Reads `metadata.event_type`; other names are events of somebody else.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            event_type::FINDING_REPORTED => Self::Reported,
            event_type::FIX_PUSHED => Self::Fix,
            event_type::RE_REVIEW_REQUESTED => Self::ReReview,
            event_type::FINDING_VERIFIED => Self::Verified,
            event_type::FINDING_REJECTED => Self::Rejected,
            event_type::THREAD_ESCALATED => Self::Escalated,
            event_type::THREAD_RESOLVED => Self::Resolved,
            _ => return None,
        })
    }
}
