//! The chat server's specification where it is about the program: how it starts and stops, and who
//! gets in. The scenarios about chats themselves are proved at the edge, over both eras of MCP.

use std::net::{TcpListener, TcpStream};
use std::thread;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::http::{self, Reply};
use crate::program::{Home, Up};
use crate::signals::wait_for_watchers;
use crate::stdio::{Client, kill_owner};

const MODERN: &str = "2026-07-28";

/// A request of MCP over HTTP.
fn mcp(up: &Up, token: &str, method: &str, mut params: Value) -> Reply {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![
        ("Host", up.address().to_owned()),
        ("Content-Type", "application/json".to_owned()),
        ("Accept", "application/json, text/event-stream".to_owned()),
        ("Mcp-Protocol-Version", MODERN.to_owned()),
        ("Mcp-Method", method.to_owned()),
    ];
    if let Some(name) = params["name"].as_str() {
        headers.push(("Mcp-Name", name.to_owned()));
    }
    if !token.is_empty() {
        headers.push(("Authorization", format!("Bearer {token}")));
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = http::text("POST", "/mcp", &headers, body.to_string().as_bytes());
    http::send(up.address(), &request).unwrap()
}

fn call(up: &Up, token: &str, tool: &str, arguments: &Value) -> Reply {
    mcp(up, token, "tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Puts a chat into the archive.
fn archive(home: &Home, id: &str, text: &str) {
    let facts = json!({
        "chats": [{ "chat_id": "1", "chat_type": "direct", "name": "Antti" }],
        "messages": [{
            "chat_id": "1", "message_id": id, "sent_at": "2026-02-17T11:00:00Z",
            "sender_id": "antti", "sender_name": "Antti", "text": text,
        }],
    });
    let input = json!({ "source": "telegram", "facts": facts }).to_string();
    home.ok(&["call", "add_messages", &input]);
}

#[test]
fn start_embedded_server() {
    for options in [vec!["mcp"], vec!["mcp", "--embedded"]] {
        let home = Home::new();
        archive(&home, "1", "hello");
        home.ok(&["down"]);
        // The first message, `initialize`, is answered before this returns.
        let mut client = Client::start(home.command(&options));
        let listed = client.ask("tools/list", &json!({}));
        assert!(listed.to_string().contains("\"list_sources\""), "{listed}");
        let read = client.ask("resources/read", &json!({ "uri": "messages://telegram/Antti" }));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("[2026-02-17T11:00:00Z] Antti: hello\n"), "{text}");
        assert_eq!(client.end(), 0);
    }
}

#[test]
fn start_standalone_server() {
    let home = Home::new();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let up = home.up_with(&[&format!("--port={port}")]);
    assert_eq!(up.address(), format!("127.0.0.1:{port}"));
    let token = home.token("ada", "worker");
    let found = mcp(&up, &token, "server/discover", json!({}));
    assert_eq!(found.status, 200, "{}", found.text());
    for capability in ["tools", "resources", "prompts"] {
        assert!(found.json()["result"]["capabilities"][capability].is_object(), "{capability}");
    }
    let told = call(&up, &token, "list_sources", &json!({})).json();
    assert_eq!(told["result"]["structuredContent"]["sources"], json!([]));
    assert_eq!(up.stop(), 0);
}

#[test]
fn graceful_shutdown() {
    let home = Home::new();
    let up = home.up();
    let token = home.token("ada", "worker");
    let thread = up.client(&token).open(&[]);
    let address = up.address().to_owned();
    thread::scope(|scope| {
        let (up, token, thread) = (&up, &token, &thread);
        let wait = json!({ "thread_id": thread, "timeout_ms": 55_000 });
        let waiting = scope.spawn(move || call(up, token, "wait_for_messages", &wait));
        wait_for_watchers(&home, up, 1);
        up.signal(Signal::TERM);
        let answer = waiting.join().unwrap();
        assert_eq!(answer.status, 200, "what was under way is answered: {}", answer.text());
        assert_eq!(answer.json()["result"]["structuredContent"]["timed_out"], false);
    });
    assert_eq!(up.wait().code(), Some(0), "{}", home.log());
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn token_based_authentication() {
    let home = Home::new();
    let up = home.up();
    for token in ["", "wrong-token"] {
        let refused = call(&up, token, "list_sources", &json!({}));
        assert_eq!(refused.status, 401);
        assert_eq!(refused.code(), "UNAUTHORIZED");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    }
}

#[test]
fn valid_token() {
    let home = Home::new();
    home.configure(
        "[[identity.static_tokens]]\ntoken = \"secret123\"\nagent_id = \"ada\"\n\
         workspace_id = \"default\"\nrole = \"operator\"\n",
    );
    let up = home.up();
    archive(&home, "1", "hello");
    let input = json!({ "source": "telegram", "chat": "Antti" });
    let told = call(&up, "secret123", "get_messages", &input);
    assert_eq!(told.status, 200, "{}", told.text());
    let messages = &told.json()["result"]["structuredContent"]["messages"];
    assert_eq!(messages[0]["content"], "hello");
    assert_eq!(call(&up, "secret124", "get_messages", &input).status, 401);
}

#[test]
fn no_authentication_in_embedded_mode() {
    let home = Home::new();
    archive(&home, "1", "hello");
    let mut client = Client::start(home.command(&["mcp"]));
    let told = client.tool("list_sources", &json!({}));
    assert_eq!(told["sources"][0]["id"], "telegram");
    let told = client.tool("list_chats", &json!({ "source": "telegram" }));
    assert_eq!(told["chats"][0]["name"], "Antti");
    assert_eq!(client.end(), 0);
}

#[test]
fn a_wildcard_on_chats_outlives_the_hub_it_was_made_at() {
    let home = Home::new();
    archive(&home, "1", "hello");
    let mut client = Client::agent(&home, "ada");
    let uri = "messages://*/*";
    let subscribed = client.ask("resources/subscribe", &json!({ "uri": uri }));
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    archive(&home, "2", "before");
    assert_eq!(client.news()["params"]["_meta"]["chat"], "Antti");
    kill_owner(&home);
    // The client is told to look, under the address it knows.
    assert_eq!(client.news()["params"]["uri"], uri);
    archive(&home, "3", "after");
    let news = client.news();
    assert_eq!(news["params"]["uri"], "messages://telegram/1", "{news}");
    assert_eq!(news["params"]["_meta"]["source"], "telegram");
    assert_eq!(client.end(), 0);
}
