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
    /// The hub said something this client does not understand.
    #[error("the hub's answer is not readable: {0}")]
    Protocol(String),
}
