//! Whatever arrives over REST, the answer is a 4xx that names what is wrong, and nothing is lost.

use serde_json::{Value, json};
use testkit::naughty;

use crate::http::{self, Reply};
use crate::program::{Client, Home};

fn assert_clients_fault(reply: &Reply, about: &str) -> Value {
    assert!((400..500).contains(&reply.status), "{about}: {} {}", reply.status, reply.text());
    reply.error()
}

fn percent(text: &str) -> String {
    text.bytes().flat_map(|byte| format!("%{byte:02x}").into_bytes()).map(char::from).collect()
}

/// A worker with a thread of its own.
fn setting(home: &Home, up: &crate::program::Up) -> (Client, String) {
    let client = up.client(&home.token("author", "worker"));
    let thread = client.open(&[]);
    (client, thread)
}

#[test]
fn bodies_that_are_no_json_object_are_refused() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    let deep = format!("{{\"body\":\"x\",\"metadata\":{}", "{\"a\":".repeat(50_000));
    let deep_with_id = format!(
        "{{\"thread_id\":\"{thread}\",\"body\":\"x\",\"metadata\":{}{{}}{}",
        "{\"a\":".repeat(100),
        "}".repeat(101)
    );
    let list = "[".repeat(500_000);
    let mut bodies: Vec<&[u8]> = [
        "",
        "{",
        "}",
        "[]",
        "null",
        "1",
        "\"x\"",
        "{\"body\":}",
        "{\"body\":\"x\",}",
        "{body:1}",
        "{}{}",
        "{\"body\":\"x\"}{}",
        "{\"body\":\"\\ud800\"}",
        "body=x",
        "<body/>",
    ]
    .iter()
    .map(|text| text.as_bytes())
    .collect();
    bodies.extend([deep.as_bytes(), deep_with_id.as_bytes(), list.as_bytes()]);
    bodies.extend([&b"{\"body\":\"\xff\"}"[..], b"\xff\xfe{\x00}\x00", b"\x1f\x8b\x08\x00", b"\0"]);
    for target in [format!("/v1/threads/{thread}/messages"), "/v1/threads".to_owned()] {
        for body in &bodies {
            let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
            let reply = client.ask("POST", &target, body);
            assert_clients_fault(&reply, &shown);
        }
    }
    assert!(client.log(&thread).is_empty());
}

#[test]
fn a_body_beyond_the_limit_is_refused_and_the_hub_goes_on() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    let target = format!("/v1/threads/{thread}/messages");
    for size in [1024 * 1024 + 1, 8 * 1024 * 1024] {
        let body = format!("{{\"body\":\"{}\"}}", "x".repeat(size));
        // A client that is still sending may only see the connection end.
        if let Ok(reply) = client.try_ask("POST", &target, body.as_bytes()) {
            assert_eq!((reply.status, reply.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
        }
    }
    let just = json!({ "body": "x".repeat(256 * 1024) });
    assert_eq!(client.ok("POST", &target, &just)["seq"], 1);
    let headers: Vec<(&str, String)> = (0..300).map(|_| ("X-Filler", "x".repeat(1_000))).collect();
    let request = http::text("GET", "/livez", &headers, b"");
    if let Ok(reply) = http::send(up.address(), &request) {
        assert!((400..500).contains(&reply.status), "{}", reply.status);
    }
    client.get("/v1/threads");
}

#[test]
fn a_body_that_is_not_framed_is_the_clients_fault_and_places_are_those_of_what_was_sent() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    let token = home.token("author", "worker");
    let target = format!("/v1/threads/{thread}/messages");
    let chunks = format!(
        "POST {target} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\
         Authorization: Bearer {token}\r\n\r\nzz\r\n"
    );
    let reply = http::send(up.address(), chunks.as_bytes()).unwrap();
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (400, "VALIDATION_ERROR"),
        "{}",
        reply.text()
    );
    let said =
        |body: &str| client.ask("POST", &target, body.as_bytes()).error()["message"].to_string();
    assert!(said("{").contains("line 1 column 1"), "{}", said("{"));
    let differs = said(r#"{"thread_id":"th_01JXYZ0000000000000000000A","body":"x"}"#);
    assert!(differs.contains("thread_id differs from the one that the URL names"), "{differs}");
    assert!(client.log(&thread).is_empty());
}

#[test]
fn whoever_announces_too_much_is_told_so_whichever_way_it_comes() {
    let home = Home::generous();
    let up = home.up();
    let token = home.token("author", "worker");
    let head = |target: &str| {
        // Nothing of it is sent: the answer does not wait for that.
        let length = 3 * 1024 * 1024;
        format!(
            "POST {target} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\
             Authorization: Bearer {token}\r\nWaystation-Greeting: {{\"agent\":\"author\"}}\r\n\r\n"
        )
    };
    let too_large = |reply: &Reply| {
        assert_eq!((reply.status, reply.code().as_str()), (413, "PAYLOAD_TOO_LARGE"));
        assert!(reply.text().contains("1048576 bytes"), "{}", reply.text());
    };
    for target in ["/v1/threads", "/v1/call/create_thread"] {
        too_large(&http::send(up.address(), head(target).as_bytes()).unwrap());
    }
    let local = head("/local/call/create_thread");
    too_large(&http::send_local(&home.data(), local.as_bytes()).unwrap());
}

#[test]
fn wrong_and_doubled_fields_are_named() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    let target = format!("/v1/threads/{thread}/messages");
    let other = "th_01JXYZ0000000000000000000";
    for (field, body) in [
        ("body", json!({ "body": 7 }).to_string()),
        ("body", "{}".to_owned()),
        ("kind", json!({ "body": "x", "kind": 1 }).to_string()),
        ("bdy", json!({ "bdy": "x" }).to_string()),
        ("body", r#"{"body":"a","body":"b"}"#.to_owned()),
        ("body", format!(r#"{{"thread_id":"{thread}","body":"a","body":"b"}}"#)),
        (
            "metadata",
            format!(r#"{{"thread_id":"{thread}","body":"a","metadata":{{"k":1,"k":2}}}}"#),
        ),
        ("thread_id", format!(r#"{{"thread_id":"{thread}","thread_id":"{thread}","body":"a"}}"#)),
        ("thread_id", json!({ "thread_id": other, "body": "x" }).to_string()),
        ("thread_id", json!({ "thread_id": 7, "body": "x" }).to_string()),
        ("schema_version", r#"{"body":"x","schema_version":99999999999999999999}"#.to_owned()),
    ] {
        let reply = client.ask("POST", &target, body.as_bytes());
        let error = assert_clients_fault(&reply, &body);
        assert_eq!((reply.status, &error["field"]), (400, &json!(field)), "{body}: {error}");
        assert!(error["message"].as_str().unwrap().contains(field), "{error}");
    }
    let near = client.ask("POST", &target, br#"{"bodyy":"x"}"#);
    assert_eq!(near.error()["hint"], "did you mean body?");
    assert!(client.log(&thread).is_empty());
    // Naming the thread twice, alike, is no mistake.
    let both = json!({ "thread_id": thread, "body": "x" });
    assert_eq!(client.ok("POST", &target, &both)["seq"], 1);
}

#[test]
fn queries_are_read_strictly() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    let at = format!("/v1/threads/{thread}/messages");
    for (field, target) in [
        ("since_seq", format!("{at}?since_seq=-1")),
        ("since_seq", format!("{at}?since_seq=x")),
        ("since_seq", format!("{at}?since_seq=")),
        ("since_seq", format!("{at}?since_seq=1.5")),
        ("since_seq", format!("{at}?since_seq=99999999999999999999")),
        ("since_seq", format!("{at}?since_seq=1&since_seq=1")),
        ("limit", format!("{at}?limit=0")),
        ("limit", format!("{at}?limit=true")),
        ("sinceseq", format!("{at}?sinceseq=1")),
        ("thread_id", format!("{at}?thread_id={thread}")),
        ("", format!("{at}?since_seq=%zz")),
        ("", format!("{at}?since_seq=%+1")),
        ("", format!("{at}?since_seq=%ff")),
        ("unread_only", "/v1/threads?unread_only=1".to_owned()),
        ("status", "/v1/threads?status=gone".to_owned()),
        ("participant", "/v1/threads?participant=%00".to_owned()),
        ("cursor", "/v1/threads?cursor=x".to_owned()),
        ("agent_id", "/v1/sessions?agent_id=%00".to_owned()),
        ("timeout_ms", "/v1/messages/wait?timeout_ms=55001".to_owned()),
    ] {
        let reply = client.ask("GET", &target, b"");
        let error = assert_clients_fault(&reply, &target);
        assert_eq!(reply.status, 400, "{target}: {error}");
        assert_eq!(error["field"].as_str().unwrap_or_default(), field, "{target}: {error}");
    }
    let reply = client.ask("POST", &format!("{at}?body=x"), b"{\"body\":\"x\"}");
    assert_eq!(assert_clients_fault(&reply, "a query beside a body")["code"], "VALIDATION_ERROR");
    assert!(client.log(&thread).is_empty());
}

#[test]
fn paths_that_name_nothing_are_not_found() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    for part in naughty::LINES.iter().filter(|line| !matches!(**line, "." | "..")) {
        let reply = client.ask("GET", &format!("/v1/threads/{}", percent(part)), b"");
        let error = assert_clients_fault(&reply, part);
        assert_eq!((reply.status, &error["code"]), (404, &json!("NOT_FOUND")), "{part:?}");
        let target = format!("/v1/threads/{thread}/messages/{}", percent(part));
        assert_clients_fault(&client.ask("GET", &target, b""), part);
    }
    for target in [
        "/v1/threads/%ff",
        "/v1/threads/%c0%af",
        "/v1/threads/%ed%a0%80/messages",
        "/v1/threads/%",
        "/v1/threads/%zz",
        "/v1/threads/../../etc/passwd",
        "/v1/threads/%2e%2e%2f%2e%2e",
        "/v1//threads",
        "//v1/threads",
    ] {
        assert_clients_fault(&client.ask("GET", target, b""), target);
    }
    client.get(&format!("/v1/threads/{thread}"));
}

#[test]
fn naughty_text_survives_the_way_there_and_back() {
    let home = Home::generous();
    let up = home.up();
    let (client, thread) = setting(&home, &up);
    let target = format!("/v1/threads/{thread}/messages");
    let texts: Vec<String> =
        naughty::LINES.iter().map(|line| (*line).to_owned()).chain(naughty::long()).collect();
    for (n, text) in texts.iter().enumerate() {
        let body =
            json!({ "body": text, "metadata": { "n": n }, "idempotency_key": n.to_string() });
        assert_eq!(client.ok("POST", &target, &body)["seq"], n + 1);
        let title = client.json("POST", "/v1/threads", &json!({ "title": text }));
        if title.status != 200 {
            assert_eq!(assert_clients_fault(&title, text)["field"], "title");
        }
        let part: String = text.chars().take(300).collect();
        let listed = client.ask("GET", &format!("/v1/threads?title={}", percent(&part)), b"");
        assert!(listed.status < 500, "{text:?}: {}", listed.text());
    }
    let log = client.log(&thread);
    let found: Vec<&str> = log.iter().map(|message| message["body"].as_str().unwrap()).collect();
    assert_eq!(found, texts);
    // People read it without their terminal being told what to do.
    let shown = home.ok(&["read", &thread, "--limit", "200"]);
    assert!(shown.chars().all(|c| !c.is_control() || c == '\n' || c == '\t'));
}
