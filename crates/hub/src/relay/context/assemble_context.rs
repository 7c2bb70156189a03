//! What an agent is given for a turn, on its own.

use protocol::relay::Envelope;
use protocol::{Scope, ThreadId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Budget;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::relay::{TOOLSET, envelope};
use crate::threads::rules;

/// What you are given for a turn: a message of a thread with its context (system, session, task, the
/// task's tools and documents) and in `meta.budget` what it comes to. `pull_work` gives the same.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AssembleContext {
    /// The thread.
    thread_id: String,
    /// The number of the live message; the newest unless you say otherwise.
    seq: Option<i64>,
}

/// A message with its context.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AssembleContextOutput {
    /// The thread.
    thread_id: ThreadId,
    /// The number of the live message.
    seq: i64,
    /// The live message with its layers.
    envelope: Envelope,
    /// What all of it comes to, and what was left out.
    budget: Budget,
}

impl Operation for AssembleContext {
    const NAME: &'static str = "assemble_context";
    const ROUTE: Route = Route::get("/v1/threads/{thread_id}/context");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Read;
    const TOOLSET: &'static str = TOOLSET;
    type Output = AssembleContextOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<AssembleContextOutput> {
        let (id, caller) = (rules::thread_id(&self.thread_id)?, call.shared_caller());
        let asked = self.seq;
        let (thread, live) = call
            .read(move |tx| {
                let thread = rules::enter(tx, id, &caller, "read")?;
                let live = tx.message(thread.row, asked.unwrap_or(thread.head_seq))?;
                let live = live.ok_or(Error::NotFound { what: "message" })?;
                Ok((thread, live))
            })
            .await?;
        let assembled = super::of(&call.hub, &thread, live.seq, call.now()).await?;
        Ok(AssembleContextOutput {
            thread_id: thread.id,
            seq: live.seq,
            envelope: assembled.around(envelope::from_message(&live, &thread.id)),
            budget: assembled.budget,
        })
    }

    fn brief(output: &AssembleContextOutput) -> String {
        let (tokens, limit) = (output.budget.estimate, output.budget.limit);
        format!("message {} with its context: about {tokens} of {limit} tokens", output.seq)
    }
}
