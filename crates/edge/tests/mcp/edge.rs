//! A hub behind a real HTTP server, and a client that knows nothing but bytes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use bytes::{Bytes, BytesMut};
use edge::mcp::{App, HttpSettings, Server, Who, http_service_of};
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use protocol::chat::{ChatGrant, ChatLists};
use protocol::{Caller, Role, Scopes};
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use waystation_edge as edge;

use crate::chats::services;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// A hub behind an HTTP server.
pub(crate) struct Edge {
    pub(crate) hub: TestHub,
    address: SocketAddr,
    _server: JoinSet<()>,
}

/// What a test must not wait longer for.
pub(crate) async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("it happens soon")
}

/// Waits until something is so.
pub(crate) async fn until(what: impl Fn() -> bool) {
    soon(async {
        while !what() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

pub(crate) fn app(hub: &TestHub) -> App {
    App { hub: Arc::clone(&hub.hub), catalogue: Arc::clone(&hub.catalogue) }
}

impl Edge {
    pub(crate) async fn start() -> Self {
        Self::with_hosts(&[]).await
    }

    /// The same where somebody else looks at the names by which it is called.
    pub(crate) async fn behind_a_guard() -> Self {
        Self::with_hosts(&["*"]).await
    }

    async fn with_hosts(hosts: &[&str]) -> Self {
        let hub = TestHub::with_connectors(On::Sqlite, generous(), services::ALL);
        let server =
            Server::new(app(&hub), Who::Request).with_progress_interval(Duration::from_millis(5));
        let settings = HttpSettings {
            allowed_hosts: hosts.iter().map(|&host| host.to_owned()).collect(),
            body_bytes_max: 64 * 1024,
            ..HttpSettings::default()
        };
        let service = http_service_of(server, &settings);
        let router = Router::new().route_service("/mcp", service).layer(from_fn(authenticate));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { hub, address, _server: tasks }
    }

    /// Sends a request as this agent. Dropping the answer closes the connection.
    pub(crate) async fn send(
        &self,
        agent: &str,
        request: http::request::Builder,
        body: &str,
    ) -> Answer {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let mut connections = JoinSet::new();
        connections.spawn(async move { drop(connection.await) });
        let asked = request.uri_ref().filter(|uri| uri.query().is_some()).cloned();
        let uri = asked.unwrap_or_else(|| http::Uri::from_static("/mcp"));
        let mut request = request.uri(uri).header("x-agent", agent);
        let headers = request.headers_mut().unwrap();
        for (name, value) in [
            ("host", self.address.to_string()),
            ("content-type", "application/json".to_owned()),
            ("accept", "application/json, text/event-stream".to_owned()),
        ] {
            let name = http::HeaderName::from_static(name);
            if !headers.contains_key(&name) {
                headers.insert(name, value.parse().unwrap());
            }
        }
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        let response = soon(sender.send_request(request)).await.unwrap();
        Answer { response, buffer: BytesMut::new(), _connection: connections }
    }

    /// A request of the newer era.
    pub(crate) async fn modern(&self, agent: &str, method: &str, params: Value) -> Answer {
        self.modern_at("/mcp", agent, method, params).await
    }

    /// The same at an address with a query.
    pub(crate) async fn modern_at(
        &self,
        address: &str,
        agent: &str,
        method: &str,
        params: Value,
    ) -> Answer {
        let mut params = params;
        let meta = params.as_object_mut().unwrap().entry("_meta").or_insert_with(|| json!({}));
        meta["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        let name = params.get("name").or_else(|| params.get("uri")).and_then(Value::as_str);
        let mut request = http::Request::post(address)
            .header("mcp-protocol-version", MODERN)
            .header("mcp-method", method);
        if let Some(name) = name {
            request = request.header("mcp-name", name);
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.send(agent, request, &body.to_string()).await
    }

    /// A tool's result in the newer era.
    pub(crate) async fn tool(&self, agent: &str, name: &str, arguments: Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.modern(agent, "tools/call", params).await.json().await["result"].clone()
    }

    /// Begins a session of the older era.
    pub(crate) async fn initialize(&self, agent: &str) -> Session<'_> {
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "0" },
        } });
        let mut answer = self.send(agent, http::Request::post("/mcp"), &body.to_string()).await;
        let id = answer.header("mcp-session-id").expect("a session begins").to_owned();
        let greeting = answer.event().await.expect("the greeting comes");
        let session = Session { edge: self, agent: agent.to_owned(), id, greeting };
        let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&done).await.status(), 202);
        session
    }

    /// A thread with these participants, made past the edge.
    pub(crate) async fn thread(&self, by: &str, participants: &[&str]) -> String {
        let input = json!({ "title": "Release", "participants": participants });
        let thread = self.hub.ok(&caller(by, Role::Worker), "create_thread", input).await;
        thread["thread_id"].as_str().unwrap().to_owned()
    }

    /// A post made past the edge.
    pub(crate) async fn say(&self, by: &str, thread: &str, key: &str) {
        let input = json!({
            "thread_id": thread, "kind": "chat", "body": "hello", "idempotency_key": key,
        });
        self.hub.ok(&caller(by, Role::Worker), "post_message", input).await;
    }

    pub(crate) fn watchers(&self) -> usize {
        self.hub.hub.live.watchers()
    }
}

/// A session of the older era.
pub(crate) struct Session<'a> {
    pub(crate) edge: &'a Edge,
    pub(crate) agent: String,
    pub(crate) id: String,
    pub(crate) greeting: Value,
}

impl Session<'_> {
    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.post_as(&self.agent, body).await
    }

    pub(crate) async fn post_as(&self, agent: &str, body: &Value) -> Answer {
        let request = self.request(http::Method::POST);
        self.edge.send(agent, request, &body.to_string()).await
    }

    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        let mut answer = self.post(&body).await;
        assert_eq!(answer.header("content-type"), Some("text/event-stream"));
        answer.event().await.expect("an answer comes")
    }

    pub(crate) async fn listen(&self) -> Answer {
        self.edge.send(&self.agent, self.request(http::Method::GET), "").await
    }

    pub(crate) fn request(&self, method: http::Method) -> http::request::Builder {
        http::Request::builder()
            .method(method)
            .header("mcp-session-id", &self.id)
            .header("mcp-protocol-version", LEGACY)
    }
}

/// An answer over HTTP.
pub(crate) struct Answer {
    response: Response<Incoming>,
    buffer: BytesMut,
    _connection: JoinSet<()>,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) async fn text(mut self) -> String {
        let body = soon(self.response.body_mut().collect()).await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    /// A plain JSON answer.
    pub(crate) async fn json(self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{:?}", self.response);
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// The id of the event that an event stream begins with.
    pub(crate) async fn first_id(&mut self) -> String {
        let frame = soon(self.response.body_mut().frame()).await.unwrap().unwrap();
        let event = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        let id = event.lines().find_map(|line| line.strip_prefix("id:"));
        id.expect("the first event has an id").trim().to_owned()
    }

    /// The next message of an event stream; `None` when it has ended.
    pub(crate) async fn event(&mut self) -> Option<Value> {
        soon(async {
            loop {
                while let Some(end) = self.buffer.windows(2).position(|w| w == b"\n\n") {
                    let event = self.buffer.split_to(end + 2);
                    let event = std::str::from_utf8(&event).unwrap();
                    let data: String =
                        event.lines().filter_map(|line| line.strip_prefix("data:")).collect();
                    if !data.trim().is_empty() {
                        return Some(serde_json::from_str(&data).unwrap());
                    }
                }
                match self.response.body_mut().frame().await {
                    Some(frame) => {
                        if let Ok(data) = frame.unwrap().into_data() {
                            self.buffer.extend_from_slice(&data);
                        }
                    }
                    None => return None,
                }
            }
        })
        .await
    }
}

/// The agent says its own name, its role when it is not a worker, and the chats and scopes it has
/// when they are not those of its role: `boss/operator`, `eve;allow=telegram/1,slack/*;deny=slack/2`,
/// `eve;allow=*/*;scopes=chats:read`; and the tools it is shown: `eve;toolsets=relay`.
pub(crate) async fn authenticate(mut request: Request, next: Next) -> axum::response::Response {
    let name = request.headers().get("x-agent").and_then(|name| name.to_str().ok());
    if let Some(name) = name {
        let caller = named(name);
        request.extensions_mut().insert(caller);
    }
    next.run(request).await
}

/// Who is meant by a name.
pub(crate) fn named(name: &str) -> Arc<Caller> {
    let mut parts = name.split(';');
    let who = parts.next().unwrap();
    let (agent, role) = who.split_once('/').unwrap_or((who, "worker"));
    let mut known = (*caller(agent, role.parse().unwrap())).clone();
    let mut lists = ChatLists::default();
    for part in parts {
        let (what, list) = part.split_once('=').unwrap();
        let list: Vec<&str> = list.split(',').filter(|item| !item.is_empty()).collect();
        let patterns = || list.iter().map(|pattern| pattern.parse().unwrap()).collect();
        match what {
            "allow" => lists.allow = patterns(),
            "deny" => lists.deny = patterns(),
            "toolsets" => known.toolsets = Some(list.join(",").parse().unwrap()),
            _ => known.scopes = Scopes::from_claim(&list.join(" ")),
        }
        if matches!(what, "allow" | "deny") {
            known.chats = ChatGrant::Lists(lists.clone());
        }
    }
    Arc::new(known)
}

/// The same caller with a token that ends in a moment. The hub's clock stands, and the moment with it.
pub(crate) fn almost_over(caller: &Caller, hub: &TestHub) -> Arc<Caller> {
    let left_ms = 100 - protocol::limits::TOKEN_LEEWAY_SECONDS * 1000;
    Arc::new(Caller { exp: hub.hub.now().plus_ms(left_ms), ..caller.clone() })
}
