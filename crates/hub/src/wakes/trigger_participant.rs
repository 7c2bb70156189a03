//! Waking an agent on somebody's request.

use std::time::Duration;

use protocol::limits::wake as limits;
use protocol::{
    Caller, Role, Scope, ThreadId, ThreadStatus, Timestamp, WakeId, WakeState,
    limits as all_limits, validate,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{ThreadRow, Tx, WakeRow};

use super::notice::clean_words;
use super::pause::Pause;
use super::policy::{Due, Held};
use super::reach::{self, Action, May, Reach};
use super::request::{Asked, NewWake, Requested, request};
use super::settings::WakeSettings;
use super::standing::Standing;
use crate::audit::Object;
use crate::call::{Call, Change};
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Quota, Route};
use crate::threads::rules;

/// Wake a participant that has unread messages in a thread, where posting alone does not. A busy agent
/// or a typing human defers it; it goes on by itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerParticipant {
    /// The thread.
    thread_id: String,
    /// The agent to wake.
    #[schemars(length(min = 1, max = all_limits::NAME_CHARS_MAX), regex(pattern = validate::NAME_PATTERN))]
    target_agent_id: String,
    /// Why, in a word.
    #[schemars(length(min = 1, max = limits::WAKE_REASON_CHARS_MAX))]
    reason: String,
    /// Your words to it, shown as yours.
    #[schemars(length(min = 1, max = limits::TRIGGER_PROMPT_CHARS_MAX))]
    trigger_prompt: Option<String>,
    /// While a human types there; `defer` by default.
    on_human_input: Option<OnHumanInput>,
    /// Operators only: do not wait for a quiet moment. Needs an `intent`; all of it is audited.
    #[schemars(extend("x-unlisted" = true))]
    #[serde(default, deserialize_with = "protocol::object::optional")]
    force: Option<Force>,
    /// How long to wait for the agent's host, in milliseconds, 2000 unless you say otherwise.
    #[schemars(range(max = limits::TRIGGER_WAIT_MS_MAX))]
    #[schemars(extend("x-unlisted" = true))]
    wait_ms: Option<u64>,
}

/// What to do while a human types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OnHumanInput {
    /// Wait until they pause.
    Defer,
    /// Refuse.
    Fail,
}

/// What an operator overrides, and why.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Force {
    /// Why this cannot wait.
    intent: Option<String>,
    /// Further facts for the audit trail.
    #[serde(flatten)]
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// How far the wake came.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TriggerParticipantOutput {
    /// The agent.
    target_agent_id: String,
    /// The wake; none where there was nothing unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    wake_id: Option<WakeId>,
    /// What is done: `trigger_runtime`, `resume_session`, `new_session` or `none`.
    action: Action,
    /// How far it came.
    result: WakeState,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    defer_reason: Option<String>,
    /// When it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    deferred_until: Option<Timestamp>,
    /// What is done if that does not work.
    #[serde(skip_serializing_if = "Option::is_none")]
    fallback_action: Option<Action>,
    /// The command that would resume it, for people to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime_command: Option<String>,
    /// The lane it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    lane: Option<String>,
    /// When it was asked for.
    triggered_at: Timestamp,
    /// The rest of what is known, for the wait.
    #[serde(skip)]
    steps: Vec<Action>,
}

impl Operation for TriggerParticipant {
    const NAME: &'static str = "trigger_participant";
    const ROUTE: Route = Route::post("/v1/threads/{thread_id}/wakes");
    const SCOPE: Scope = Scope::ThreadsWrite;
    const EFFECT: Effect = Effect::Set;
    const QUOTA: Quota = Quota::Waits;
    type Output = TriggerParticipantOutput;

    fn object(&self) -> Object<'_> {
        Object::named(&self.thread_id)
    }

    async fn run(self, call: &Call) -> Result<TriggerParticipantOutput> {
        let wait = self.check(call.caller())?;
        let thread = rules::thread_id(&self.thread_id)?;
        let order = Order {
            thread,
            target: self.target_agent_id,
            reason: self.reason,
            prompt: self
                .trigger_prompt
                .as_deref()
                .map(clean_words)
                .filter(|words| !words.is_empty()),
            force: self.force.map(|force| serde_json::json!(force).to_string()),
            fail_on_human: self.on_human_input == Some(OnHumanInput::Fail),
            triggered: call.now(),
            fresh_since: call.now().plus_ms(-call.hub.settings.session_fresh_ms),
            settings: call.hub.settings.wake.clone(),
        };
        order.place(call, wait).await
    }

    fn brief(output: &TriggerParticipantOutput) -> String {
        let agent = &output.target_agent_id;
        if output.action == Action::None {
            return format!("{agent} has nothing unread");
        }
        let why = output.defer_reason.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        format!("wake of {agent}: {}{why}", output.result)
    }
}

impl TriggerParticipant {
    fn check(&self, caller: &Caller) -> Result<Duration> {
        validate::name(&self.target_agent_id).field("target_agent_id")?;
        let chars = |max: u32| usize::try_from(max).unwrap_or(usize::MAX);
        validate::line(&self.reason, chars(limits::WAKE_REASON_CHARS_MAX)).field("reason")?;
        if let Some(prompt) = &self.trigger_prompt {
            let count = prompt.chars().count();
            if count == 0 || count > chars(limits::TRIGGER_PROMPT_CHARS_MAX) {
                let max = limits::TRIGGER_PROMPT_CHARS_MAX;
                let reason = format_args!("must have 1 to {max} characters");
                return Err(Error::invalid("trigger_prompt", reason));
            }
        }
        if let Some(force) = &self.force {
            if caller.role != Role::Operator {
                return Err(Error::InsufficientAuthority(
                    "only an operator may force a wake".to_owned(),
                ));
            }
            let intent = force.intent.as_deref().unwrap_or_default();
            validate::line(intent, all_limits::REASON_CHARS_MAX).field("force.intent")?;
            let text = serde_json::json!(force).to_string();
            if text.len() > all_limits::METADATA_BYTES_MAX || text.contains("\\u0000") {
                return Err(Error::invalid("force", "holds too much, or the character U+0000"));
            }
        }
        let wait_ms = self.wait_ms.unwrap_or(limits::TRIGGER_WAIT_MS_DEFAULT);
        if wait_ms > limits::TRIGGER_WAIT_MS_MAX {
            let reason = format_args!("must be at most {}", limits::TRIGGER_WAIT_MS_MAX);
            return Err(Error::invalid("wait_ms", reason));
        }
        Ok(Duration::from_millis(wait_ms))
    }
}

/// What was asked for, checked.
#[derive(Clone)]
struct Order {
    thread: ThreadId,
    target: String,
    reason: String,
    prompt: Option<String>,
    force: Option<String>,
    fail_on_human: bool,
    triggered: Timestamp,
    fresh_since: Timestamp,
    settings: WakeSettings,
}

impl Order {
    async fn place(self, call: &Call, wait: Duration) -> Result<TriggerParticipantOutput> {
        let workspace = call.caller().workspace_id.clone();
        // Listening comes before asking: what a host says meanwhile is heard.
        let bell = call.hub.wakes.bell_of(&workspace, &self.target);
        self.may_trigger(call).await?;
        let (caller, uid) = (call.shared_caller(), call.new_uid());
        let order = self.clone();
        let mut output = call.write(move |tx| order.ask(tx, &caller, uid)).await?;
        let Some(id) = output.wake_id else { return Ok(output) };
        call.hub.wakes.ring(&workspace, &self.target);
        let mut pause = Pause::new(&call.hub, wait);
        loop {
            let wake = call.read(move |tx| Ok(tx.wake(id)?)).await?;
            let Some(wake) = wake else { return Ok(output) };
            self.show(&mut output, &wake);
            let is_answered = wake.state != WakeState::Requested || wake.due > call.hub.now();
            if is_answered || !pause.until(&bell, None).await {
                return self.answer(output, &wake);
            }
        }
    }

    /// Whether the caller may wake that agent in that thread, and not too often. Only who may is told
    /// that it was too often.
    async fn may_trigger(&self, call: &Call) -> Result<()> {
        let (caller, order) = (call.shared_caller(), self.clone());
        call.read(move |tx| order.enter(tx, &caller).map(drop)).await?;
        if self.force.is_none() {
            let (workspace, now) = (&call.caller().workspace_id, call.now());
            let per_minute = self.settings.triggers_per_minute;
            call.hub.wakes.take_trigger(workspace, &self.target, per_minute, now)?;
        }
        Ok(())
    }

    fn enter(&self, tx: &mut Tx<'_>, caller: &Caller) -> Result<ThreadRow> {
        let thread = rules::enter(tx, self.thread, caller, "wake agents in")?;
        if !tx.participants(thread.row)?.contains(&self.target) {
            return Err(Error::NotFound { what: "participant" });
        }
        if thread.status == ThreadStatus::Closed {
            return Err(Error::ThreadClosed);
        }
        Ok(thread)
    }

    /// Asks for the wake, if there is something to read and a way to the agent.
    fn ask(
        &self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        uid: protocol::id::Uid,
    ) -> Result<Change<TriggerParticipantOutput>> {
        let thread = self.enter(tx, caller)?;
        let read = tx.cursor(thread.row, &self.target)?.map_or(0, |cursor| cursor.last_read_seq);
        let mut output = TriggerParticipantOutput {
            target_agent_id: self.target.clone(),
            wake_id: None,
            action: Action::None,
            result: WakeState::Read,
            defer_reason: None,
            deferred_until: None,
            fallback_action: None,
            runtime_command: None,
            lane: None,
            triggered_at: self.triggered,
            steps: Vec::new(),
        };
        // Behind the last message of somebody else stand only its own.
        let through_seq = tx.newest_of_others(thread.row, read, &self.target)?;
        if through_seq == 0 {
            return Ok(Change::none(output));
        }
        let who = (thread.workspace.as_str(), self.target.as_str());
        let standing = Standing::find(tx, &self.settings.policy(), who, Some(thread.row))?;
        let reach = Reach::of(tx, who.0, who.1)?;
        let steps = reach.steps(May::of(&standing.policy, true), self.triggered, self.fresh_since);
        let Some(first) = steps.first() else { return Err(reach.no_way(&self.target)) };
        self.refuse_over_human(&reach)?;
        let due = match self.force {
            Some(_) => Due { at: self.triggered, held: None },
            None => standing.due(tx, who, self.triggered)?,
        };
        let asked = Asked {
            by: &caller.agent_id,
            role: caller.role,
            prompt: self.prompt.as_deref(),
            force: self.force.as_deref(),
            fail_on_human: self.fail_on_human,
        };
        let requested = request(
            tx,
            &NewWake {
                workspace: who.0,
                thread_row: thread.row,
                thread_id: thread.id,
                agent: who.1,
                through_seq,
                reason: &self.reason,
                asked: Some(asked),
                now: self.triggered,
                due: due.at,
                held: due.held.map(Held::name),
                uid,
            },
        )?;
        output.wake_id = Some(requested.id());
        output.action = *first;
        output.result = WakeState::Requested;
        output.runtime_command = reach.runtime_command(thread.id);
        output.steps = steps;
        if let Requested::AlreadyTold(_) = requested {
            return Ok(Change::none(output));
        }
        let detail = serde_json::json!({
            "target_agent_id": self.target, "thread_id": thread.id, "reason": self.reason,
            "force": self.force.as_deref().map(serde_json::from_str::<serde_json::Value>).and_then(std::result::Result::ok),
        });
        Ok(Change::of(requested.id().to_string(), output).with_detail(detail.to_string()))
    }

    /// A caller that does not want to wait hears at once that a human types.
    fn refuse_over_human(&self, reach: &Reach) -> Result<()> {
        let is_busy = reach
            .target()
            .is_some_and(|session| reach::is_human_busy(session, &self.settings, self.triggered));
        if self.fail_on_human && self.force.is_none() && is_busy {
            return Err(self.collision());
        }
        Ok(())
    }

    fn collision(&self) -> Error {
        let retry_after_ms = u64::try_from(self.settings.quiet_ms).unwrap_or(0);
        Error::HumanInputCollision { agent: self.target.clone(), retry_after_ms }
    }

    /// What is known of the wake by now.
    fn show(&self, output: &mut TriggerParticipantOutput, wake: &WakeRow) {
        let waits = wake.state < WakeState::HandedToHost && wake.due > self.triggered;
        output.result = if waits { WakeState::Deferred } else { wake.state };
        output.defer_reason = wake.why.clone().filter(|_| waits);
        output.deferred_until = waits.then_some(wake.due);
        output.lane.clone_from(&wake.lane);
        output.action = reach::action_of(wake).unwrap_or(output.action);
        let later = output.steps.iter().skip_while(|step| **step != output.action);
        output.fallback_action = later.copied().nth(1);
    }

    fn answer(
        &self,
        output: TriggerParticipantOutput,
        wake: &WakeRow,
    ) -> Result<TriggerParticipantOutput> {
        if self.fail_on_human && reach::failed_by_human(wake) {
            return Err(self.collision());
        }
        if wake.state == WakeState::Failed {
            let reason = wake.why.clone().unwrap_or_default();
            return Err(Error::WakeFailed { reason });
        }
        Ok(output)
    }
}
