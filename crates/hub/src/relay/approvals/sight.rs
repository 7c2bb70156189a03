//! Who sees a proposal: whoever sees its thread. A chat is no thread to its readers; a proposal to send
//! something there is seen by the agent that wants it, and by those with authority.

use protocol::Caller;
use store::{ProposalRow, Tx};

use super::decide::MISSING;
use crate::error::{Error, Result};
use crate::threads::rules;

/// Refuses whoever may not do this with a proposal.
pub(super) fn enter(
    tx: &mut Tx<'_>,
    row: &ProposalRow,
    caller: &Caller,
    act: &'static str,
) -> Result<()> {
    match rules::enter(tx, row.thread_id, caller, act) {
        Err(Error::NotFound { .. }) if tx.chat(row.thread_row)?.is_some() => {
            let is_theirs = row.agent == caller.agent_id || caller.role.has_authority();
            if is_theirs { Ok(()) } else { Err(MISSING) }
        }
        entered => entered.map(drop),
    }
}
