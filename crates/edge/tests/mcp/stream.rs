//! MCP on a pair of streams: standard input and output, the private socket.

use std::sync::Arc;

use protocol::{Caller, Role};
use serde_json::{Value, json};
use testkit::{TestHub, caller};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use waystation_edge::mcp::serve_stream;

use crate::edge::{LEGACY, MODERN, almost_over, app, named, soon, until};

struct Client {
    hub: TestHub,
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinSet<std::io::Result<()>>,
    stop: CancellationToken,
}

impl Client {
    fn start() -> Self {
        Self::start_as("ada")
    }

    fn start_as(agent: &str) -> Self {
        Self::start_for(TestHub::start(), named(agent))
    }

    fn start_for(hub: TestHub, caller: Arc<Caller>) -> Self {
        let (ours, theirs) = tokio::io::duplex(4096);
        let (reader, writer) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let mut served = JoinSet::new();
        served.spawn(serve_stream(app(&hub), caller, reader, writer, stop.clone()));
        let (reader, writer) = tokio::io::split(ours);
        Self { hub, writer, lines: BufReader::new(reader).lines(), served, stop }
    }

    async fn write(&mut self, text: &str) {
        soon(self.writer.write_all(text.as_bytes())).await.unwrap();
        soon(self.writer.write_all(b"\n")).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line = soon(self.lines.next_line()).await.unwrap().expect("an answer comes");
        serde_json::from_str(&line).unwrap()
    }

    async fn ask(&mut self, id: i64, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.write(&body.to_string()).await;
        self.read().await
    }

    async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        });
        let greeting = self.ask(0, "initialize", params).await;
        assert_eq!(greeting["result"]["serverInfo"]["name"], "waystation");
        self.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string())
            .await;
    }

    async fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.ask(5, "tools/call", params).await["result"].clone()
    }

    async fn end(mut self) -> std::io::Result<()> {
        soon(self.writer.shutdown()).await.unwrap();
        soon(self.served.join_next()).await.unwrap().unwrap()
    }
}

#[tokio::test]
async fn a_client_works_and_leaves() {
    let mut client = Client::start();
    client.initialize().await;
    let created = client.tool("create_thread", json!({ "title": "Release" })).await;
    let thread = created["structuredContent"]["thread_id"].as_str().unwrap().to_owned();
    let uri = format!("threads://{thread}");
    let subscribed = client.ask(6, "resources/subscribe", json!({ "uri": uri })).await;
    assert_eq!(subscribed["result"], json!({}));
    let post = json!({ "thread_id": thread, "kind": "chat", "body": "hi", "idempotency_key": "k" });
    client.hub.ok(&caller("ada", Role::Worker), "post_message", post).await;
    assert_eq!(client.read().await["method"], "notifications/resources/updated");
    let hub = Arc::clone(&client.hub.hub);
    client.end().await.unwrap();
    until(|| hub.live.watchers() == 0).await;
}

#[tokio::test]
async fn what_waits_when_the_client_ends_is_called_off_and_the_rest_is_answered() {
    let mut client = Client::start();
    client.initialize().await;
    let created = client.tool("create_thread", json!({ "title": "Release" })).await;
    let thread = &created["structuredContent"]["thread_id"];
    let call = |id: &str, tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
    };
    let wait = json!({ "thread_id": thread, "timeout_ms": 50_000 });
    client.write(&call("wait", "wait_for_messages", wait)).await;
    let hub = Arc::clone(&client.hub.hub);
    until(|| hub.live.watchers() == 1).await;
    let post = json!({ "thread_id": thread, "kind": "chat", "body": "hi" });
    client.write(&call("post", "post_message", post)).await;
    client.writer.shutdown().await.unwrap();
    let end = tokio::time::Instant::now() + std::time::Duration::from_secs(4);
    let mut answers = vec![client.read().await, client.read().await];
    answers.sort_by_key(|answer| answer["id"].to_string());
    assert_eq!(answers[0]["result"]["structuredContent"]["seq"], 1, "{answers:?}");
    let waited = &answers[1]["result"]["structuredContent"];
    // What was posted last may come to whoever waits before it is called off.
    let (called_off, heard) = (&waited["error"]["code"], &waited["messages"][0]["body"]);
    assert!(called_off == "CANCELLED" || heard == "hi", "{answers:?}");
    let ended = tokio::time::timeout_at(end, client.served.join_next()).await;
    ended.expect("rmcp itself would wait for five seconds").unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_leaves_before_it_begins_is_no_error() {
    Client::start().end().await.unwrap();
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_the_stream_goes_on() {
    let mut client = Client::start();
    client.write("{\"jsonrpc\":").await;
    assert_eq!(client.read().await["error"]["code"], -32700);
    client
        .write(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled" }).to_string())
        .await;
    client.initialize().await;
    client.write("[]").await;
    assert_eq!(client.read().await["error"]["code"], -32600);
    client.write("").await;
    let long = "x".repeat(protocol::limits::BODY_BYTES_MAX + 1);
    client.write(&long).await;
    let refused = client.read().await;
    assert_eq!(refused["error"]["code"], -32600);
    assert!(refused["error"]["message"].as_str().unwrap().contains("larger"));
    let listed = client.tool("list_threads", json!({})).await;
    assert_eq!(listed["structuredContent"]["threads"], json!([]));
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_answered_under_its_id() {
    let mut client = Client::start();
    client.initialize().await;
    let call = |body: &str| {
        let arguments = format!(r#"{{"id":1,"body":{body}}}"#);
        let params = format!(r#"{{"name":"post_message","arguments":{arguments}}}"#);
        format!(r#"{{"method":"tools/call","params":{params},"jsonrpc":"2.0","id":"last"}}"#)
    };
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let long = format!("\"{}\"", "x".repeat(protocol::limits::BODY_BYTES_MAX));
    for (body, code) in [(r#""\ud83d""#, -32700), (&nested, -32700), (&long, -32600)] {
        client.write(&call(body)).await;
        let refused = client.read().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &json!("last")));
    }
}

#[tokio::test]
async fn a_name_that_stands_twice_is_refused() {
    let mut client = Client::start();
    client.initialize().await;
    let params = r#"{"name":"create_thread","arguments":{"title":"a","title":"b"}}"#;
    let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
    client.write(&call).await;
    let refused = client.read().await;
    let error = &refused["result"]["structuredContent"]["error"];
    let said = (&error["code"], &error["field"]);
    assert_eq!(said, (&json!("VALIDATION_ERROR"), &json!("title")), "{refused}");
}

#[tokio::test]
async fn the_newer_era_works_without_a_greeting() {
    let mut client = Client::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.ask(1, "server/discover", json!({ "_meta": meta })).await;
    assert!(found["result"]["capabilities"]["tools"].is_object());
    let ada = caller("ada", Role::Worker);
    let thread = client.hub.ok(&ada, "create_thread", json!({ "title": "Release" })).await;
    let uri = format!("threads://{}", thread["thread_id"].as_str().unwrap());
    let params = json!({ "notifications": { "resourceSubscriptions": [uri] }, "_meta": meta });
    let acknowledged = client.ask(2, "subscriptions/listen", params).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(client.read().await["params"]["uri"], uri, "the client is told to look");
    let post = json!({
        "thread_id": thread["thread_id"], "kind": "chat", "body": "hi", "idempotency_key": "k",
    });
    client.hub.ok(&ada, "post_message", post).await;
    assert_eq!(client.read().await["params"]["uri"], uri);
    client.hub.hub.stopping.cancel();
    assert!(client.read().await.get("result").is_some(), "the subscription ends well");
    client.end().await.unwrap();
}

#[tokio::test]
async fn a_revoked_token_does_nothing_more_on_the_stream_it_began() {
    let mut client = Client::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let ada = caller("ada", Role::Worker);
    let thread = client.hub.ok(&ada, "create_thread", json!({ "title": "Release" })).await;
    let uri = format!("threads://{}", thread["thread_id"].as_str().unwrap());
    let params = json!({ "notifications": { "resourceSubscriptions": [uri] }, "_meta": meta });
    client.ask(2, "subscriptions/listen", params).await;
    assert_eq!(client.read().await["params"]["uri"], uri, "the client is told to look");
    let nothing = json!({ "notifications": {}, "_meta": meta });
    let acknowledged = client.ask(3, "subscriptions/listen", nothing).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    client.hub.hub.revocations.revoke(&ada.workspace_id, &ada.jti);
    let mut ended = vec![client.read().await["id"].clone(), client.read().await["id"].clone()];
    ended.sort_by_key(Value::as_i64);
    assert_eq!(ended, [json!(2), json!(3)], "what it listened to is over");
    let params = json!({ "name": "list_threads", "arguments": {}, "_meta": meta });
    let refused = client.ask(4, "tools/call", params).await;
    let error = &refused["result"]["structuredContent"]["error"];
    assert_eq!(error["code"], "UNAUTHORIZED", "{refused}");
    client.end().await.unwrap();
}

#[tokio::test]
async fn what_is_listened_to_ends_with_the_token() {
    let hub = TestHub::start();
    let ada = caller("ada", Role::Worker);
    let thread = hub.ok(&ada, "create_thread", json!({ "title": "Release" })).await;
    let over_soon = almost_over(&ada, &hub);
    let mut client = Client::start_for(hub, over_soon);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let uri = format!("threads://{}", thread["thread_id"].as_str().unwrap());
    let params = json!({ "notifications": { "resourceSubscriptions": [uri] }, "_meta": meta });
    client.ask(2, "subscriptions/listen", params).await;
    assert_eq!(client.read().await["params"]["uri"], uri);
    assert_eq!(client.read().await["id"], 2, "nothing happened in the thread");
    let nothing = json!({ "notifications": {}, "_meta": meta });
    client.ask(3, "subscriptions/listen", nothing).await;
    assert_eq!(client.read().await["id"], 3);
}

#[tokio::test]
async fn chats_that_cannot_be_followed_are_not_acknowledged() {
    let mut client = Client::start_as("ada;allow=*/*");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let uris = json!(["messages://nowhere/*", "messages://*/*"]);
    let params = json!({ "notifications": { "resourceSubscriptions": uris }, "_meta": meta });
    let acknowledged = client.ask(2, "subscriptions/listen", params).await;
    let accepted = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(accepted, &json!(["messages://*/*"]));
    let message = json!({
        "chat_id": "1", "message_id": "1", "sent_at": "2026-02-17T11:00:00Z", "text": "hello",
    });
    let facts = json!({ "messages": [message] });
    let owner = caller("human", Role::Operator);
    let input = json!({ "source": "telegram", "facts": facts });
    client.hub.ok(&owner, "add_messages", input).await;
    let told = client.read().await;
    assert_eq!(told["params"]["uri"], "messages://telegram/1");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 2);
    let uris = json!(["messages://nowhere/*"]);
    let params = json!({ "notifications": { "resourceSubscriptions": uris }, "_meta": meta });
    let acknowledged = client.ask(3, "subscriptions/listen", params).await;
    assert_eq!(acknowledged["params"]["notifications"], json!({}));
    let refused = client.read().await;
    assert_eq!(refused["error"]["data"]["code"], "SOURCE_NOT_FOUND", "{refused}");
}

#[tokio::test]
async fn a_stream_ends_when_it_is_told_to() {
    let mut client = Client::start();
    client.initialize().await;
    client.stop.cancel();
    soon(client.served.join_next()).await.unwrap().unwrap().unwrap();
}
