//! A hub with one link that is called, behind its real listener.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use connector_api::ConnectorKind;
use edge::{App, WebSettings, public, server};
use http_body_util::{BodyExt, Full};
use hub::identity::{IdentityConfig, Verifier};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use protocol::Role;
use serde_json::{Value, json};
use testkit::{On, TestHub, caller, generous};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use waystation_edge as edge;

use crate::service::Kind;

pub(crate) const PATH: &str = "/hooks/wk_mobile_core/signed";

pub(crate) struct World {
    pub(crate) hub: TestHub,
    address: SocketAddr,
    _server: JoinSet<()>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Answer {
    async fn of(response: http::Response<Incoming>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Self {
            status: parts.status.as_u16(),
            headers: parts.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// What it says, but for the id of the request.
    pub(crate) fn without_id(&self) -> Value {
        let mut body: Value = serde_json::from_str(&self.text).unwrap();
        body["error"].as_object_mut().unwrap().remove("request_id");
        let names: Vec<&str> = self.headers.keys().map(http::HeaderName::as_str).collect();
        json!([body, names])
    }
}

impl World {
    pub(crate) async fn start() -> Self {
        const KINDS: &[&dyn ConnectorKind] = &[&Kind];
        let hub = TestHub::with_connectors(On::Sqlite, generous(), KINDS);
        let owner = caller("human", Role::Operator);
        let link = json!({ "service": "signed", "settings": {} });
        hub.ok(&owner, "add_link", link).await;
        hub.ok(&owner, "add_messages", json!({ "source": "archive" })).await;
        while hub.ok(&owner, "list_links", json!({})).await["links"]
            .as_array()
            .unwrap()
            .iter()
            .all(|link| link["status"] != "connected")
        {
            tokio::task::yield_now().await;
        }
        Self::over(hub).await
    }

    /// A hub behind its listener.
    pub(crate) async fn over(hub: TestHub) -> Self {
        let keys = Arc::clone(&hub.hub.keys);
        let revocations = Arc::clone(&hub.hub.revocations);
        let verifier = Verifier::new(&IdentityConfig::default(), keys, revocations).unwrap();
        let web = WebSettings {
            public_url: "https://hooks.example.net".to_owned(),
            ..WebSettings::default()
        };
        let app =
            App::new(Arc::clone(&hub.hub), Arc::clone(&hub.catalogue), Arc::new(verifier), web);
        let listener = server::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(server::serve(listener, public(&app), None, CancellationToken::new()));
        Self { hub, address, _server: tasks }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"").await
    }

    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        self.send("POST", path, headers, body).await
    }

    /// Begins a request and does not end it.
    pub(crate) async fn begin(&self, path: &str, framing: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("POST {path} HTTP/1.1\r\nhost: {}\r\n{framing}\r\n\r\n", self.address);
        stream.write_all((head + body).as_bytes()).await.unwrap();
        stream
    }

    /// What such a request is answered with.
    pub(crate) async fn status(stream: &mut TcpStream) -> u16 {
        let mut line = [0; "HTTP/1.1 200".len()];
        stream.read_exact(&mut line).await.unwrap();
        std::str::from_utf8(&line).unwrap().rsplit(' ').next().unwrap().parse().unwrap()
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let mut connections = JoinSet::new();
        connections.spawn(async move { drop(connection.await) });
        let mut request = http::Request::builder().method(method).uri(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        Answer::of(sender.send_request(request).await.unwrap()).await
    }

    /// The same over HTTP/2, to whoever has this name.
    pub(crate) async fn post_http2(
        &self,
        name: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream))
                .await
                .unwrap();
        let mut connections = JoinSet::new();
        connections.spawn(async move { drop(connection.await) });
        let mut request = http::Request::post(format!("http://{name}{PATH}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
        Answer::of(sender.send_request(request).await.unwrap()).await
    }

    async fn messages(&self) -> Vec<Value> {
        let owner = caller("human", Role::Operator);
        let input = json!({ "source": "signed" });
        let page = self.hub.ok(&owner, "get_messages", input).await;
        page["messages"].as_array().unwrap().clone()
    }

    pub(crate) async fn newest(&self) -> String {
        self.messages().await[0]["content"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn count(&self) -> usize {
        self.messages().await.len()
    }
}
