//! Where clients find the hub: the one place that says so to people who will paste it.

use std::net::SocketAddr;

use crate::config::{Config, TlsMode};

/// The public address, if there is one, and else a name that leads to where the hub listens.
pub(crate) fn of_listener(config: &Config, listening: SocketAddr) -> String {
    let scheme = if config.tls.mode == TlsMode::Off { "http" } else { "https" };
    let named = config.allowed_hosts.iter().find(|name| !name.is_empty()).map(String::as_str);
    public(config).unwrap_or_else(|| match (listening.ip().is_unspecified(), listening.port()) {
        (false, _) => format!("{scheme}://{listening}"),
        // It listens on every address of this machine, and that is none anybody could go to.
        (true, port) => format!("{scheme}://{}:{port}", named.unwrap_or("localhost")),
    })
}

/// The public address.
pub(crate) fn public(config: &Config) -> Option<String> {
    let url = config.public_url.trim_end_matches('/');
    (!url.is_empty()).then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_that_a_client_can_go_to() {
        let said = |listening: &str, tls: TlsMode, public: &str, hosts: &[&str]| {
            let mut config = Config { public_url: public.to_owned(), ..Config::default() };
            config.tls.mode = tls;
            config.allowed_hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
            of_listener(&config, listening.parse().unwrap())
        };
        assert_eq!(said("127.0.0.1:7788", TlsMode::Off, "", &[]), "http://127.0.0.1:7788");
        assert_eq!(said("[::1]:7788", TlsMode::Local, "", &["hub"]), "https://[::1]:7788");
        for open in ["0.0.0.0:7788", "[::]:7788"] {
            assert_eq!(said(open, TlsMode::Local, "", &[]), "https://localhost:7788");
            let hosts = ["hub.example.org", "hub"];
            assert_eq!(said(open, TlsMode::Files, "", &hosts), "https://hub.example.org:7788");
        }
        for public in ["https://hub.example.org", "https://hub.example.org/"] {
            let said = said("0.0.0.0:7788", TlsMode::Local, public, &["hub"]);
            assert_eq!(said, "https://hub.example.org");
        }
    }
}
