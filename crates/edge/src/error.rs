//! What can go wrong while starting or running an edge.

/// What can go wrong while starting or running an edge.
#[derive(Debug, thiserror::Error)]
pub enum EdgeError {
    /// The address could not be bound.
    #[error("cannot listen on {address}")]
    Bind {
        /// The address.
        address: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A file of the TLS set-up could not be used.
    #[error("cannot use {path} for TLS: {reason}")]
    Tls {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// The private socket could not be reached.
    #[error("cannot reach the hub through {path}")]
    Socket {
        /// The socket.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The hub went away with a request under way.
    #[error("the hub went away before it answered")]
    Lost(#[source] hyper::Error),
    /// The hub said nothing for so long that it must hang.
    #[error("the hub has not answered for {seconds} s; it may hang")]
    Silent {
        /// How long it had.
        seconds: u64,
    },
    /// The hub said something this client does not understand.
    #[error("the hub's answer is not readable: {0}")]
    Protocol(String),
}

impl EdgeError {
    /// Whether the hub may have been asked what it did not answer.
    pub fn is_outcome_unknown(&self) -> bool {
        match self {
            Self::Lost(error) => !error.is_canceled() && !error.is_closed(),
            Self::Silent { .. } => true,
            _ => false,
        }
    }
}
