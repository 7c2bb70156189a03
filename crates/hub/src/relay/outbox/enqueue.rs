//! The one way into the outbox. What stands there leaves; nothing else does.

use connector_api::{Buttons, ChatPlace};
use protocol::relay::{Action, ProposalState};
use protocol::{OutboxId, TaskId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{Decision, NewOutboxRow, Tx};

use crate::error::{Error, Result};

/// An action to be sent.
#[derive(Clone, Copy, Debug)]
pub struct NewOutbox<'a> {
    /// Its id, fresh.
    pub id: OutboxId,
    /// Its workspace.
    pub workspace: &'a str,
    /// The link it goes through.
    pub link_row: i64,
    /// The place there whose order is kept: [`destination`].
    pub destination: &'a str,
    /// What is done.
    pub action: &'a Action,
    /// The thread it belongs to.
    pub thread_row: Option<i64>,
    /// The task it belongs to.
    pub task: Option<TaskId>,
    /// Who wanted it.
    pub agent: &'a str,
    /// The proposal that allowed it. A question about a proposal has none: nobody allowed that.
    pub proposal: Option<i64>,
    /// The buttons beneath a question.
    pub buttons: Option<&'a Buttons>,
    /// What it takes the place of.
    pub replaces: Option<&'a Replaces>,
    /// When.
    pub at: Timestamp,
}

/// What a posting takes the place of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Replaces {
    /// What stands at this address, in the connector's own words.
    Address(Map<String, Value>),
    /// What another posting put there, wherever that will have been.
    Posting(OutboxId),
}

/// The place whose order is kept: one conversation at a service. What goes elsewhere is not kept waiting
/// by a place that does not answer.
pub fn destination(action: &Action) -> String {
    // Whatever a message in a chat answers, it comes after those before it.
    if let Some(place) = ChatPlace::read(&action.address) {
        return format!("{} chat {}", action.link, place.chat_id);
    }
    // The map is sorted by its keys, so equal addresses print alike.
    format!("{} {}", action.link, Value::Object(action.address.clone()))
}

/// Queues an action. It is sent after the commit; whoever commits says so with
/// [`Live::announce_outbox`](crate::live::Live::announce_outbox).
pub fn enqueue(tx: &mut Tx<'_>, new: &NewOutbox<'_>) -> Result<OutboxId> {
    let hash = new.action.hash();
    if let Some(proposal) = new.proposal {
        let decision = tx.decision(proposal)?;
        if !is_allowed(decision.as_ref(), &hash.0) {
            return Err(Error::Conflict(
                "this action is not the one that was approved; propose it, and have it decided"
                    .to_owned(),
            ));
        }
    }
    let action = serde_json::to_string(new.action).map_err(internal)?;
    let replaces = new.replaces.map(serde_json::to_string).transpose().map_err(internal)?;
    tx.insert_outbox(&NewOutboxRow {
        id: new.id,
        workspace: new.workspace,
        link_row: new.link_row,
        destination: new.destination,
        action: &action,
        action_hash: hash,
        buttons: new.buttons.map(|buttons| buttons.token.as_str()),
        replaces: replaces.as_deref(),
        thread_row: new.thread_row,
        task: new.task,
        agent: new.agent,
        proposal: new.proposal,
        at: new.at,
    })?;
    Ok(new.id)
}

/// Whether a decision allows exactly the action of this digest.
pub(super) fn is_allowed(decision: Option<&Decision>, hash: &[u8]) -> bool {
    decision.is_some_and(|decision| {
        let state = ProposalState::from_code(decision.state);
        matches!(state, Some(ProposalState::Approved | ProposalState::Edited))
            && decision.action_hash == hash
    })
}

fn internal(error: serde_json::Error) -> Error {
    Error::Internal(Box::new(error))
}
