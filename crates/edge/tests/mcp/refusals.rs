//! What is refused before it becomes a call, and how.

use http::Request;
use serde_json::json;

use crate::edge::{Edge, MODERN};

#[tokio::test]
async fn what_is_no_message_is_refused_in_json_rpc() {
    let edge = Edge::start().await;
    for (body, code) in [
        ("{\"jsonrpc\":", -32700),
        ("", -32700),
        ("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
        ("{\"hello\":1}", -32600),
        ("7", -32600),
    ] {
        let answer = edge.send("ada", Request::post("/mcp"), body).await;
        assert_eq!(answer.status(), 400, "{body}");
        assert_eq!(answer.json().await["error"]["code"], code, "{body}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let edge = Edge::start().await;
    let answer = edge.send("ada", Request::post("/mcp"), &" ".repeat(64 * 1024 + 1)).await;
    assert_eq!(answer.status(), 413);
    assert_eq!(answer.json().await["error"]["code"], -32600);
}

#[tokio::test]
async fn other_hosts_and_origins_are_refused() {
    let edge = Edge::start().await;
    let foreign = Request::post("/mcp").header("host", "evil.example.com");
    assert_eq!(edge.send("ada", foreign, "{}").await.status(), 403);
    let foreign = Request::post("/mcp").header("origin", "https://evil.example.com");
    assert_eq!(edge.send("ada", foreign, "{}").await.status(), 403);
}

#[tokio::test]
async fn a_header_that_contradicts_the_body_is_refused() {
    let edge = Edge::start().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "list_threads",
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    let request = Request::post("/mcp")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", "tools/call")
        .header("mcp-name", "post_message");
    let answer = edge.send("ada", request, &body.to_string()).await;
    assert_eq!(answer.status(), 400);
    assert_eq!(answer.json().await["error"]["code"], -32020);
}

#[tokio::test]
async fn unknown_names_and_wrong_parameters_are_protocol_errors() {
    let edge = Edge::start().await;
    let params = json!({ "name": "post_mesage", "arguments": {} });
    let answer = edge.modern("ada", "tools/call", params).await.json().await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("did you mean post_message?"));

    let answer = edge.modern("ada", "no/such", json!({})).await;
    assert_eq!(answer.status(), 404);
    assert_eq!(answer.json().await["error"]["code"], -32601);

    let session = edge.initialize("ada").await;
    let answer = session.call("tools/call", json!({ "arguments": {} })).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test]
async fn who_accepts_anything_accepts_what_we_send() {
    let edge = Edge::start().await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    } });
    let request = Request::post("/mcp")
        .header("accept", "*/*")
        .header("mcp-protocol-version", MODERN)
        .header("mcp-method", "server/discover");
    assert_eq!(edge.send("ada", request, &body.to_string()).await.status(), 200);
}

#[tokio::test]
async fn a_session_serves_only_who_began_it() {
    let edge = Edge::start().await;
    let ada = edge.initialize("ada").await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert_eq!(ada.post_as("eve", &list).await.status(), 404);
    for method in [http::Method::GET, http::Method::DELETE] {
        assert_eq!(edge.send("eve", ada.request(method), "").await.status(), 404);
    }
    assert_eq!(ada.post(&list).await.status(), 200);
    let unknown = Request::post("/mcp").header("mcp-session-id", "no-such-session");
    assert_eq!(edge.send("eve", unknown, &list.to_string()).await.status(), 404);
}

#[tokio::test]
async fn the_newer_era_knows_no_sessions() {
    let edge = Edge::start().await;
    let ada = edge.initialize("ada").await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    } } });
    for session in ["no-such-session", &ada.id] {
        let request = Request::post("/mcp")
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", "tools/list")
            .header("mcp-session-id", session);
        let answer = edge.send("eve", request, &body.to_string()).await;
        assert_eq!(answer.status(), 200, "{session}");
    }
    let listed = ada.call("tools/list", json!({})).await;
    assert!(listed["result"]["tools"].is_array(), "ada's session is as it was");
}

#[tokio::test]
async fn a_cursor_that_nobody_gave_out_is_refused() {
    let edge = Edge::start().await;
    for method in ["tools/list", "prompts/list", "resources/templates/list"] {
        let answer = edge.modern("ada", method, json!({ "cursor": "made up" })).await;
        assert_eq!(answer.json().await["error"]["code"], -32602, "{method}");
    }
}
