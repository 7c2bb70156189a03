//! Where a request goes, and who said so: the owner in the configuration, or somebody in a payload.
//!
//! The two are told apart when the address is parsed, so that no later code can forget to ask.

use std::net::IpAddr;

use reqwest::Url;

use super::address;
use super::http::HttpError;

/// The port that addresses from outside must use.
const FOREIGN_PORT: u16 = 443;

/// An address that has passed the rules for its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    url: Url,
}

impl Destination {
    /// An address that the owner wrote into the configuration.
    ///
    /// It must be `https`, save that `http` is fine to this machine. A literal address may be
    /// private: whoever writes `10.0.0.5` means it. A name still has to resolve to public addresses
    /// unless [`HttpSettings::private_hosts`](super::HttpSettings::private_hosts) lists it.
    pub fn configured(text: &str) -> Result<Self, HttpError> {
        let url = parse(text)?;
        let is_this_machine = literal(&url).is_some_and(address::is_loopback);
        match url.scheme() {
            "https" => Ok(Self { url }),
            "http" if is_this_machine => Ok(Self { url }),
            _ => Err(HttpError::AddressRefused("use https, or http with a loopback address")),
        }
    }

    /// An address that came from outside, such as a webhook somebody asked to be called.
    pub fn foreign(text: &str) -> Result<Self, HttpError> {
        let url = parse(text)?;
        if url.scheme() != "https" {
            return Err(HttpError::AddressRefused("use https"));
        }
        if url.port_or_known_default() != Some(FOREIGN_PORT) {
            return Err(HttpError::AddressRefused("use port 443"));
        }
        if literal(&url).is_some_and(|ip| !address::is_public(ip)) {
            return Err(HttpError::AddressRefused("use an address on the public internet"));
        }
        Ok(Self { url })
    }

    /// An address that the service at this one named: a file, or a WebSocket to connect to.
    ///
    /// It is judged as [`foreign`](Self::foreign), so that a service cannot send the hub inside,
    /// save that one on this machine, or on a host the owner named, may name itself.
    pub fn named(&self, text: &str) -> Result<Self, HttpError> {
        let text = if let Some(rest) = text.strip_prefix("wss://") {
            format!("https://{rest}")
        } else if let Some(rest) = text.strip_prefix("ws://") {
            format!("http://{rest}")
        } else {
            text.to_owned()
        };
        let url = parse(&text)?;
        let is_here = |url: &Url| literal(url).is_some_and(address::is_loopback);
        if url.host_str() == self.url.host_str() || (is_here(&url) && is_here(&self.url)) {
            return Self::configured(&text);
        }
        Self::foreign(&text)
    }

    /// The host, as the resolver will see it.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// An address below this one. `path` is appended as it stands, without a slash in front.
    pub(super) fn below(&self, path: &str) -> Result<Url, HttpError> {
        let base = self.url.as_str().trim_end_matches('/');
        let url = parse(&format!("{base}/{path}"))?;
        // Dots in a path must not lead elsewhere, nor a path end up in the host.
        if url.host_str() != self.url.host_str() || !url.path().starts_with(self.url.path()) {
            return Err(HttpError::AddressRefused("stay below the base address"));
        }
        Ok(url)
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// The address itself, where the host is one.
    pub(super) fn literal(&self) -> Option<IpAddr> {
        literal(&self.url)
    }
}

fn parse(text: &str) -> Result<Url, HttpError> {
    let url = Url::parse(text).map_err(|_| HttpError::AddressRefused("write a whole URL"))?;
    if url.host_str().is_none_or(str::is_empty) {
        return Err(HttpError::AddressRefused("write a URL with a host"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(HttpError::AddressRefused("leave user and password out of the URL"));
    }
    Ok(url)
}

/// The address when the host is one. URL parsing has already turned `0177.1` and `2130706433` into
/// the address they stand for.
fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_stays_on_this_machine() {
        for good in ["http://127.0.0.1:8080/jwks", "http://[::1]/jwks", "https://id.example.org/"] {
            assert!(Destination::configured(good).is_ok(), "{good}");
        }
        for bad in
            ["http://id.example.org/", "http://10.0.0.5/", "http://localhost/", "ftp://127.0.0.1/"]
        {
            assert!(Destination::configured(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_owner_may_name_a_private_address() {
        assert!(Destination::configured("https://10.0.0.5:8443/jwks").is_ok());
    }

    #[test]
    fn a_stranger_may_not_point_inside() {
        for bad in [
            "https://127.0.0.1/",
            "https://0177.1/",
            "https://2130706433/",
            "https://[::ffff:127.0.0.1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://169.254.169.254/latest/meta-data",
            "https://example.org:8443/",
            "http://example.org/",
        ] {
            assert!(Destination::foreign(bad).is_err(), "{bad}");
        }
        assert!(Destination::foreign("https://example.org/hook").is_ok());
    }

    #[test]
    fn a_service_may_name_itself_and_what_is_public() {
        let public = Destination::configured("https://slack.com/api").unwrap();
        for good in ["wss://wss-primary.slack.com/link/?ticket=1", "https://slack.com:8443/file"] {
            assert!(public.named(good).is_ok(), "{good}");
        }
        for bad in ["ws://127.0.0.1:1/", "wss://10.0.0.5/", "ws://slack.com/", "file:///etc/passwd"]
        {
            assert!(public.named(bad).is_err(), "{bad}");
        }
        let here = Destination::configured("http://127.0.0.1:8080/api").unwrap();
        assert!(here.named("ws://127.0.0.1:8081/link").is_ok());
        assert!(here.named("ws://10.0.0.5/link").is_err());
        let inside = Destination::configured("https://10.0.0.5/api").unwrap();
        assert!(inside.named("wss://10.0.0.5/link").is_ok());
        assert!(inside.named("wss://10.0.0.6/link").is_err());
    }

    #[test]
    fn an_address_carries_no_password() {
        assert!(Destination::configured("https://me:secret@example.org/").is_err());
        assert!(Destination::configured("mailto:me@example.org").is_err());
    }
}
