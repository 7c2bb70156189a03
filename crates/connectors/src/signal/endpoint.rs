//! Where a daemon listens: HTTP, or JSON lines over TCP or a Unix socket.

use std::net::SocketAddr;
use std::path::PathBuf;

use connector_api::toolkit::{Destination, address};
use connector_api::{ConnectorError, Result};

/// Where a daemon listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// `daemon --http`
    Http(Destination),
    /// `daemon --tcp`
    Tcp(SocketAddr),
    /// `daemon --socket`
    Unix(PathBuf),
}

impl Endpoint {
    /// Reads the setting. A daemon asks nobody who they are and its lines are not encrypted, so
    /// without TLS it must be on this machine.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            if path.is_absolute() {
                return Ok(Self::Unix(path));
            }
            return Err(wrong("needs a whole path: unix:/run/user/1000/signal-cli/socket"));
        }
        if let Some(to) = text.strip_prefix("tcp:") {
            let to: SocketAddr =
                to.parse().map_err(|_| wrong("needs an address and a port: tcp:127.0.0.1:7583"))?;
            if address::is_loopback(to.ip()) {
                return Ok(Self::Tcp(to));
            }
            return Err(wrong("must be on this machine: the daemon asks nobody who they are"));
        }
        Destination::configured(text).map(Self::Http).map_err(Into::into)
    }
}

fn wrong(reason: &str) -> ConnectorError {
    ConnectorError::Setting { field: "base_url".to_owned(), reason: reason.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_ways_to_listen_are_told_apart() {
        assert!(matches!(Endpoint::parse("http://127.0.0.1:8080"), Ok(Endpoint::Http(_))));
        assert!(matches!(Endpoint::parse("tcp:127.0.0.1:7583"), Ok(Endpoint::Tcp(_))));
        assert!(matches!(Endpoint::parse("tcp:[::1]:7583"), Ok(Endpoint::Tcp(_))));
        assert!(matches!(Endpoint::parse("unix:/run/signal"), Ok(Endpoint::Unix(_))));
    }

    #[test]
    fn a_daemon_elsewhere_is_refused() {
        for bad in [
            "http://10.0.0.5:8080",
            "http://signal.example.org",
            "tcp:10.0.0.5:7583",
            "tcp:0.0.0.0:7583",
            "tcp:localhost",
            "unix:socket",
            "",
        ] {
            let refused = Endpoint::parse(bad);
            assert!(matches!(refused, Err(ConnectorError::Setting { .. })), "{bad}: {refused:?}");
        }
    }
}
