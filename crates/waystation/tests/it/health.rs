//! Whether it lives, whether it is ready, what it counts, and what it says of itself.

use serde_json::{Value, json};

use crate::http;
use crate::program::Home;

#[test]
fn health_is_told_to_everyone_and_metrics_to_few() {
    let home = Home::new();
    let up = home.up();
    for target in ["/livez", "/readyz"] {
        let reply = up.client("").ask("GET", target, b"");
        assert_eq!((reply.status, reply.text().as_str()), (200, "ok\n"), "{target}");
    }
    let worker = up.client(&home.token("w", "worker"));
    assert_eq!(worker.json("GET", "/metrics", &Value::Null).code(), "FORBIDDEN");
    worker.open(&[]);
    let service = home.ok(&[
        "token",
        "issue",
        "--agent",
        "prometheus",
        "--role",
        "service",
        "--scope",
        "audit:read",
    ]);
    let reply = up.client(service.trim()).ask("GET", "/metrics", b"");
    assert_eq!(reply.status, 200);
    assert!(reply.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let text = reply.text();
    assert!(text.contains("create_thread"), "{text}");
    assert!(text.contains("# TYPE waystation_writes_waiting"), "{text}");
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit_once(' ').unwrap().1;
        assert!(value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn unknown_routes_and_methods_answer_in_json() {
    let home = Home::new();
    let up = home.up();
    let client = up.client(&home.token("a", "worker"));
    for target in ["/", "/v1", "/v2/threads", "/v1/threads/", "/v1/thread", "/favicon.ico", "/%00"]
    {
        let reply = client.ask("GET", target, b"");
        assert_eq!((reply.status, reply.code().as_str()), (404, "NOT_FOUND"), "{target}");
    }
    for (method, target) in [
        ("PATCH", "/v1/threads"),
        ("DELETE", "/v1/threads"),
        ("POST", "/livez"),
        ("PUT", "/v1/openapi.json"),
        ("OPTIONS", "/v1/threads"),
        ("GET", "/v1/sessions/heartbeat"),
        ("BREW", "/v1/threads"),
    ] {
        let reply = client.ask(method, target, b"");
        assert_eq!(reply.status, 405, "{method} {target}");
        assert_eq!(reply.code(), "VALIDATION_ERROR");
        assert!(reply.header("allow").is_some(), "{method} {target} says what is allowed");
    }
}

#[test]
fn every_answer_carries_the_id_of_its_request_and_takes_a_trace() {
    let home = Home::new().with("LOG__FILTER", "debug");
    let up = home.up();
    let token = format!("Bearer {}", home.token("a", "worker"));
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    for parent in [
        format!("00-{trace}-00f067aa0ba902b7-01"),
        "garbage".to_owned(),
        "00-00000000000000000000000000000000-0000000000000000-00".to_owned(),
    ] {
        let headers = [
            ("Host", up.address().to_owned()),
            ("Authorization", token.clone()),
            ("traceparent", parent),
        ];
        let body = json!({ "title": "traced" }).to_string();
        let request = http::text("POST", "/v1/threads", &headers, body.as_bytes());
        let reply = http::send(up.address(), &request).unwrap();
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(reply.header("x-request-id").unwrap().starts_with("req_"));
    }
    let client = up.client(token.trim_start_matches("Bearer "));
    client.json("GET", "/v1/threads/th_x", &Value::Null).error();
    assert_eq!(up.stop(), 0);
}
