//! Which tools a client asks to be shown: `/mcp?toolsets=threads,relay`.

use protocol::Toolsets;
use protocol::toolsets::UnknownToolset;

/// The parameter of the address.
const PARAMETER: &str = "toolsets";

/// The sets that an address asks for; `None` where it does not say.
pub(super) fn of_address(parts: &http::request::Parts) -> Result<Option<Toolsets>, UnknownToolset> {
    let Some(query) = parts.uri.query() else { return Ok(None) };
    let named = query.split('&').find_map(|part| part.strip_prefix(PARAMETER)?.strip_prefix('='));
    // Names of sets need no escapes, and commas may be escaped all the same.
    let plain = |text: &str| text.replace("%2C", ",").replace("%2c", ",").replace('+', " ");
    named.map(|text| plain(text).parse()).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(uri: &str) -> Result<Option<String>, UnknownToolset> {
        let (parts, ()) = http::Request::builder().uri(uri).body(()).unwrap().into_parts();
        of_address(&parts).map(|sets| sets.map(|sets| sets.to_string()))
    }

    #[test]
    fn an_address_names_sets_or_nothing() {
        assert_eq!(of("/mcp"), Ok(None));
        assert_eq!(of("/mcp?x=1"), Ok(None));
        assert_eq!(of("/mcp?x=1&toolsets=threads%2Crelay"), Ok(Some("threads,relay".to_owned())));
        let unknown = of("/mcp?toolsets=nope").unwrap_err().to_string();
        assert!(unknown.contains("nope") && unknown.contains("threads, chats, wakes, relay"));
    }
}
