//! Reading the URL of a Redis: where it is, and a name for logs that holds no password.

use std::net::IpAddr;

use connector_api::{ConnectorError, Result};
use protocol::Secret;
use redis::{ConnectionAddr, ConnectionInfo, IntoConnectionInfo};

/// Where a Redis is.
pub(super) struct Address {
    /// How it is reached, its password included.
    pub(super) info: ConnectionInfo,
    /// The same for people: `rediss://cache.example.org:6379/0`.
    pub(super) name: String,
    /// Whether what is said to it leaves this machine without encryption.
    pub(super) is_in_the_clear: bool,
}

/// Reads a URL. No part of it stands in an error: it may hold a password.
pub(super) fn read(url: &Secret<String>) -> Result<Address> {
    let url = url.expose().trim();
    if !(url.starts_with("redis://") || url.starts_with("rediss://")) {
        return Err(unusable("begins with neither redis:// nor rediss://"));
    }
    // Behind a # the client would take leave to trust any certificate.
    if url.contains('#') || url.contains('?') {
        return Err(unusable("has a # or a ?; in a password they are written %23 and %3F"));
    }
    let info = url.into_connection_info().map_err(|_| unusable("is no such URL"))?;
    let database = info.redis_settings().db();
    let (name, is_in_the_clear) = match info.addr() {
        ConnectionAddr::Tcp(host, port) => {
            (format!("redis://{host}:{port}/{database}"), !is_here(host))
        }
        ConnectionAddr::TcpTls { host, port, .. } => {
            (format!("rediss://{host}:{port}/{database}"), false)
        }
        _ => return Err(unusable("names no host")),
    };
    Ok(Address { info, name, is_in_the_clear })
}

/// The error about a URL, with what would be right.
pub(super) fn unusable(what: &str) -> ConnectorError {
    ConnectorError::Setting {
        field: "relay.redis_url".to_owned(),
        reason: format!(
            "{what}; write redis://host:6379/0, with user:password@ before the host where it wants \
             them, or rediss:// for TLS"
        ),
    }
}

fn is_here(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> Result<Address> {
        read(&Secret::new(url.to_owned()))
    }

    #[test]
    fn a_url_has_a_name_without_its_password() {
        let address = of("rediss://ada:hunter2@cache.example.org/3").unwrap();
        assert_eq!(address.name, "rediss://cache.example.org:6379/3");
        assert!(!address.is_in_the_clear);
        assert_eq!(address.info.redis_settings().password(), Some("hunter2"));
    }

    #[test]
    fn only_another_machine_without_tls_is_in_the_clear() {
        for (url, expected) in [
            ("redis://localhost", false),
            ("redis://127.0.0.1:7000/1", false),
            ("redis://[::1]", false),
            ("redis://cache:6379", true),
        ] {
            assert_eq!(of(url).unwrap().is_in_the_clear, expected, "{url}");
        }
    }

    #[test]
    fn a_wrong_url_is_refused_with_what_would_be_right_and_without_itself() {
        for wrong in [
            "",
            "hunter2",
            "http://:hunter2@cache",
            "redis://:hunter2@cache:port",
            "redis://:hunter2@cache/first",
            "rediss://:hunter2@cache#insecure",
            "redis+unix:///hunter2",
            "redis://",
        ] {
            let error = of(wrong).err().unwrap().to_string();
            assert!(error.starts_with("relay.redis_url "), "{wrong}: {error}");
            assert!(error.contains("redis://host:6379/0") && !error.contains("hunter2"), "{error}");
        }
    }
}
