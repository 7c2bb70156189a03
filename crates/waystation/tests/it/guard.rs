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
