//! A command's end of the private socket: one HTTP request at a time.

use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use protocol::limits;
use serde_json::Value;
use tokio::net::UnixStream;

use super::listener::{GREETING, Greeting};
use crate::error::EdgeError;

/// How long an owner may take to answer. It gives up by itself before; only one that hangs does not.
const PATIENCE: Duration = limits::REQUEST_TIMEOUT.saturating_add(Duration::from_secs(20));

/// A connection to the owner of a data folder.
pub struct Client {
    sender: http1::SendRequest<Full<Bytes>>,
    greeting: String,
    driver: tokio::task::JoinHandle<()>,
}

/// Why a request to the hub failed.
#[derive(Debug)]
pub enum ClientError {
    /// The hub could not be asked.
    Edge(EdgeError),
    /// The hub refused: its error object.
    Refused(Value),
}

impl From<EdgeError> for ClientError {
    fn from(error: EdgeError) -> Self {
        Self::Edge(error)
    }
}

impl Client {
    /// Connects to the owner.
    pub async fn connect(socket: &Path, greeting: &Greeting) -> Result<Self, EdgeError> {
        let stream = UnixStream::connect(socket)
            .await
            .map_err(|source| EdgeError::Socket { path: socket.display().to_string(), source })?;
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(unreadable)?;
        let greeting = serde_json::to_string(greeting).expect("a greeting is a struct of text");
        #[expect(
            clippy::disallowed_methods,
            reason = "the client awaits or aborts it when it is dropped"
        )]
        let driver = tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "the connection to the hub ended");
            }
        });
        Ok(Self { sender, greeting, driver })
    }

    /// Whether the owner has not hung up, as far as is known.
    pub fn is_open(&self) -> bool {
        !self.sender.is_closed()
    }

    /// Calls an operation by name.
    pub async fn call(&mut self, operation: &str, input: &Value) -> Result<Called, ClientError> {
        self.call_with(operation, input.to_string()).await
    }

    /// The same with an input that the hub shall read as it is written.
    pub async fn call_with(
        &mut self,
        operation: &str,
        input: impl Into<Bytes>,
    ) -> Result<Called, ClientError> {
        let path = format!("/local/call/{operation}");
        let body = self.post(&path, input).await?;
        let mut value: Value = serde_json::from_slice(&body).map_err(unreadable)?;
        let brief = value.get_mut("brief").map(Value::take);
        let brief = brief.and_then(|brief| brief.as_str().map(str::to_owned)).unwrap_or_default();
        let answer = value.get_mut("answer").map(Value::take).unwrap_or_default();
        Ok(Called { answer, brief })
    }

    /// Posts to a path of the private socket and answers the body.
    pub async fn post(&mut self, path: &str, body: impl Into<Bytes>) -> Result<Bytes, ClientError> {
        let request = http::Request::post(path)
            .header(http::header::HOST, "localhost")
            .header(http::header::CONTENT_TYPE, "application/json")
            .header(GREETING, &self.greeting)
            .body(Full::new(body.into()))
            .map_err(unreadable)?;
        let answered = async {
            self.sender.ready().await?;
            let response = self.sender.send_request(request).await?;
            let is_good = response.status().is_success();
            Ok((is_good, response.into_body().collect().await?.to_bytes()))
        };
        let silent = |_| EdgeError::Silent { seconds: PATIENCE.as_secs() };
        let answered = tokio::time::timeout(PATIENCE, answered).await.map_err(silent)?;
        let (is_good, body) = answered.map_err(EdgeError::Lost)?;
        if is_good {
            return Ok(body);
        }
        let mut error: Value = serde_json::from_slice(&body).map_err(unreadable)?;
        Err(ClientError::Refused(error.get_mut("error").map(Value::take).unwrap_or(error)))
    }
}

/// What an operation answered.
#[derive(Debug)]
pub struct Called {
    /// The answer.
    pub answer: Value,
    /// The same in a few words.
    pub brief: String,
}

impl Drop for Client {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn unreadable(error: impl std::fmt::Display) -> EdgeError {
    EdgeError::Protocol(error.to_string())
}
