//! Inviting agents into a thread.

use protocol::{Scope, ThreadId, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules;
use crate::call::{Call, Change};
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Add agents to a thread you take part in. They may read all of it and post.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddParticipants {
    /// The thread.
    thread_id: String,
    /// The agents to add, by agent id.
    participants: Vec<String>,
}

/// Who takes part now.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ParticipantsOutput {
    /// The thread.
    pub(crate) thread_id: ThreadId,
    /// Everyone who takes part.
    pub(crate) participants: Vec<String>,
    #[serde(skip)]
    pub(crate) thread_row: i64,
}

impl Operation for AddParticipants {
    const NAME: &'static str = "add_participants";
    const ROUTE: Route = Route::post("/v1/threads/{thread_id}/participants");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Write;
    type Output = ParticipantsOutput;

    async fn run(self, call: &Call) -> Result<ParticipantsOutput> {
        let id = rules::thread_id(&self.thread_id)?;
        let added = rules::agent_names("participants", self.participants)?;
        if added.is_empty() {
            return Err(Error::invalid("participants", "must name at least one agent"));
        }
        let (caller, now, invited) = (call.shared_caller(), call.now(), added.clone());
        let output = call
            .write(move |tx| {
                let mut thread = rules::lock(tx, id, &caller, "change")?;
                let before = tx.participants(thread.row)?;
                let new: Vec<&String> = added.iter().filter(|a| !before.contains(a)).collect();
                if before.len() + new.len() > limits::PARTICIPANTS_MAX {
                    return Err(Error::invalid(
                        "participants",
                        format_args!("would exceed {} in one thread", limits::PARTICIPANTS_MAX),
                    ));
                }
                if new.is_empty() {
                    let thread_row = thread.row;
                    return Ok(Change::none(ParticipantsOutput { thread_id: id, participants: before, thread_row }));
                }
                for agent in &new {
                    tx.add_participant(thread.row, agent, now)?;
                }
                let names = new.iter().map(|name| name.as_str()).collect::<Vec<_>>();
                let body = format!("{} added {}", caller.agent_id, names.join(", "));
                let metadata = serde_json::json!({
                    "event_type": "participants_added", "participants": names, "by": caller.agent_id,
                });
                rules::say(tx, &mut thread, now, &body, &metadata.to_string())?;
                tx.update_thread(&thread)?;
                let participants = tx.participants(thread.row)?;
                let output =
                    ParticipantsOutput { thread_id: id, participants, thread_row: thread.row };
                Ok(Change::of(id.to_string(), output).with_detail(metadata.to_string()))
            })
            .await?;
        call.hub.live.announce(output.thread_row);
        for agent in &invited {
            call.hub.live.announce_member(&call.caller().workspace_id, agent);
        }
        Ok(output)
    }

    fn brief(output: &ParticipantsOutput) -> String {
        format!("{} has {}", output.thread_id, output.participants.join(", "))
    }
}
