//! Opening a thread.

use protocol::{Scope, ThreadId, ThreadStatus, ThreadType, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::NewThread;

use super::rules;
use crate::call::{Call, Change};
use crate::error::{Checked, Result};
use crate::operation::{Effect, Operation, Route};

/// Open a new thread for agents to talk in. You may read and post in it; name the others in `participants`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateThread {
    /// What the thread is about, in one line.
    #[schemars(length(min = 1, max = limits::TITLE_CHARS_MAX))]
    title: String,
    /// What sort of thread it is, `conversation` unless you say otherwise.
    #[serde(default, rename = "type")]
    thread_type: ThreadType,
    /// The agents that take part, by agent id; at most 100.
    #[serde(default)]
    #[schemars(inner(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN)))]
    participants: Vec<String>,
    /// Optional: must match your token.
    workspace_id: Option<String>,
    /// Optional: must match your token.
    created_by: Option<String>,
}

/// The new thread.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CreateThreadOutput {
    /// The thread.
    thread_id: ThreadId,
    /// Where it stands: `active`.
    status: ThreadStatus,
    /// When it was opened.
    created_at: Timestamp,
}

impl Operation for CreateThread {
    const NAME: &'static str = "create_thread";
    const ROUTE: Route = Route::post("/v1/threads");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Write;
    const IS_BRIEF: bool = true;
    type Output = CreateThreadOutput;

    async fn run(self, call: &Call) -> Result<CreateThreadOutput> {
        rules::workspace(self.workspace_id.as_deref(), call.caller())?;
        rules::claim("created_by", self.created_by.as_deref(), &call.caller().agent_id)?;
        validate::line(&self.title, limits::TITLE_CHARS_MAX).field("title")?;
        let participants =
            rules::agent_names("participants", self.participants, validate::agent_id)?;
        let (id, now) = (call.new_thread_id(), call.now());
        let (caller, title, thread_type) = (call.shared_caller(), self.title, self.thread_type);
        let invited = participants.clone();
        let output = call
            .write(move |tx| {
                tx.insert_thread(&NewThread {
                    id,
                    workspace: &caller.workspace_id,
                    title: &title,
                    thread_type,
                    created_by: &caller.agent_id,
                    participants: &participants,
                    at: now,
                })?;
                let output = CreateThreadOutput {
                    thread_id: id,
                    status: ThreadStatus::Active,
                    created_at: now,
                };
                Ok(Change::of(id.to_string(), output))
            })
            .await?;
        for agent in &invited {
            call.hub.live.announce_member(&call.caller().workspace_id, agent);
        }
        Ok(output)
    }

    fn brief(output: &CreateThreadOutput) -> String {
        format!("opened {} ({})", output.thread_id, output.status)
    }
}
