//! Finishing work.

use std::sync::Arc;

use protocol::Scope;
use schemars::JsonSchema;
use serde::Deserialize;

use super::completion::{self, ActionWish, CompleteWorkOutput, Completion, Reply};
use super::{life, submit};
use crate::audit::Object;
use crate::call::Call;
use crate::error::Result;
use crate::memory;
use crate::operation::{Effect, Operation, Quota, Route};
use crate::relay::{TOOLSET, approvals, hooks};

/// Finish work that you pulled, with what you say in its thread and what you want done at a service. All
/// of it happens together or not at all. Saying the same again gets the same answer; with an old fence
/// this answers CONFLICT: somebody else has the work.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompleteWork {
    /// The work.
    work_id: String,
    /// The fence you were given with it.
    fence: i64,
    /// What you say in the thread, at most 16 replies.
    #[serde(default)]
    replies: Vec<Reply>,
    /// What you want done at a service, at most 16 actions.
    #[serde(default)]
    actions: Vec<ActionWish>,
    /// Whether the work waits for a human from now on, instead of being done; later work of its thread
    /// goes on.
    park: Option<bool>,
}

impl Operation for CompleteWork {
    const NAME: &'static str = "complete_work";
    const ROUTE: Route = Route::post("/v1/work/{work_id}/completion");
    const SCOPE: Scope = Scope::RelayWork;
    const EFFECT: Effect = Effect::Set;
    const QUOTA: Quota = Quota::Posts;
    const IS_BRIEF: bool = true;
    const TOOLSET: &'static str = TOOLSET;
    type Output = CompleteWorkOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.work_id)
    }

    async fn run(mut self, call: &Call) -> Result<CompleteWorkOutput> {
        let id = life::work_id(&self.work_id)?;
        completion::check(&self.replies, &self.actions)?;
        let parks = self.park.unwrap_or(false);
        let digest = completion::digest_of(&self.replies, &self.actions, parks);
        let mut remembers = false;
        for update in self.replies.iter_mut().filter_map(|reply| reply.memory_update.as_mut()) {
            memory::clean(&call.hub, &call.caller().workspace_id, update).await?;
            remembers = true;
        }
        let completion = Completion {
            hub: Arc::clone(&call.hub),
            id,
            fence: self.fence,
            digest,
            replies: self.replies,
            actions: self.actions,
            parks,
            caller: call.shared_caller(),
            means: approvals::means(&call.hub).await?,
            now: call.now(),
        };
        let completed = call.write(move |tx| completion.run(tx)).await?;
        if !completed.output.replies.is_empty() {
            call.hub.live.announce(completed.thread_row);
        }
        if !completed.output.actions.is_empty() {
            submit::announce(&call.hub);
        }
        if remembers {
            hooks::remembered(&call.hub);
        }
        if completed.has_freed {
            hooks::work_arrived(&call.hub.live, &call.caller().workspace_id);
        }
        Ok(completed.output)
    }

    fn brief(output: &CompleteWorkOutput) -> String {
        let (replies, actions) = (output.replies.len(), output.actions.len());
        format!("{} is {}: {replies} replies, {actions} actions", output.work_id, output.state)
    }
}
