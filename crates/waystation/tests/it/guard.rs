//! A web page must not reach a hub on the same machine, on no route and by no spelling.

use crate::auth::routes;
use crate::http;
use crate::program::{Home, Up};

/// What is sent: nobody who would wait for work has to.
const BODY: &[u8] = br#"{"wait_ms":0}"#;

fn every_route(up: &Up) -> Vec<(String, String)> {
    let mut all = routes(up);
    for target in [
        "/livez",
        "/readyz",
        "/metrics",
        "/mcp",
        "/v1/openapi.json",
        "/v1/schemas/envelope.json",
        "/hooks/wk_x/github",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/no/such/route",
    ] {
        all.push(("GET".to_owned(), target.to_owned()));
    }
    for target in ["/mcp", "/hooks/wk_x/github", "/v1/call/list_threads"] {
        all.push(("POST".to_owned(), target.to_owned()));
    }
    all
}

#[test]
fn a_foreign_host_is_refused_on_every_route() {
    let home = Home::new();
    let up = home.up();
    let token = ("Authorization", format!("Bearer {}", home.token("a", "operator")));
    let port = up.address().split(':').nth(1).unwrap();
    for (method, target) in every_route(&up) {
        for host in [
            "evil.com",
            "127.0.0.1.nip.io",
            "localhost.",
            "localhost.evil.com",
            "127.0.0.1:80:80",
            "127.0.0.2",
            "0.0.0.0",
            "[::2]",
            "[::1",
            "2130706433",
            "127.1",
            "evil.com:80@127.0.0.1",
        ] {
            let headers = [("Host", host.to_owned()), token.clone()];
            let request = http::text(&method, &target, &headers, BODY);
            let reply = http::send(up.address(), &request).unwrap();
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (403, "FORBIDDEN"),
                "{target} {host}"
            );
        }
        for host in ["127.0.0.1", "localhost", "LOCALHOST:1", "[::1]:7788", up.address()] {
            let headers = [("Host", host.to_owned()), token.clone()];
            let request = http::text(&method, &target, &headers, BODY);
            let reply = http::send(up.address(), &request).unwrap();
            let is_guarded = reply.status == 403 && reply.text().contains("Host header");
            assert!(!is_guarded, "{method} {target} {host}: {}", reply.text());
        }
        let two = [("Host", format!("127.0.0.1:{port}")), ("Host", "evil.com".to_owned())];
        let reply = http::send(up.address(), &http::text(&method, &target, &two, b"{}")).unwrap();
        assert!(matches!(reply.status, 400 | 403), "two hosts: {}", reply.status);
        let absolute = format!("http://evil.com{target}");
        for host in ["127.0.0.1", "evil.com"] {
            let request = http::text(&method, &absolute, &[("Host", host.to_owned())], b"{}");
            assert_eq!(http::send(up.address(), &request).unwrap().status, 403, "{absolute}");
        }
        let none = http::send(up.address(), &http::text(&method, &target, &[], b"{}")).unwrap();
        assert!(matches!(none.status, 400 | 403), "no host: {}", none.status);
    }
}

#[test]
fn a_foreign_origin_is_refused_on_every_route() {
    let home = Home::new();
    home.configure("allowed_origins = [\"https://app.example.org\"]\n");
    let up = home.up();
    let token = ("Authorization", format!("Bearer {}", home.token("a", "operator")));
    let host = ("Host", up.address().to_owned());
    for (method, target) in every_route(&up) {
        let ask = |origins: &[&str]| {
            let mut headers = vec![host.clone(), token.clone()];
            headers.extend(origins.iter().map(|origin| ("Origin", (*origin).to_owned())));
            http::send(up.address(), &http::text(&method, &target, &headers, BODY)).unwrap()
        };
        for origin in [
            "null",
            "https://evil.com",
            "http://localhost",
            "https://app.example.org.evil.com",
            "http://app.example.org",
            "https://APP.example.org:444",
            "",
        ] {
            let reply = ask(&[origin]);
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (403, "FORBIDDEN"),
                "{target} {origin}"
            );
        }
        assert_eq!(ask(&["https://app.example.org", "https://evil.com"]).status, 403);
        for origins in [vec![], vec!["https://app.example.org"], vec![up.url.as_str()]] {
            let reply = ask(&origins);
            assert!(!reply.text().contains("web origin"), "{target} {origins:?}");
        }
    }
}

#[test]
fn a_page_of_an_allowed_origin_may_call_and_read_and_no_other() {
    const PAGE: &str = "https://app.example.org";
    let home = Home::new();
    home.configure("allowed_origins = [\"https://app.example.org\"]\n");
    let up = home.up();
    let ask = |method: &str, target: &str, more: &[(&'static str, &str)]| {
        let mut headers = vec![("Host", up.address().to_owned())];
        headers.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        http::send(up.address(), &http::text(method, target, &headers, b"")).unwrap()
    };
    let wants = ("Access-Control-Request-Method", "POST");
    for target in ["/mcp", "/v1/threads", "/v1/call/list_threads", "/metrics"] {
        let preflight = ask("OPTIONS", target, &[("Origin", PAGE), wants]);
        assert_eq!(preflight.status, 204, "{target}");
        assert_eq!(preflight.header("access-control-allow-origin"), Some(PAGE));
        let allowed = |name| preflight.header(name).unwrap_or_default().to_owned();
        assert!(allowed("access-control-allow-methods").contains("DELETE"));
        assert!(allowed("access-control-allow-headers").contains("authorization"));
        assert_eq!(preflight.header("access-control-allow-credentials"), None);

        let refused = ask("POST", target, &[("Origin", PAGE)]);
        assert!(refused.status >= 400, "{target}: a page needs a token like everybody");
        assert_eq!(refused.header("access-control-allow-origin"), Some(PAGE), "{target}");
        let exposed = refused.header("access-control-expose-headers").unwrap_or_default();
        assert!(exposed.contains("www-authenticate"), "{exposed}");
        assert_eq!(refused.header("vary"), Some("origin"), "{target}");

        let foreign = [("Origin", "https://evil.com"), wants];
        for reply in [ask("OPTIONS", target, &foreign), ask("POST", target, &foreign)] {
            assert_eq!(reply.status, 403, "{target}");
            assert_eq!(reply.header("access-control-allow-origin"), None, "{target}");
        }
        let program = ask("OPTIONS", target, &[wants]);
        assert_ne!(program.status, 204, "{target}: no page asks");
        assert_eq!(program.header("access-control-allow-origin"), None, "{target}");
    }
}

#[test]
fn a_name_the_operator_allows_is_a_host() {
    let home = Home::new();
    home.configure("allowed_hosts = [\"hub.example.org\"]\n");
    let up = home.up();
    let ask = |host: &str| {
        let request = http::text("GET", "/livez", &[("Host", host.to_owned())], b"");
        http::send(up.address(), &request).unwrap().status
    };
    assert_eq!(ask("hub.example.org"), 200);
    assert_eq!(ask("hub.example.org:443"), 200);
    assert_eq!(ask("x.hub.example.org"), 403);
}
