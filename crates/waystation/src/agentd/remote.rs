//! The hub elsewhere: calls go to it over HTTPS, each with the token of whoever asks.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use connector_api::toolkit::{ApiRequest, Destination, HttpClient, HttpError, HttpSettings};
use edge::local::{Greeting, Marks, Relayed, Upstream};
use protocol::{ErrorCode, limits};
use tokio::io::BufReader;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio_util::sync::CancellationToken;

use super::saved::Saved;
use super::{mcp, own_token};
use crate::config::Environment;

/// How long an answer may take, beside what an operation waits for by itself.
const ANSWER_MARGIN: Duration = Duration::from_secs(20);

/// A hub elsewhere.
#[derive(Clone)]
pub(super) struct Remote {
    pub(super) http: HttpClient,
    pub(super) hub: Destination,
    saved: Saved,
    environment: Environment,
}

impl Remote {
    /// The hub that was named. Its own token must be there already.
    pub(super) fn new(saved: &Saved, environment: Environment) -> Result<Self> {
        let hub =
            Destination::configured(&saved.hub).with_context(|| format!("--hub {}", saved.hub))?;
        // Whoever names a hub in their own network means it.
        let private_hosts = BTreeSet::from([hub.host().to_owned()]);
        let settings = HttpSettings { ca_file: saved.ca.clone(), private_hosts };
        let http = HttpClient::new(&settings).context("cannot make the client of the hub")?;
        own_token(saved, &environment)?;
        Ok(Self { http, hub, saved: saved.clone(), environment })
    }

    /// The token that whoever greets like this calls with.
    pub(super) fn bearer(&self, greeting: &Greeting) -> Result<String, String> {
        if let Some(token) = &greeting.token {
            return Ok(token.clone());
        }
        if !greeting.operator {
            // Whom this machine's user says they are is for the hub to judge, and it is not here.
            return Err(
                "the hub is on another machine, and knows agents by their tokens: start this \
                        one with waystation run, or set WAYSTATION_TOKEN"
                    .to_owned(),
            );
        }
        own_token(&self.saved, &self.environment).map_err(|error| format!("{error:#}"))
    }

    /// Calls an operation once.
    pub(super) async fn ask(
        &self,
        bearer: &str,
        operation: &str,
        body: &[u8],
        marks: &Marks,
    ) -> Result<Relayed, HttpError> {
        let patience = Duration::from_millis(limits::WAIT_MS_MAX) + ANSWER_MARGIN;
        let mut request = ApiRequest::post(&self.hub, &format!("v1/call/{operation}"))?
            .bearer(bearer)
            .bytes("application/json", body.to_vec())
            .timeout(patience);
        for (name, value) in marks.headers() {
            request = request.header(name, value);
        }
        let answer = self.http.call(request).await?;
        Ok(Relayed { status: answer.status, body: answer.body })
    }
}

impl Remote {
    /// What is said of a call that the hub did not answer.
    fn unanswered(&self, error: &HttpError, operation: &str, input: &[u8]) -> Relayed {
        let hub = &self.saved.hub;
        if error.is_unsent() {
            let message = format!("the hub at {hub} cannot be reached");
            return Relayed::error(ErrorCode::Unavailable, &message, "ask again when it is back");
        }
        if hub::catalogue().get(operation).is_some_and(|entry| entry.may_repeat(input)) {
            let message = format!("the hub at {hub} did not answer");
            return Relayed::error(ErrorCode::Unavailable, &message, "send the same request again");
        }
        let message =
            format!("the hub at {hub} did not answer; whether the change was made is not known");
        Relayed::unknown_outcome(&message)
    }
}

impl Upstream for Remote {
    async fn call(
        &self,
        greeting: Greeting,
        operation: String,
        body: Bytes,
        marks: &Marks,
    ) -> Relayed {
        let bearer = match self.bearer(&greeting) {
            Ok(bearer) => bearer,
            Err(reason) => {
                let hint = "agents have a token of their own in WAYSTATION_TOKEN_FILE";
                return Relayed::error(ErrorCode::Unauthorized, &reason, hint);
            }
        };
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        if operation.is_empty() || !operation.bytes().all(is_name) {
            let hint = "waystation call lists the operations";
            return Relayed::error(ErrorCode::UnknownOperation, "no operation is called so", hint);
        }
        let body = if body.is_empty() { b"{}".as_slice() } else { &body };
        match self.ask(&bearer, &operation, body, marks).await {
            Ok(answer) => answer,
            Err(error) => {
                tracing::debug!(%error, operation, "the hub did not answer");
                self.unanswered(&error, &operation, body)
            }
        }
    }

    async fn mcp(
        &self,
        greeting: Greeting,
        read: BufReader<OwnedReadHalf>,
        write: OwnedWriteHalf,
        stop: CancellationToken,
    ) -> std::io::Result<()> {
        mcp::carry(self, &greeting, read, write, stop).await
    }
}
