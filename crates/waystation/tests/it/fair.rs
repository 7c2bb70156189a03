//! One agent leaves room for the others: connections, event streams and slow bodies.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use crate::http::{self, Reply};
use crate::program::{Home, Up};

/// A connection that stays open.
struct Line(TcpStream);

impl Line {
    fn open(up: &Up) -> Self {
        Self(TcpStream::connect(up.address()).unwrap())
    }

    fn ask(&mut self, up: &Up, token: &str) -> Reply {
        let request = format!(
            "GET /v1/threads HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
            up.address()
        );
        http::exchange(&mut self.0, request.as_bytes()).unwrap()
    }

    /// Reads until the other side has nothing more to say.
    fn is_over(&mut self) -> bool {
        self.0.read(&mut [0; 1]).is_ok_and(|count| count == 0)
    }
}

#[test]
fn an_agent_may_have_twenty_connections_and_is_told_so() {
    let home = Home::new();
    let up = home.up();
    let (alice, bob) = (home.token("alice", "worker"), home.token("bob", "worker"));
    let mut lines: Vec<Line> = (0..20).map(|_| Line::open(&up)).collect();
    for line in &mut lines {
        // A connection counts once, however much is asked over it.
        assert_eq!(line.ask(&up, &alice).status, 200);
        assert_eq!(line.ask(&up, &alice).status, 200);
    }
    let mut further = Line::open(&up);
    let reply = further.ask(&up, &alice);
    assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
    let error = reply.error();
    assert!(error["message"].as_str().unwrap().contains("20 connections"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("connections_per_agent_max"), "{error}");
    assert_eq!((&error["retryable"], reply.header("retry-after")), (&json!(true), Some("1")));
    assert!(further.is_over(), "it holds none of the hub's places");
    // Another token of the same agent is the same agent; another agent is not.
    let again = home.token("alice", "worker");
    assert_eq!(Line::open(&up).ask(&up, &again).status, 429);
    assert_eq!(Line::open(&up).ask(&up, &bob).status, 200);
    // A connection that others use counts for them from then on.
    assert_eq!(lines[0].ask(&up, &bob).status, 200);
    let mut moved = Line::open(&up);
    assert_eq!(moved.ask(&up, &alice).status, 200);
    assert_eq!(lines[0].ask(&up, &alice).status, 429);
    drop(moved);
    // The place is free as soon as the hub has noticed.
    let freed = (0..1_000).any(|_| Line::open(&up).ask(&up, &alice).status == 200);
    assert!(freed);
    assert_eq!(up.stop(), 0);
}

#[test]
fn an_operator_chooses_how_many() {
    let home = Home::new().with("LIMITS__CONNECTIONS_PER_AGENT_MAX", "1");
    let up = home.up();
    let token = home.token("alice", "worker");
    let mut first = Line::open(&up);
    assert_eq!(first.ask(&up, &token).status, 200);
    assert_eq!(Line::open(&up).ask(&up, &token).status, 429);
}

/// Opens an event stream and answers its connection and the status.
fn listen(up: &Up, token: &str, thread: &str) -> (TcpStream, u16) {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let uri = format!("threads://{thread}");
    let filter = json!({ "resourceSubscriptions": [uri] });
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "_meta": meta, "notifications": filter },
    });
    let headers = [
        ("Host", up.address().to_owned()),
        ("Authorization", format!("Bearer {token}")),
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("MCP-Method", "subscriptions/listen".to_owned()),
    ];
    let mut stream = TcpStream::connect(up.address()).unwrap();
    stream.write_all(&http::text("POST", "/mcp", &headers, body.to_string().as_bytes())).unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    assert_eq!(status == 200, head.contains("text/event-stream"), "{head}");
    (stream, status)
}

#[test]
fn an_agent_may_have_five_event_streams_and_is_told_so() {
    let home = Home::new();
    let up = home.up();
    let (alice, bob) = (home.token("alice", "worker"), home.token("bob", "worker"));
    let thread = up.client(&alice).open(&["bob"]);
    let mut streams: Vec<TcpStream> = Vec::new();
    for _ in 0..5 {
        let (stream, status) = listen(&up, &alice, &thread);
        assert_eq!(status, 200);
        streams.push(stream);
    }
    assert_eq!(listen(&up, &alice, &thread).1, 429);
    assert_eq!(listen(&up, &bob, &thread).1, 200);
    // The stream of the older era is one of them.
    let headers = [
        ("Host", up.address().to_owned()),
        ("Authorization", format!("Bearer {alice}")),
        ("Accept", "text/event-stream".to_owned()),
    ];
    let reply = http::send(up.address(), &http::text("GET", "/mcp", &headers, b"")).unwrap();
    assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
    let error = reply.error();
    assert!(error["message"].as_str().unwrap().contains("5 event streams"), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("streams_per_agent_max"), "{error}");
    assert_eq!(up.client(&alice).json("GET", "/v1/threads", &json!(null)).status, 200);
    streams.pop();
    let freed = (0..1_000).any(|_| listen(&up, &alice, &thread).1 == 200);
    assert!(freed, "the place is free as soon as the hub has noticed");
}

#[test]
fn a_body_that_does_not_come_is_given_up() {
    let home = Home::new();
    let up = home.up();
    let token = home.token("alice", "worker");
    for target in ["/v1/threads", "/mcp"] {
        let mut stream = TcpStream::connect(up.address()).unwrap();
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{\"title\":",
            up.address()
        );
        let reply = http::exchange(&mut stream, head.as_bytes()).unwrap();
        assert_eq!((reply.status, reply.code().as_str()), (408, "TIMEOUT"), "{target}");
        let error = reply.error();
        assert!(error["message"].as_str().unwrap().contains("1024 bytes a second"), "{error}");
        assert_eq!(error["retryable"], true);
        assert!(Line(stream).is_over(), "{target}");
    }
    assert_eq!(up.client(&token).get("/v1/threads"), json!({ "threads": [] }));
}
