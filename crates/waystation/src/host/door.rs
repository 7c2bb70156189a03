//! Calling the hub's operations over the private socket, whatever becomes of the hub meanwhile.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use edge::local::{Client, ClientError, Greeting};
use parking_lot::Mutex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::limits::{ANSWER_PATIENCE, HUB_PAUSE, HUB_PAUSE_MAX, IDLE_CONNECTIONS_MAX};

/// Why an operation brought no answer.
#[derive(Debug)]
pub(crate) enum CallError {
    /// The hub could not be asked; it may have done it all the same.
    Away(String),
    /// The hub refused: its error object.
    Refused(Value),
}

impl CallError {
    /// The code of a refusal.
    pub(crate) fn code(&self) -> &str {
        match self {
            Self::Away(_) => "",
            Self::Refused(error) => error.get("code").and_then(Value::as_str).unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Away(why) => write!(f, "the hub could not be asked: {why}"),
            Self::Refused(error) => {
                let message = error.get("message").and_then(Value::as_str).unwrap_or_default();
                write!(f, "the hub refused: {message} ({})", self.code())
            }
        }
    }
}

/// The way to the hub. Clones share their connections.
#[derive(Clone)]
pub(crate) struct Door(Arc<Inner>);

struct Inner {
    socket: PathBuf,
    greeting: Greeting,
    idle: Mutex<Vec<Client>>,
    open: Arc<AtomicUsize>,
}

/// A connection, counted for as long as it is open.
struct Counted {
    client: Option<Client>,
    open: Arc<AtomicUsize>,
}

impl Drop for Counted {
    fn drop(&mut self) {
        if self.client.take().is_some() {
            self.open.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Door {
    /// The way to the hub behind a socket, as the operator of a workspace.
    pub(crate) fn new(socket: PathBuf, workspace: &str) -> Self {
        let greeting = Greeting {
            operator: true,
            workspace: Some(workspace.to_owned()),
            ..Greeting::default()
        };
        let open = Arc::new(AtomicUsize::new(0));
        Self(Arc::new(Inner { socket, greeting, idle: Mutex::default(), open }))
    }

    /// How many connections it holds open.
    pub(crate) fn open(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0.open)
    }

    /// Calls an operation once.
    pub(crate) async fn call(
        &self,
        operation: &str,
        input: &Value,
        patience: Duration,
    ) -> Result<Value, CallError> {
        let away = |error: &dyn std::fmt::Display| CallError::Away(error.to_string());
        let called = async {
            let mut counted = self.connection().await.map_err(|error| away(&error))?;
            let client = counted.client.as_mut().expect("a connection was just made");
            let answer = client.call(operation, input).await;
            match answer {
                Err(ClientError::Edge(error)) => Err(away(&error)),
                Err(ClientError::Refused(error)) => {
                    self.keep(counted);
                    Err(CallError::Refused(error))
                }
                Ok(called) => {
                    self.keep(counted);
                    Ok(called.answer)
                }
            }
        };
        tokio::time::timeout(patience, called).await.map_err(|_| away(&"no answer in time"))?
    }

    /// Calls an operation until the hub has answered; `None` when told to stop before. Only for what
    /// may be done twice.
    pub(crate) async fn insist(
        &self,
        operation: &str,
        input: &Value,
        stop: &CancellationToken,
    ) -> Option<Result<Value, CallError>> {
        let mut pause = HUB_PAUSE;
        loop {
            let answer = tokio::select! {
                answer = self.call(operation, input, ANSWER_PATIENCE) => answer,
                () = stop.cancelled() => return None,
            };
            match answer {
                Err(CallError::Refused(error)) if is_passing(&error) => {}
                Err(CallError::Away(why)) => tracing::debug!(%why, operation, "the hub is away"),
                answer => return Some(answer),
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(HUB_PAUSE_MAX),
                () = stop.cancelled() => return None,
            }
        }
    }

    async fn connection(&self) -> Result<Counted, edge::EdgeError> {
        let idle = self.0.idle.lock().pop();
        let client = match idle {
            Some(client) if client.is_open() => client,
            stale => {
                if stale.is_some() {
                    self.0.open.fetch_sub(1, Ordering::SeqCst);
                }
                let client = Client::connect(&self.0.socket, &self.0.greeting).await?;
                self.0.open.fetch_add(1, Ordering::SeqCst);
                client
            }
        };
        Ok(Counted { client: Some(client), open: self.open() })
    }

    fn keep(&self, mut counted: Counted) {
        let mut idle = self.0.idle.lock();
        if idle.len() < IDLE_CONNECTIONS_MAX {
            idle.extend(counted.client.take());
        }
    }
}

/// Whether a refusal says nothing about the request itself.
fn is_passing(error: &Value) -> bool {
    error.get("retryable").and_then(Value::as_bool).unwrap_or(false)
}
