//! Writing another draft of a proposal.

use protocol::relay::{ProposalState, visible};
use protocol::{ProposalId, Scope, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask;
use super::decide::MISSING;
use super::key;
use super::life::Proposal;
use super::{sight, submit};
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::TOOLSET;
use crate::relay::cite::{self, Leans};

/// Write another draft of a proposal of yours, such as after a human sent it back with a remark. It takes
/// the place of the draft before, and a human is asked anew.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviseProposal {
    /// The proposal.
    proposal_id: String,
    /// The new text.
    #[schemars(length(min = 1, max = limits::relay::ACTION_TEXT_BYTES_MAX))]
    text: String,
    /// Why, for the human who decides; what you said before unless you say it anew.
    #[schemars(length(max = limits::approvals::PROPOSAL_WHY_BYTES_MAX))]
    why: Option<String>,
    /// The documents that the text leans on; it cites each. Those of the draft before unless you say
    /// otherwise.
    #[schemars(length(max = limits::relay::RETRIEVAL_REFS_MAX))]
    retrieval_refs: Option<Vec<String>>,
}

/// The proposal waits again.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReviseProposalOutput {
    /// The proposal.
    proposal_id: ProposalId,
    /// `waiting`.
    state: ProposalState,
    /// Which draft this is.
    version: i64,
}

impl Operation for ReviseProposal {
    const NAME: &'static str = "revise_proposal";
    const ROUTE: Route = Route::post("/v1/proposals/{proposal_id}/revision");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ReviseProposalOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.proposal_id)
    }

    async fn run(self, call: &Call) -> Result<ReviseProposalOutput> {
        let id: ProposalId = self.proposal_id.parse().map_err(|_| MISSING)?;
        if let Some(why) = &self.why {
            submit::check_why(why)?;
        }
        cite::check_refs("retrieval_refs", self.retrieval_refs.as_deref().unwrap_or(&[]))?;
        let means = key::means(&call.hub).await?;
        let (caller, now) = (call.shared_caller(), call.now());
        let (text, why) = (visible(&self.text).into_owned(), self.why);
        let refs = self.retrieval_refs;
        let output = call
            .write(move |tx| {
                let row = tx.lock_proposal(id)?;
                let row = row.filter(|row| row.workspace == caller.workspace_id).ok_or(MISSING)?;
                sight::enter(tx, &row, &caller, "change")?;
                if row.agent != caller.agent_id && !caller.role.has_authority() {
                    return Err(Error::InsufficientAuthority(
                        "only the agent that made a proposal, an operator or an orchestrator may \
                         revise it"
                            .to_owned(),
                    ));
                }
                let mut proposal = Proposal::of(row)?;
                let is_same = proposal.action().text == text;
                if is_same && proposal.row().state == ProposalState::Waiting {
                    return Ok(Change::none(answer(&proposal)));
                }
                let cited = proposal.action().citations.iter().map(|known| known.id.clone());
                let refs = refs.clone().unwrap_or_else(|| cited.collect());
                let leans = Leans::Named(&refs);
                cite::check("text", &text, leans)?;
                let citations = cite::citations(tx, &caller.workspace_id, &text, leans)?;
                let step = proposal.revise(&text, citations, why.as_deref(), now)?;
                let asking = ask::asking_of(tx, &means, &proposal)?;
                proposal.row_mut().expires = submit::expiry(asking, now);
                tx.insert_proposal_step(proposal.row().row, &step)?;
                tx.update_proposal(proposal.row())?;
                let answer = answer(&proposal);
                let detail = serde_json::json!({ "version": answer.version });
                Ok(Change::of(id.to_string(), answer).with_detail(detail.to_string()))
            })
            .await?;
        call.hub.approvals.ring();
        Ok(output)
    }

    fn brief(output: &ReviseProposalOutput) -> String {
        format!("{} waits for a human with draft {}", output.proposal_id, output.version)
    }
}

fn answer(proposal: &Proposal) -> ReviseProposalOutput {
    let row = proposal.row();
    ReviseProposalOutput { proposal_id: row.id, state: row.state, version: row.version }
}
