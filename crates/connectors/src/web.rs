//! Addresses of pages, as people paste them.

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebPage<'a> {
    /// The host, with its port if it has one.
    pub(crate) host: &'a str,
    /// The pieces of its path that are not empty.
    pub(crate) path: Vec<&'a str>,
    /// What stands behind `?`.
    pub(crate) query: &'a str,
    /// What stands behind `#`.
    pub(crate) fragment: &'a str,
}

impl<'a> WebPage<'a> {
    /// Reads an address that begins with `https://` or `http://`.
    pub(crate) fn read(url: &'a str) -> Option<Self> {
        let url = url.trim();
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        // A name and password in front of the host would hide where it leads.
        if host.is_empty() || host.contains(['@', '\\', ' ']) {
            return None;
        }
        let path = path.split('/').filter(|piece| !piece.is_empty()).collect();
        Some(Self { host, path, query, fragment })
    }

    /// A parameter of the query, as it stands.
    pub(crate) fn parameter(&self, name: &str) -> Option<&'a str> {
        self.query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
    }
}

/// A text of nothing but digits, as a number.
pub(crate) fn number(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// Whether a host is this machine, with or without a port: a service that is tried out.
pub(crate) fn is_here(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// The host of an address, with its port, and the path behind it without a slash at its end.
pub(crate) fn host_and_path(url: &str) -> (&str, &str) {
    let rest = url.trim().split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.trim_end_matches('/');
    rest.split_once('/').unwrap_or((rest, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read() {
        let page = WebPage::read("https://a.example:8443/x//y?b=1&thread_ts=2.3#c").unwrap();
        assert_eq!((page.host, page.fragment), ("a.example:8443", "c"));
        assert_eq!(page.path, ["x", "y"]);
        assert_eq!(page.parameter("thread_ts"), Some("2.3"));
        assert_eq!(page.parameter("ts"), None);
    }

    #[test]
    fn what_hides_its_host_is_no_page() {
        for bad in ["ftp://a/", "https://", "https://github.com@evil.example/x", "a.example/x"] {
            assert_eq!(WebPage::read(bad), None, "{bad}");
        }
        assert_eq!(number("12"), Some(12));
        assert_eq!(number("-1"), None);
        assert!(is_here("127.0.0.1:3000") && !is_here("127.0.0.1.evil.example"));
        assert_eq!(host_and_path("https://op.example/pm/"), ("op.example", "pm"));
    }
}
