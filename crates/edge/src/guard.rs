//! Host and Origin, checked on every route before anything else: the defence against web pages that
//! make a browser talk to a hub on the same machine.

use axum::http::{HeaderMap, Request, StatusCode, Uri, header};
use axum::response::Response;
use protocol::{ErrorCode, limits};

use crate::app::{App, WebSettings};
use crate::status;

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The answer to a request that is none of ours.
pub(crate) fn refusal<B>(app: &App, request: &Request<B>) -> Option<Response> {
    if request.headers().len() > limits::HEADERS_MAX {
        return Some(too_many_headers(app));
    }
    let (message, hint) = if !host_is_ours(request.uri(), request.headers(), &app.web) {
        (
            "the Host header does not name this hub",
            "add the name to allowed_hosts in the configuration",
        )
    } else if !origin_may_call(request.headers(), &app.web) {
        (
            "this web origin may not call the hub",
            "add the origin to allowed_origins in the configuration",
        )
    } else {
        return None;
    };
    Some(status::refused(app, StatusCode::FORBIDDEN, message, hint))
}

/// HTTP/1 is refused before it comes here; HTTP/2 knows no such limit by itself.
fn too_many_headers(app: &App) -> Response {
    let message = format!("the request has more than {} headers", limits::HEADERS_MAX);
    let hint = Some("send fewer headers; what an operation needs goes into its body");
    status::of_code(app, ErrorCode::PayloadTooLarge, 431, &message, hint)
}

fn host_is_ours(uri: &Uri, headers: &HeaderMap, web: &WebSettings) -> bool {
    let mut named = headers.get_all(header::HOST).iter();
    let from_header = match (named.next(), named.next()) {
        (Some(host), None) => host.to_str().ok(),
        (None, None) => None,
        // Two hosts, two opinions.
        _ => return false,
    };
    let from_uri = uri.authority().map(http::uri::Authority::as_str);
    match (from_header, from_uri) {
        (Some(header), Some(uri)) if !header.eq_ignore_ascii_case(uri) => false,
        (Some(host), _) | (None, Some(host)) => is_known(host, web),
        (None, None) => false,
    }
}

fn is_known(host: &str, web: &WebSettings) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) if port.is_empty() || is_port(port) => {
                host.get(..address.len() + 2).unwrap_or_default()
            }
            _ => return false,
        },
        None => match host.split_once(':') {
            Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
                name
            }
            Some(_) => return false,
            None => host,
        },
    };
    let known = web.allowed_hosts.iter().map(String::as_str).chain(LOOPBACK);
    known.chain(host_of(&web.public_url)).any(|known| known.eq_ignore_ascii_case(name))
}

/// The name in the address under which clients and services find the hub.
fn host_of(url: &str) -> Option<&str> {
    let rest = url.split_once("://")?.1;
    let authority = rest.split('/').next()?;
    let host = match authority.split_once(']') {
        Some((address, _)) => authority.get(..=address.len())?,
        None => authority.split(':').next()?,
    };
    (!host.is_empty()).then_some(host)
}

fn is_port(text: &str) -> bool {
    text.strip_prefix(':')
        .is_some_and(|port| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()))
}

/// Programs send no Origin; a browser always does when it matters.
fn origin_may_call(headers: &HeaderMap, web: &WebSettings) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => origin.to_str().is_ok_and(|origin| {
            origin == web.public_url || web.allowed_origins.iter().any(|known| known == origin)
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn web() -> WebSettings {
        WebSettings {
            allowed_hosts: vec!["hub.example.org".to_owned()],
            allowed_origins: vec!["https://app.example.org".to_owned()],
            public_url: "http://127.0.0.1:7788".to_owned(),
            ..WebSettings::default()
        }
    }

    #[test]
    fn only_our_own_names_are_hosts() {
        for good in ["127.0.0.1", "127.0.0.1:7788", "LOCALHOST:1", "[::1]:7788", "hub.example.org"]
        {
            assert!(is_known(good, &web()), "{good}");
        }
        for bad in [
            "evil.com",
            "127.0.0.1.nip.io",
            "localhost.",
            "localhost.evil.com",
            "127.0.0.1:80:80",
            "[::1",
            "[::1]x",
            "",
            "127.0.0.1:",
            "user@127.0.0.1",
            "0x7f.1",
        ] {
            assert!(!is_known(bad, &web()), "{bad}");
        }
    }

    #[test]
    fn the_address_clients_are_given_is_a_host() {
        for (public_url, host) in [
            ("https://hooks.example.net", "hooks.example.net"),
            ("https://hooks.example.net:8443/base", "hooks.example.net:8443"),
            ("https://[2001:db8::1]:8443", "[2001:db8::1]"),
        ] {
            let web = WebSettings { public_url: public_url.to_owned(), ..WebSettings::default() };
            assert!(is_known(host, &web), "{public_url}");
            assert!(!is_known("example.net", &web), "{public_url}");
        }
        for odd in ["", "https://", "hub"] {
            let web = WebSettings { public_url: odd.to_owned(), ..WebSettings::default() };
            assert!(!is_known("", &web) && !is_known("hub", &web), "{odd:?}");
        }
    }

    #[test]
    fn two_hosts_or_a_disagreeing_target_are_refused() {
        let mut headers = HeaderMap::new();
        let plain: Uri = "/livez".parse().unwrap();
        assert!(!host_is_ours(&plain, &headers, &web()));
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        assert!(host_is_ours(&plain, &headers, &web()));
        let absolute: Uri = "http://evil.com/livez".parse().unwrap();
        assert!(!host_is_ours(&absolute, &headers, &web()));
        headers.append(header::HOST, HeaderValue::from_static("evil.com"));
        assert!(!host_is_ours(&plain, &headers, &web()));
    }

    #[test]
    fn a_foreign_origin_is_refused_and_a_missing_one_is_not() {
        let mut headers = HeaderMap::new();
        assert!(origin_may_call(&headers, &web()));
        for (origin, allowed) in [
            ("https://app.example.org", true),
            ("http://127.0.0.1:7788", true),
            ("https://evil.com", false),
            ("null", false),
            ("https://app.example.org.evil.com", false),
        ] {
            headers.insert(header::ORIGIN, HeaderValue::from_static(origin));
            assert_eq!(origin_may_call(&headers, &web()), allowed, "{origin}");
        }
    }
}
