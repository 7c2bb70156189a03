//! How a message to a chat stands: it waits for a human, is on its way, has arrived, or nobody knows.

use protocol::chat::uri::MessagesUri;
use protocol::relay::{OutboxState, ProposalState};
use protocol::{MessageId, OutboxId, ProposalId, TaskId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ChatRow, ChatSendRow, LinkRow, OutboxRow, Tx};

use super::view;
use crate::clock::fresh_uid;
use crate::error::Result;
use crate::relay::approvals::{self, Means};
use crate::relay::outbox;

/// How far a message to a chat has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SendStatus {
    /// A human is asked; nothing leaves before.
    WaitingForApproval,
    /// A human sent it back with a remark: `reason`.
    Returned,
    /// A human said no.
    Rejected,
    /// It was taken back.
    Withdrawn,
    /// It is on its way.
    Queued,
    /// It has arrived.
    Sent,
    /// It may have arrived: the answer was lost and the service cannot be asked. A human looks.
    Unknown,
    /// It did not arrive, and is not tried again.
    Failed,
}

/// How a message to a chat stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SendMessageOutput {
    /// How far it has come.
    status: SendStatus,
    /// The source.
    source: String,
    /// The chat's id.
    chat_id: String,
    /// The chat's name.
    chat: String,
    /// What a human is asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal_id: Option<ProposalId>,
    /// What is on its way.
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_id: Option<OutboxId>,
    /// The messages it has become, as `get_messages` knows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    message_ids: Vec<MessageId>,
    /// Why it waits, came back or failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl SendMessageOutput {
    /// In a few words.
    pub(super) fn brief(&self) -> String {
        let to = format!("{} ({}/{})", self.chat, self.source, self.chat_id);
        let proposal = self.proposal_id.map_or_else(String::new, |id| id.to_string());
        let reason = self.reason.as_deref().map_or_else(String::new, |why| format!(": {why}"));
        match self.status {
            SendStatus::WaitingForApproval => {
                format!("{proposal} waits for a human; nothing leaves for {to} before")
            }
            SendStatus::Returned => format!("{proposal} came back{reason}"),
            SendStatus::Rejected => format!("{proposal} was rejected{reason}"),
            SendStatus::Withdrawn => format!("{proposal} was taken back"),
            SendStatus::Queued => format!("it is on its way to {to}{reason}"),
            SendStatus::Sent => format!("it has arrived at {to}"),
            SendStatus::Unknown => format!("nobody knows whether it arrived at {to}{reason}"),
            SendStatus::Failed => format!("it did not arrive at {to}{reason}"),
        }
    }
}

/// How what a caller asked for stands now.
pub(super) fn standing(
    tx: &mut Tx<'_>,
    link: &LinkRow,
    chat: &ChatRow,
    send: &ChatSendRow,
) -> Result<SendMessageOutput> {
    let mut output = SendMessageOutput {
        status: SendStatus::Queued,
        source: link.name.clone(),
        chat_id: view::name(&chat.remote_id),
        chat: view::chat_name(chat),
        proposal_id: send.proposal,
        outbox_id: send.outbox,
        message_ids: Vec::new(),
        reason: None,
    };
    let proposal = send.proposal.map(|id| tx.proposal(id)).transpose()?.flatten();
    let is_forgotten = send.proposal.is_some() && proposal.is_none();
    if let Some(proposal) = proposal {
        output.outbox_id = approvals::left_of(&proposal);
        output.reason.clone_from(&proposal.comment);
        output.status = match proposal.state {
            ProposalState::Waiting | ProposalState::Expired => SendStatus::WaitingForApproval,
            ProposalState::Returned => SendStatus::Returned,
            ProposalState::Rejected => SendStatus::Rejected,
            ProposalState::Withdrawn => SendStatus::Withdrawn,
            ProposalState::Approved | ProposalState::Edited => SendStatus::Queued,
        };
    }
    let row = output.outbox_id.map(|id| tx.outbox(id)).transpose()?.flatten();
    if row.is_none() && (output.outbox_id.is_some() || is_forgotten) {
        output.status = SendStatus::Unknown;
        output.reason = Some("it was over long ago, and how it ended is forgotten".to_owned());
    }
    if let Some(row) = row {
        output.status = status_of(&row);
        output.reason.clone_from(&row.reason);
        for receipt in outbox::receipts(&row) {
            let remote_id = receipt.address.get("message_id").or(receipt.address.get("ts"));
            let Some(remote_id) = remote_id.and_then(serde_json::Value::as_str) else { continue };
            let message = tx.chat_message(chat.thread_row, remote_id)?;
            output.message_ids.extend(message.and_then(|message| message.id().ok()));
        }
    }
    Ok(output)
}

fn status_of(row: &OutboxRow) -> SendStatus {
    match row.state {
        OutboxState::Waiting | OutboxState::Sending => SendStatus::Queued,
        OutboxState::Sent => SendStatus::Sent,
        OutboxState::Dead | OutboxState::Cancelled if row.sending => SendStatus::Unknown,
        OutboxState::Dead => SendStatus::Failed,
        OutboxState::Cancelled => SendStatus::Withdrawn,
    }
}

/// A chat for people who decide: its name, and its address, which nobody chose.
pub(super) fn place(link: &LinkRow, chat: &ChatRow) -> String {
    let uri = MessagesUri::of_chat(&*link.name, &*chat.remote_id).to_string();
    // The name is a stranger's: whatever a service would render is left out.
    let is_plain = |sign: char| sign.is_alphanumeric() || " -.,'+#&!?:/".contains(sign);
    let name: String = chat.name.chars().filter(|sign| is_plain(*sign)).collect();
    match name.trim() {
        "" => uri,
        name => format!("{name} ({uri})"),
    }
}

/// A task of its own.
pub(super) fn new_task(means: &Means, now: Timestamp) -> TaskId {
    TaskId(fresh_uid(&*means.hub.entropy(), now))
}
