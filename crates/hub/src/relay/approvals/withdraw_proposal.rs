//! Taking a proposal back.

use protocol::relay::ProposalState;
use protocol::{ProposalId, Scope, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask;
use super::decide::MISSING;
use super::key;
use super::life::Proposal;
use super::seam;
use super::sight;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;

/// Take back a proposal of yours about which nobody has decided; an operator or orchestrator may take
/// back any.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithdrawProposal {
    /// The proposal.
    proposal_id: String,
    /// Why.
    #[schemars(length(max = limits::TITLE_CHARS_MAX))]
    reason: Option<String>,
}

/// The proposal is taken back.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WithdrawProposalOutput {
    /// The proposal.
    proposal_id: ProposalId,
    /// `withdrawn`.
    state: ProposalState,
}

impl Operation for WithdrawProposal {
    const NAME: &'static str = "withdraw_proposal";
    const ROUTE: Route = Route::delete("/v1/proposals/{proposal_id}");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = WithdrawProposalOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.proposal_id)
    }

    async fn run(self, call: &Call) -> Result<WithdrawProposalOutput> {
        let id: ProposalId = self.proposal_id.parse().map_err(|_| MISSING)?;
        if let Some(reason) = self.reason.as_deref().filter(|reason| !reason.is_empty()) {
            validate::line(reason, limits::TITLE_CHARS_MAX).field("reason")?;
        }
        let means = key::means(&call.hub).await?;
        let (caller, now, reason) = (call.shared_caller(), call.now(), self.reason);
        let output = call
            .write(move |tx| {
                let row = tx.lock_proposal(id)?;
                let row = row.filter(|row| row.workspace == caller.workspace_id).ok_or(MISSING)?;
                sight::enter(tx, &row, &caller, "change")?;
                if row.agent != caller.agent_id && !caller.role.has_authority() {
                    return Err(Error::InsufficientAuthority(
                        "only the agent that made a proposal, an operator or an orchestrator may \
                         take it back"
                            .to_owned(),
                    ));
                }
                let output =
                    WithdrawProposalOutput { proposal_id: id, state: ProposalState::Withdrawn };
                if row.state == ProposalState::Withdrawn {
                    return Ok(Change::none(output));
                }
                let mut proposal = Proposal::of(row)?;
                let step = proposal.withdraw(&caller.agent_id, reason.as_deref(), now)?;
                tx.insert_proposal_step(proposal.row().row, &step)?;
                ask::lock(tx, &means, &mut proposal, now)?;
                proposal.row_mut().remind = None;
                tx.update_proposal(proposal.row())?;
                seam::unpark(tx, proposal.row(), now)?;
                Ok(Change::of(id.to_string(), output))
            })
            .await?;
        call.hub.approvals.ring();
        call.hub.live.announce_outbox();
        Ok(output)
    }

    fn brief(output: &WithdrawProposalOutput) -> String {
        format!("{} is withdrawn", output.proposal_id)
    }
}
