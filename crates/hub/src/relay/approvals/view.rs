//! How a proposal is shown to callers.

use protocol::relay::{Action, Citation, ProposalState, ProposalStep};
use protocol::{OutboxId, ProposalId, TaskId, ThreadId, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ProposalRow, ProposalStepRow};

use super::ask::AskedAt;
use crate::error::{Error, Result};

/// One proposal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct ProposalView {
    /// The proposal.
    pub(super) proposal_id: ProposalId,
    /// The thread it belongs to.
    thread_id: ThreadId,
    /// The task it belongs to.
    task_id: TaskId,
    /// The agent that wants it.
    agent_id: String,
    /// How far it has come. `expired` decides nothing: it can still be decided.
    state: ProposalState,
    /// Which draft this is; a decision names it.
    version: i64,
    /// The link it goes through.
    link: String,
    /// Where it goes.
    place: String,
    /// The draft as it stands, or what was approved.
    text: String,
    /// The documents that it cites, as its readers find them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    citations: Vec<Citation>,
    /// The digest of exactly that, in hexadecimal digits.
    action_hash: String,
    /// Why the agent wants it.
    why: String,
    /// When it was made.
    created_at: Timestamp,
    /// When it expires, or did.
    expires_at: Timestamp,
    /// How often somebody was reminded.
    reminders: i64,
    /// Who decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<String>,
    /// By which way: `chat`, `terminal` or `token`.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_via: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_at: Option<Timestamp>,
    /// What they said.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
    /// What left in the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    outbox_id: Option<OutboxId>,
}

impl ProposalView {
    /// A stored proposal as callers see it.
    pub(super) fn of(row: ProposalRow) -> Result<Self> {
        let outbox_id = AskedAt::of(&row).outbox;
        let action: Action =
            serde_json::from_str(&row.action).map_err(|error| Error::Internal(Box::new(error)))?;
        Ok(Self {
            proposal_id: row.id,
            thread_id: row.thread_id,
            task_id: row.task,
            agent_id: row.agent,
            state: row.state,
            version: row.version,
            action_hash: action.hash().to_hex(),
            link: action.link,
            place: action.place,
            text: action.text,
            citations: action.citations,
            why: row.why,
            created_at: row.created,
            expires_at: row.expires,
            reminders: row.reminders,
            decided_by: row.decided_by,
            decided_via: row.decided_via,
            decided_at: row.decided,
            comment: row.comment,
            outbox_id,
        })
    }

    /// The proposal in a few words.
    pub(super) fn brief(&self) -> String {
        let by = self.decided_by.as_ref().map_or_else(String::new, |by| format!(" by {by}"));
        let first: String = self.text.lines().next().unwrap_or_default().chars().take(80).collect();
        format!(
            "{} {}{by}: {} → {} (draft {}): {first}",
            self.proposal_id, self.state, self.agent_id, self.place, self.version
        )
    }
}

/// Something that happened to a proposal.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct StepView {
    /// The draft it happened to.
    version: i64,
    /// What happened.
    kind: ProposalStep,
    /// Who did it.
    actor: String,
    /// When.
    at: Timestamp,
    /// The text, where one was written then.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

impl StepView {
    /// A stored step as callers see it.
    pub(super) fn of(step: ProposalStepRow) -> Self {
        let action: Option<Action> =
            step.action.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            version: step.version,
            kind: step.kind,
            actor: step.actor,
            at: step.at,
            text: action.map(|action| action.text),
            comment: step.comment,
        }
    }

    /// The step in a few words.
    pub(super) fn brief(&self) -> String {
        let comment = self.comment.as_ref().map_or_else(String::new, |text| format!(": {text}"));
        format!("{} draft {} {} by {}{comment}", self.at, self.version, self.kind, self.actor)
    }
}
