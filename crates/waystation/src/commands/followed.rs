//! A hub that a command stays with for as long as a person looks on, whoever owns it meanwhile.

use std::time::Duration;

use anyhow::Result;
use edge::local::{Called, Client, ClientError, Greeting};
use serde_json::Value;

use crate::paths::Place;
use crate::{failure, reach};

/// After an owner that went away, or could not answer.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The hub, whoever owns it at the moment.
pub(super) struct Followed<'a> {
    place: &'a Place,
    workspace: String,
    /// What to call this session where nothing else names it.
    session: Option<String>,
    client: Option<Client>,
}

impl<'a> Followed<'a> {
    /// The hub of a folder.
    pub(super) fn new(place: &'a Place) -> Result<Self> {
        let workspace = place.config()?.workspace;
        Ok(Self { place, workspace, session: None, client: None })
    }

    /// Stays one session, under this name, when the owner changes.
    pub(super) fn named(self, name: String) -> Self {
        Self { session: Some(name), ..self }
    }

    /// Who asks: as the environment says now, for a token may be replaced meanwhile.
    pub(super) fn greeting(&self) -> Result<Greeting> {
        let mut greeting = reach::person(&self.place.environment, &self.workspace)?;
        if greeting.session.is_none() {
            greeting.session.clone_from(&self.session);
        }
        Ok(greeting)
    }

    /// Asks for something that changes nothing, until somebody answers.
    pub(super) async fn call(&mut self, operation: &str, input: &Value) -> Result<Called> {
        loop {
            let mut client = match self.client.take() {
                Some(client) => client,
                None => reach::connect(self.place, &self.greeting()?).await?,
            };
            match client.call(operation, input).await {
                Ok(called) => {
                    self.client = Some(client);
                    return Ok(called);
                }
                Err(ClientError::Edge(error)) => tracing::debug!(%error, "the owner went away"),
                Err(ClientError::Refused(error)) if is_passing(&error) => {}
                Err(error) => return Err(failure::of_client(error)),
            }
            tokio::time::sleep(ASK_AGAIN_AFTER).await;
        }
    }
}

/// Whether the same question may be answered later.
fn is_passing(error: &Value) -> bool {
    error.get("retryable") == Some(&Value::Bool(true))
}
