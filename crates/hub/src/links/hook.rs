//! A service calls the hub. It is answered when what it said is committed.

use connector_api::{Connector, ConnectorError, HookAnswer, HookReply, HookRequest};
use protocol::Timestamp;
use serde::{Deserialize, Serialize};
use store::{PackedDelivery, RawDelivery};

use super::intake::{Committed, Delivery};
use super::mark::Mark;
use super::registry::{Links, Running};
use crate::error::{Error, Result};

/// Where a service calls a link, below the hub's public address.
pub(super) fn path(connector: &dyn Connector, workspace: &str, name: &str) -> Option<String> {
    connector.capabilities().hooks.then(|| format!("/hooks/{workspace}/{name}"))
}

const UNKNOWN: Error = Error::NotFound { what: "hook" };

impl Links {
    /// Takes a request of a service to a link, named as `name` or `workspace/name`. The answer is for
    /// the service; it comes after the commit.
    pub async fn receive(&self, link: &str, request: HookRequest) -> Result<HookAnswer> {
        let running = self.hooked(link)?;
        if !running.connector.capabilities().hooks {
            return Err(UNKNOWN);
        }
        let taken = self.receive_at(&running, request).await;
        if let Err(error) = &taken {
            self.intake.count_failure(&running.link.service, error.code());
        }
        taken
    }

    async fn receive_at(&self, running: &Running, request: HookRequest) -> Result<HookAnswer> {
        let reply = running.connector.receive(&request, self.intake.now()).map_err(refused)?;
        if let Some(wish) = reply.batch.interaction {
            return self.fulfil(running, wish, reply.answer).await;
        }
        let answer = reply.answer.clone();
        self.take_reply(running, reply, &request, false).await?;
        Ok(answer)
    }

    /// Commits what a request said; `None` where it said nothing that is kept.
    pub(super) async fn take_reply(
        &self,
        running: &Running,
        reply: HookReply,
        request: &HookRequest,
        is_test: bool,
    ) -> Result<Option<Committed>> {
        let batch = reply.batch;
        let mark = batch.cursor.map_or(Mark::None, Mark::Stream);
        let is_empty =
            batch.facts.is_empty() && batch.inbound.is_empty() && batch.arrived.is_empty();
        if is_empty && matches!(mark, Mark::None) {
            return Ok(None);
        }
        let raw = (!batch.inbound.is_empty()).then(|| packed(request, self.intake.now()));
        let (facts, inbound, arrived) = (batch.facts, batch.inbound, batch.arrived);
        let delivery = Delivery { facts, mark, inbound, arrived, raw, is_test, lease_owner: None };
        let committed = self.intake.commit(&running.link, delivery).await?;
        if committed.taken.chats_added > 0 {
            running.bells.new_chat.notify_one();
        }
        Ok(Some(committed))
    }

    /// The link a request is for. A name that two workspaces use names none of them.
    pub(super) fn hooked(&self, link: &str) -> Result<Running> {
        let (workspace, name) = match link.rsplit_once('/') {
            Some((workspace, name)) => (Some(workspace), name),
            None => (None, link),
        };
        let mut found = self.running_named(workspace, name);
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => Ok(only),
            _ => Err(UNKNOWN),
        }
    }
}

/// What is kept of a request, so that it can be read again. A header or parameter that carries a secret
/// is not.
fn packed(request: &HookRequest, now: Timestamp) -> PackedDelivery {
    let plain = |(name, _): &&(String, String)| !is_secret(name);
    let parts = Parts {
        headers: request.headers.iter().filter(plain).collect(),
        method: request.method.clone(),
        query: request.query.iter().filter(plain).collect(),
        received_ms: now.as_ms(),
    };
    let headers = serde_json::to_string(&parts).expect("texts print as JSON");
    PackedDelivery::new(headers, &request.body)
}

/// Whether the name of a header or parameter says that it carries a secret.
fn is_secret(name: &str) -> bool {
    const WORDS: [&[u8]; 7] =
        [b"authorization", b"cookie", b"token", b"secret", b"password", b"api-key", b"apikey"];
    let name = name.as_bytes();
    let is_first = |byte: &u8| matches!(byte, b'a' | b'c' | b't' | b's' | b'p');
    let mut starts = name.iter().enumerate().filter(|(_, byte)| is_first(byte)).map(|(at, _)| at);
    starts.any(|at| {
        let rest = name.get(at..).unwrap_or_default();
        WORDS.iter().any(|word| rest.starts_with(word))
    })
}

/// A request without its body, as it is kept.
#[derive(Serialize, Deserialize)]
struct Parts<Pair> {
    headers: Vec<Pair>,
    method: String,
    query: Vec<Pair>,
    received_ms: i64,
}

/// A request as it came, and when, from what was kept of it.
pub(super) fn from_raw(raw: RawDelivery) -> Option<(HookRequest, Timestamp)> {
    let Parts { method, headers, query, received_ms } = serde_json::from_str(&raw.headers).ok()?;
    let request = HookRequest { method, headers, query, body: raw.body };
    Some((request, Timestamp::from_ms(received_ms)))
}

pub(super) fn refused(error: ConnectorError) -> Error {
    match error {
        ConnectorError::BadSignature => Error::HookRefused,
        ConnectorError::Unsupported { .. } => UNKNOWN,
        other => Error::Invalid { field: String::new(), message: other.to_string(), hint: None },
    }
}
