//! Looking at one proposal.

use protocol::{ProposalId, Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::MISSING;
use super::sight;
use super::view::{ProposalView, StepView};
use crate::audit::Object;
use crate::call::Call;
use crate::error::Result;
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;

/// Look at one proposal: what would be sent where, why, every draft and what humans said about it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetProposal {
    /// The proposal.
    proposal_id: String,
}

/// One proposal, and what happened to it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GetProposalOutput {
    /// The proposal.
    #[serde(flatten)]
    proposal: ProposalView,
    /// What happened to it, the oldest first.
    steps: Vec<StepView>,
}

impl Operation for GetProposal {
    const NAME: &'static str = "get_proposal";
    const ROUTE: Route = Route::get("/v1/proposals/{proposal_id}");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = GetProposalOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.proposal_id)
    }

    async fn run(self, call: &Call) -> Result<GetProposalOutput> {
        let id: ProposalId = self.proposal_id.parse().map_err(|_| MISSING)?;
        let caller = call.shared_caller();
        call.read(move |tx| {
            let row = tx.proposal(id)?.filter(|row| row.workspace == caller.workspace_id);
            let row = row.ok_or(MISSING)?;
            sight::enter(tx, &row, &caller, "read")?;
            let steps = tx.proposal_steps(row.row, limits::approvals::PROPOSAL_STEPS_MAX)?;
            let steps = steps.into_iter().map(StepView::of).collect();
            Ok(GetProposalOutput { proposal: ProposalView::of(row)?, steps })
        })
        .await
    }

    fn brief(output: &GetProposalOutput) -> String {
        let steps = output.steps.iter().map(StepView::brief);
        std::iter::once(output.proposal.brief()).chain(steps).collect::<Vec<_>>().join("\n")
    }
}
