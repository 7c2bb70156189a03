//! Deciding about a proposal.

use protocol::relay::channel;
use protocol::{Caller, ProposalId, Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::{self, DecidedOutput, Decider, Deciding, MISSING};
use super::key;
use super::life::{Decision, Via};
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;

/// Decide about a proposal, as a human: approve it as it stands, edit and approve, respond (it goes back
/// to its agent with a remark), or reject. Exactly what was approved is sent. Left without a decision, a
/// client that can ask its user asks.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecideProposal {
    /// The proposal.
    proposal_id: String,
    /// The draft you decide about; if another one took its place, nothing is decided.
    #[schemars(range(min = 1))]
    version: Option<i64>,
    /// What you decide.
    decision: Option<DecisionKind>,
    /// With `edit`: the text that is sent instead. With `respond`: the remark for the agent.
    #[schemars(length(max = limits::relay::ACTION_TEXT_BYTES_MAX))]
    text: Option<String>,
    /// What you have to say about it, for the thread.
    #[schemars(length(max = limits::approvals::PROPOSAL_COMMENT_BYTES_MAX))]
    comment: Option<String>,
}

/// What a human decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum DecisionKind {
    /// It is sent as it stands.
    Approve,
    /// `text` is sent instead.
    Edit,
    /// It goes back to its agent with `text` as the remark.
    Respond,
    /// It is never sent.
    Reject,
}

impl Operation for DecideProposal {
    const NAME: &'static str = "decide_proposal";
    const ROUTE: Route = Route::post("/v1/proposals/{proposal_id}/decision");
    const SCOPE: Scope = Scope::RelayDecide;
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = DecidedOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.proposal_id)
    }

    async fn run(self, call: &Call) -> Result<DecidedOutput> {
        let id: ProposalId = self.proposal_id.parse().map_err(|_| MISSING)?;
        let decision = read(self.decision, self.text)?;
        let version = self.version.ok_or_else(|| {
            Error::invalid_hint("version", "is missing", "get_proposal says which draft stands")
        })?;
        if version < 1 {
            return Err(Error::invalid("version", "must be 1 or more"));
        }
        let caller = call.caller();
        if !caller.role.is_human() {
            return Err(Error::InsufficientAuthority(
                "a human decides: this takes an operator's token with the scope relay:decide"
                    .to_owned(),
            ));
        }
        let decider = decider(call, caller);
        let via = decider.via;
        let deciding = Deciding { id, version, decision, comment: self.comment, now: call.now() };
        let means = key::means(&call.hub).await?;
        let work = means.clone();
        let output = call.write(move |tx| decide::decide(tx, &work, &decider, &deciding)).await?;
        decide::announce(&means, &output, via);
        Ok(output)
    }

    fn brief(output: &DecidedOutput) -> String {
        let leaves =
            output.outbox_id.map_or_else(String::new, |id| format!("; {id} is on its way"));
        format!("{} is {} by {}{leaves}", output.proposal_id, output.state, output.decided_by)
    }
}

fn read(kind: Option<DecisionKind>, text: Option<String>) -> Result<Decision> {
    let missing = |what: &str| Err(Error::invalid_hint("text", "is missing", what));
    match (kind, text) {
        (None, _) => Err(Error::invalid_hint(
            "decision",
            "is missing",
            "approve, edit, respond or reject; a client that can ask its user may leave it out",
        )),
        (Some(DecisionKind::Edit), Some(text)) => Ok(Decision::Edit(text)),
        (Some(DecisionKind::Edit), None) => missing("edit needs the text to be sent"),
        (Some(DecisionKind::Respond), Some(text)) => Ok(Decision::Respond(text)),
        (Some(DecisionKind::Respond), None) => missing("respond needs a remark for the agent"),
        (Some(DecisionKind::Approve), None) => Ok(Decision::Approve),
        (Some(DecisionKind::Reject), None) => Ok(Decision::Reject),
        // Whoever gives a text with a plain yes expects it to be sent.
        (Some(DecisionKind::Approve | DecisionKind::Reject), Some(_)) => Err(Error::invalid_hint(
            "text",
            "goes with edit and respond alone",
            "edit sends another text; comment says something about your decision",
        )),
    }
}

fn decider(call: &Call, caller: &Caller) -> Decider {
    let is_terminal = call.hub.approvals.is_at_terminal(caller, call.now());
    Decider {
        name: caller.agent_id.clone(),
        via: if is_terminal { Via::Terminal } else { Via::Token },
        channel: channel::INTERNAL.to_owned(),
        sender: caller.agent_id.clone(),
        known_as: caller.agent_id.clone(),
        session: caller.session_id.clone(),
        workspace: caller.workspace_id.clone(),
    }
}
