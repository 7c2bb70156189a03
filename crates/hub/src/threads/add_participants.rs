//! Inviting agents into a thread.

use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::participants::{self, ParticipantsOutput};
use super::rules;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};

/// Add agents to a thread you take part in. They may read all of it and post.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AddParticipants {
    /// The thread.
    thread_id: String,
    /// The agents to add, by agent id; a thread has at most 100.
    #[schemars(length(min = 1), inner(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN)))]
    participants: Vec<String>,
}

impl Operation for AddParticipants {
    const NAME: &'static str = "add_participants";
    const ROUTE: Route = Route::post("/v1/threads/{thread_id}/participants");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Set;
    const IS_BRIEF: bool = true;
    type Output = ParticipantsOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<ParticipantsOutput> {
        let id = rules::thread_id(&self.thread_id)?;
        let added = rules::agent_names("participants", self.participants, validate::agent_id)?;
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
                    return Ok(participants::unchanged(&thread, before));
                }
                for agent in &new {
                    tx.add_participant(thread.row, agent, now)?;
                }
                let names: Vec<&str> = new.into_iter().map(String::as_str).collect();
                participants::changed(tx, &mut thread, ("added", &caller.agent_id), &names, now)
            })
            .await?;
        call.hub.live.announce(output.thread_row);
        for agent in &invited {
            call.hub.live.announce_member(&call.caller().workspace_id, agent);
        }
        Ok(output)
    }

    fn brief(output: &ParticipantsOutput) -> String {
        output.brief()
    }
}
