//! A service calls the hub. It is answered when what it said is committed.

use connector_api::{Connector, ConnectorError, HookAnswer, HookRequest};

use super::intake::Delivery;
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
        let Running { link, connector, bells } = self.hooked(link)?;
        if !connector.capabilities().hooks {
            return Err(UNKNOWN);
        }
        let reply = connector.receive(&request, self.intake.now()).map_err(refused)?;
        let mark = reply.batch.cursor.map_or(Mark::None, Mark::Stream);
        if reply.batch.facts.is_empty() && matches!(mark, Mark::None) {
            return Ok(reply.answer);
        }
        let delivery = Delivery { facts: reply.batch.facts, mark, lease_owner: None };
        let taken = self.intake.commit(&link, delivery).await?;
        if taken.chats_added > 0 {
            bells.new_chat.notify_one();
        }
        Ok(reply.answer)
    }

    /// The link a request is for. A name that two workspaces use names none of them.
    fn hooked(&self, link: &str) -> Result<Running> {
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

fn refused(error: ConnectorError) -> Error {
    match error {
        ConnectorError::BadSignature => Error::HookRefused,
        ConnectorError::Unsupported { .. } => UNKNOWN,
        other => Error::Invalid { field: String::new(), message: other.to_string(), hint: None },
    }
}
