//! Listing proposals.

use protocol::relay::ProposalState;
use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ProposalFilter;

use super::view::ProposalView;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;
use crate::relay::TOOLSET;
use crate::threads::rules;

/// List what agents want to do at services in the threads you may see, the newest first, and what humans
/// decided about it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListProposals {
    /// Only proposals of this thread.
    thread_id: Option<String>,
    /// Only proposals of this agent.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    agent_id: Option<String>,
    /// Only proposals that have come so far.
    state: Option<ProposalState>,
    /// Only proposals about which a human may still decide; expired ones are among them.
    open_only: Option<bool>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of proposals.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListProposalsOutput {
    /// The proposals.
    proposals: Vec<ProposalView>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for ListProposals {
    const NAME: &'static str = "list_proposals";
    const ROUTE: Route = Route::get("/v1/proposals");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = ListProposalsOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.thread_id.as_deref())
    }

    async fn run(self, call: &Call) -> Result<ListProposalsOutput> {
        let caller = call.shared_caller();
        let agent = self.agent_id.unwrap_or_default();
        if !agent.is_empty() {
            validate::name(&agent).field("agent_id")?;
        }
        let limit = page::size(self.limit)?;
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let before = page::begin(self.cursor.as_deref())?;
        let is_member_only = thread.is_none() && !caller.role.has_authority();
        let filter = ProposalFilter {
            workspace: caller.workspace_id.clone(),
            member: if is_member_only { caller.agent_id.clone() } else { String::new() },
            agent,
            thread_row: None,
            state: self.state,
            open_only: self.open_only.unwrap_or(false),
            before,
            limit: limit + 1,
        };
        call.read(move |tx| {
            let mut filter = filter.clone();
            if let Some(thread) = thread {
                filter.thread_row = Some(rules::enter(tx, thread, &caller, "read")?.row);
            }
            let mut rows = tx.proposals(&filter)?;
            let next_cursor = page::cut(&mut rows, limit, |row| row.row);
            let proposals = rows.into_iter().map(ProposalView::of).collect::<Result<_>>()?;
            Ok(ListProposalsOutput { proposals, next_cursor })
        })
        .await
    }

    fn brief(output: &ListProposalsOutput) -> String {
        if output.proposals.is_empty() {
            return "no proposals".to_owned();
        }
        output.proposals.iter().map(ProposalView::brief).collect::<Vec<_>>().join("\n")
    }
}
