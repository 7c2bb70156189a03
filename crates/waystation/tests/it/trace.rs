//! Whoever traces a request finds it in the hub's log, in its audit trail and on the answer.

use serde_json::{Value, json};

use crate::http::{self, Reply};
use crate::program::{Home, Up};

pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn send(up: &Up, token: &str, target: &str, body: &Value, more: &[(&str, String)]) -> Reply {
    let mut headers =
        vec![("Host", up.address().to_owned()), ("Authorization", format!("Bearer {token}"))];
    headers.extend(more.iter().cloned());
    let method = if body.is_null() { "GET" } else { "POST" };
    let body = if body.is_null() { String::new() } else { body.to_string() };
    http::send(up.address(), &http::text(method, target, &headers, body.as_bytes())).unwrap()
}

/// The lines of the log about traced calls.
pub(crate) fn traced(home: &Home) -> Vec<Value> {
    let log = home.log();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| !line["fields"]["trace"].is_null()).collect()
}

/// The operations that the audit trail has of the trace, so many.
fn trail(up: &Up, token: &str, count: usize) -> Vec<Value> {
    // Reads are entered a moment later, so the trail is read until they are there.
    let entries = (0..1_000).find_map(|_| {
        let audit = up.client(token).get("/v1/audit?limit=200");
        let of_trace =
            |entry: &&Value| entry["detail"].as_str().is_some_and(|detail| detail.contains(TRACE));
        let found: Vec<Value> =
            audit["entries"].as_array().unwrap().iter().filter(of_trace).cloned().collect();
        (found.len() == count).then_some(found)
    });
    entries.unwrap().iter().map(|entry| entry["operation"].clone()).collect()
}

#[test]
fn a_trace_is_found_in_the_log_the_trail_and_the_answer() {
    let home = Home::new().with("LOG__FORMAT", "json");
    let up = home.up();
    let token = home.token("tracer", "operator");
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let headers = [("traceparent", parent.clone()), ("X-Correlation-Id", "order-17/3".to_owned())];
    let canary = "canary-title-5512";
    let made = send(&up, &token, "/v1/threads", &json!({ "title": canary }), &headers);
    assert_eq!(made.status, 200, "{}", made.text());
    let read = send(&up, &token, "/v1/threads", &Value::Null, &headers);
    let lost = send(&up, &token, "/v1/threads/th_x", &Value::Null, &headers);
    let stranger = send(&up, "x.y.z", "/v1/threads", &Value::Null, &headers);
    assert_eq!([read.status, lost.status, stranger.status], [200, 404, 401]);
    for reply in [&made, &read, &lost, &stranger] {
        assert_eq!(reply.header("traceparent"), Some(parent.as_str()));
        assert_eq!(reply.header("x-correlation-id"), Some("order-17/3"));
    }
    let lines = traced(&home);
    for (reply, operation, outcome) in [
        (&made, "create_thread", "ok"),
        (&read, "list_threads", "ok"),
        (&lost, "get_thread", "NOT_FOUND"),
    ] {
        let id = reply.header("x-request-id").unwrap();
        let line = lines.iter().find(|line| line["fields"]["request"] == id).expect(operation);
        assert_eq!(line["level"], "INFO");
        let expected = json!([TRACE, "00f067aa0ba902b7", operation, outcome, "tracer"]);
        let fields = ["trace", "parent", "operation", "outcome", "agent"];
        assert_eq!(json!(fields.map(|field| &line["fields"][field])), expected);
    }
    assert!(!home.log().contains(canary), "what was asked is not logged");
    let operations = trail(&up, &token, 3);
    assert_eq!(json!(operations), json!(["create_thread", "list_threads", "get_thread"]));
    assert_eq!(up.stop(), 0);
    crate::kill::audit_verifies(&home);
}

/// A call of a tool over MCP.
fn call_tool(up: &Up, token: &str, name: &str, input: &Value, more: &[(&str, String)]) -> Reply {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": name, "arguments": input, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let mut headers = vec![
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("MCP-Protocol-Version", "2026-07-28".to_owned()),
        ("MCP-Method", "tools/call".to_owned()),
        ("MCP-Name", name.to_owned()),
    ];
    headers.extend(more.iter().cloned());
    send(up, token, "/mcp", &body, &headers)
}

#[test]
fn a_trace_is_found_whichever_way_a_call_comes() {
    let home = Home::new().with("LOG__FORMAT", "json");
    let up = home.up();
    let token = home.token("tracer", "operator");
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let header = [("traceparent", parent.clone())];
    let by_name = send(&up, &token, "/v1/call/list_threads", &json!({}), &header);
    // One that is answered at once, and one that rmcp sees because it may wait.
    let brief = call_tool(&up, &token, "list_sessions", &json!({}), &header);
    let waiting = json!({ "timeout_ms": 0 });
    let waiting = call_tool(&up, &token, "wait_for_messages", &waiting, &header);
    let greeting = ("Waystation-Greeting", json!({ "operator": true }).to_string());
    let headers = [("Host", "localhost".to_owned()), greeting, header[0].clone()];
    let request = http::text("POST", "/local/call/list_agents", &headers, b"{}");
    let local = http::send_local(&home.data(), &request).unwrap();
    for reply in [&by_name, &brief, &waiting, &local] {
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert_eq!(reply.header("traceparent"), Some(parent.as_str()));
    }
    let ways = ["list_threads", "list_sessions", "wait_for_messages", "list_agents"];
    let logged: Vec<Value> = traced(&home).iter().map(|line| line["fields"].clone()).collect();
    let operations: Vec<&Value> = logged.iter().map(|line| &line["operation"]).collect();
    assert_eq!(operations, ways, "{logged:?}");
    assert!(logged.iter().all(|line| line["trace"] == TRACE), "{logged:?}");
    assert_eq!(json!(trail(&up, &token, ways.len())), json!(ways));
}

#[test]
fn what_is_no_trace_is_neither_logged_nor_sent_back() {
    let home = Home::new().with("LOG__FORMAT", "json");
    let up = home.up();
    let token = home.token("tracer", "worker");
    for bad in [
        "garbage".to_owned(),
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01".to_owned(),
        format!("00-{TRACE}-00f067aa0ba902b7-01-more"),
    ] {
        let headers = [("traceparent", bad), ("X-Correlation-Id", "x".repeat(129))];
        let reply = send(&up, &token, "/v1/threads", &Value::Null, &headers);
        assert_eq!(reply.status, 200);
        assert_eq!((reply.header("traceparent"), reply.header("x-correlation-id")), (None, None));
    }
    assert_eq!(up.stop(), 0);
    assert_eq!(traced(&home), Vec::<Value>::new());
}
