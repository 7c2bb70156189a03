//! What an operator chooses about what services say: routes, of which the first that fits decides.

use protocol::limits::relay as limits;

/// What an operator chooses about what services say.
#[derive(Clone, Debug)]
pub struct IntakeSettings {
    /// Where things go; the first that fits decides.
    pub routes: Vec<RelayRoute>,
    /// How long what a service said is kept byte for byte, in milliseconds.
    pub body_ms: i64,
    /// How long it is known again when it comes once more, in milliseconds.
    pub key_ms: i64,
}

impl Default for IntakeSettings {
    fn default() -> Self {
        Self {
            routes: Vec::new(),
            body_ms: limits::DELIVERY_BODY_MS,
            key_ms: limits::DELIVERY_KEY_MS,
        }
    }
}

/// Where something goes that a service said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RelayRoute {
    /// Only what came through this link.
    pub link: Option<String>,
    /// Only this event, with `*` for any run of characters.
    pub event: Option<String>,
    /// Only this command, such as `/triage`.
    pub command: Option<String>,
    /// What becomes of it.
    pub target: RouteTarget,
}

/// What becomes of something that a service said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteTarget {
    /// Nobody wants it.
    Ignore,
    /// It is work.
    Work {
        /// In this queue.
        queue: String,
        /// For this agent, which is told of the thread.
        agent: Option<String>,
    },
}

impl Default for RouteTarget {
    fn default() -> Self {
        Self::Work { queue: limits::QUEUE_DEFAULT.to_owned(), agent: None }
    }
}
