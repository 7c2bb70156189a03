//! Taking agents out of a thread.

use protocol::{Scope, limits, validate};
use schemars::JsonSchema;
use serde::Deserialize;

use super::participants::{self, ParticipantsOutput};
use super::rules;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::wakes::life;

/// Remove agents from a thread. You may leave yourself; removing others takes its creator, an operator
/// or an orchestrator. Their messages stay; the creator may still enter.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveParticipants {
    /// The thread.
    thread_id: String,
    /// The agents to remove, by agent id.
    #[schemars(length(min = 1), inner(length(min = 1, max = limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN)))]
    participants: Vec<String>,
}

impl Operation for RemoveParticipants {
    const NAME: &'static str = "remove_participants";
    const ROUTE: Route = Route::delete("/v1/threads/{thread_id}/participants");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Destroy;
    const IS_BRIEF: bool = true;
    type Output = ParticipantsOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<ParticipantsOutput> {
        let id = rules::thread_id(&self.thread_id)?;
        let gone = rules::agent_names("participants", self.participants, validate::name)?;
        if gone.is_empty() {
            return Err(Error::invalid("participants", "must name at least one agent"));
        }
        let (caller, now, rung) = (call.shared_caller(), call.now(), gone.clone());
        let output = call
            .write(move |tx| {
                let mut thread = rules::lock(tx, id, &caller, "change")?;
                let leaves_alone = gone.iter().all(|agent| *agent == caller.agent_id);
                let may = caller.role.has_authority() || thread.created_by == caller.agent_id;
                if !leaves_alone && !may {
                    return Err(Error::InsufficientAuthority(
                        "only the thread's creator, an operator or an orchestrator may remove others"
                            .to_owned(),
                    ));
                }
                let before = tx.participants(thread.row)?;
                let there: Vec<&String> = gone.iter().filter(|a| before.contains(a)).collect();
                if there.is_empty() {
                    return Ok(participants::unchanged(&thread, before));
                }
                for agent in &there {
                    tx.remove_participant(thread.row, agent)?;
                }
                let names: Vec<&str> = there.into_iter().map(String::as_str).collect();
                let why = "the agent was removed from the thread";
                life::cancel_about(tx, thread.row, Some(&names), why, now)?;
                participants::changed(tx, &mut thread, ("removed", &caller.agent_id), &names, now)
            })
            .await?;
        call.hub.live.announce(output.thread_row);
        for agent in rung {
            call.hub.wakes.ring(&call.caller().workspace_id, &agent);
        }
        Ok(output)
    }

    fn brief(output: &ParticipantsOutput) -> String {
        output.brief()
    }
}
