//! What came of a call: its answer, or the next way after a failure. One transaction, or nothing.

use std::sync::Arc;

use protocol::limits::{relay as depths, tools as limits};
use protocol::relay::ToolCallState;
use protocol::thread::Transition;
use protocol::{Caller, ThreadStatus, Timestamp, Trust, WorkId};
use serde_json::json;
use store::{NewWork, ThreadRow, ToolCallRow, Tx};

use super::outcome::{Failure, Outcome, Remedy};
use super::run::known;
use super::runner::Runner;
use super::{metrics, speak};
use crate::audit::Commitment;
use crate::call::{Change, Identity};
use crate::clock::fresh_uid;
use crate::error::{Error, Result};
use crate::hub::Hub;
use crate::relay::append::HUB_SENDER;
use crate::relay::settings::Way;
use crate::threads::rules::{self, Move};

/// What it is called in the audit trail.
const ACTION: &str = "tool_call";
/// The queue of what waits for a human.
const HUMAN_QUEUE: &str = "human";

/// What a call came to, as the thread and the metrics are told.
#[derive(Clone, Debug)]
struct Settled {
    state: ToolCallState,
    way: Option<Way>,
}

/// Writes down what came of a call that this runner has.
pub(super) async fn settle(runner: &Runner, call: &ToolCallRow, ran: Result2<Outcome>) {
    let ran = Arc::new(ran);
    let mut written = write(runner, call, Arc::clone(&ran)).await;
    if let Err(Error::Invalid { .. }) = &written {
        // The answer is nothing that a message can hold; that must not keep the call for ever.
        let failure = Failure::stuck("INTERNAL", "the answer of the tool cannot be kept");
        written = write(runner, call, Arc::new(Err(failure))).await;
    }
    match written {
        Ok(Some(settled)) => {
            runner.hub.live.announce(call.thread_row);
            runner.hub.audit_bell.notify_one();
            if matches!(settled.way, Some(Way::Agent(_))) {
                runner.hub.live.announce_work(&call.workspace);
            }
            if let Some(way) = &settled.way {
                metrics::went(&runner.hub.metrics, known(runner, &call.tool), label(way));
            }
            runner.hub.tools.ring();
        }
        // Somebody cancelled it, or another runner has it by now.
        Ok(None) => tracing::debug!(call = %call.id, "the answer of a tool came too late"),
        // Its lease ends, and then it is run again.
        Err(error) => tracing::warn!(%error, call = %call.id, "the answer of a tool was not kept"),
    }
}

type Result2<T> = std::result::Result<T, Failure>;

async fn write(
    runner: &Runner,
    call: &ToolCallRow,
    ran: Arc<Result2<Outcome>>,
) -> Result<Option<Settled>> {
    let hub = Arc::clone(&runner.hub);
    let (call, holder) = (call.clone(), runner.name.clone());
    runner
        .hub
        .store
        .write(move |tx| {
            let now = hub.now();
            let Some((mut thread, mut fresh)) = lock(tx, &call, &holder)? else { return Ok(None) };
            let mut turn = Turn { hub: &hub, thread: &mut thread, call: &mut fresh, now };
            let settled = match &*ran {
                Ok(outcome) => turn.answer(tx, outcome)?,
                Err(failure) => turn.fail(tx, failure)?,
            };
            enter(tx, &hub, &fresh, &settled, now)?;
            Ok(Some(settled))
        })
        .await
}

/// The thread and the call, if this runner still has it. Threads are locked before what lies in them.
fn lock(
    tx: &mut Tx<'_>,
    call: &ToolCallRow,
    holder: &str,
) -> Result<Option<(ThreadRow, ToolCallRow)>> {
    let Some(access) = tx.lock_thread(call.thread_id, HUB_SENDER)? else { return Ok(None) };
    let fresh = tx.lock_tool_call(call.id)?;
    let is_ours = |fresh: &ToolCallRow| {
        fresh.state == ToolCallState::Running
            && fresh.holder.as_deref() == Some(holder)
            && fresh.attempts == call.attempts
    };
    Ok(fresh.filter(is_ours).map(|fresh| (access.thread, fresh)))
}

struct Turn<'a> {
    hub: &'a Hub,
    thread: &'a mut ThreadRow,
    call: &'a mut ToolCallRow,
    now: Timestamp,
}

impl Turn<'_> {
    fn answer(&mut self, tx: &mut Tx<'_>, outcome: &Outcome) -> Result<Settled> {
        let (envelope, trust) = speak::answered(self.call, outcome);
        let said = speak::say(tx, self.thread, self.call, (&envelope, trust), self.now)?;
        let result = envelope.tool_call.and_then(|call| call.result).unwrap_or_default();
        self.end(tx, ToolCallState::Done, said.seq, json!(result).to_string())?;
        Ok(Settled { state: ToolCallState::Done, way: None })
    }

    fn fail(&mut self, tx: &mut Tx<'_>, failure: &Failure) -> Result<Settled> {
        let Some(way) = self.next_way(tx, failure)? else {
            return self.give_up(tx, failure, ToolCallState::Failed, None);
        };
        self.call.hops += 1;
        self.call.way = Some(way.to_string());
        let next = words(&way);
        let envelope = speak::hop(self.call, failure, &way.to_string(), &next);
        let said = speak::say(tx, self.thread, self.call, (&envelope, Trust::Hub), self.now)?;
        match &way {
            Way::Retry => {
                self.wait(tx, limits::TOOL_RETRY_MS)?;
                Ok(Settled { state: ToolCallState::Waiting, way: Some(way) })
            }
            Way::Tool(name) => {
                self.call.tool.clone_from(name);
                self.wait(tx, 0)?;
                Ok(Settled { state: ToolCallState::Waiting, way: Some(way) })
            }
            Way::Agent(name) => {
                tx.insert_work(&self.new_work(name, said.seq))?;
                self.give_up(tx, failure, ToolCallState::Failed, Some(way))
            }
            Way::Human => {
                self.park_work(tx, said.seq, failure)?;
                self.escalate(tx)?;
                self.give_up(tx, failure, ToolCallState::Human, Some(way))
            }
        }
    }

    /// The next way that may help. Each of the list is looked at once.
    fn next_way(&mut self, tx: &mut Tx<'_>, failure: &Failure) -> Result<Option<Way>> {
        let is_worn_out = self.call.attempts >= limits::TOOL_ATTEMPTS_MAX;
        if failure.remedy == Remedy::AskBetter || self.call.hops >= depths::TOOL_HOPS_MAX {
            return Ok(None);
        }
        let ways = self.hub.settings.relay.tools.rule(&self.call.name).fallback.clone();
        let from = usize::try_from(self.call.next_way).unwrap_or(usize::MAX);
        for way in ways.into_iter().skip(from) {
            self.call.next_way += 1;
            let helps = match &way {
                Way::Retry => failure.remedy == Remedy::TryAgain && !is_worn_out,
                Way::Tool(name) => *name != self.call.tool && !is_worn_out,
                // The same agent is not asked twice about one task: it would come round for ever.
                Way::Agent(_) => {
                    !tx.has_task_gone(self.call.thread_row, self.call.task, &way.to_string())?
                }
                Way::Human => true,
            };
            if helps {
                return Ok(Some(way));
            }
        }
        Ok(None)
    }

    fn wait(&mut self, tx: &mut Tx<'_>, ms: i64) -> Result<()> {
        self.call.state = ToolCallState::Waiting;
        self.call.due = self.now.plus_ms(ms);
        (self.call.holder, self.call.lease) = (None, None);
        Ok(tx.update_tool_call(self.call)?)
    }

    fn give_up(
        &mut self,
        tx: &mut Tx<'_>,
        failure: &Failure,
        state: ToolCallState,
        way: Option<Way>,
    ) -> Result<Settled> {
        let envelope = speak::failed(self.call, failure);
        let said = speak::say(tx, self.thread, self.call, (&envelope, Trust::Hub), self.now)?;
        self.end(tx, state, said.seq, json!(failure.to_result()).to_string())?;
        Ok(Settled { state, way })
    }

    fn end(
        &mut self,
        tx: &mut Tx<'_>,
        state: ToolCallState,
        answer_seq: i64,
        result: String,
    ) -> Result<()> {
        self.call.state = state;
        self.call.answer_seq = Some(answer_seq);
        self.call.result = Some(result);
        self.call.ended = Some(self.now);
        self.call.lease = None;
        Ok(tx.update_tool_call(self.call)?)
    }

    /// Work for another agent, which the thread shows the failure.
    fn new_work<'a>(&'a self, queue: &'a str, seq: i64) -> NewWork<'a> {
        NewWork {
            workspace: &self.call.workspace,
            queue,
            thread_row: self.call.thread_row,
            seq,
            task: self.call.task,
            id: WorkId(fresh_uid(&*self.hub.entropy(), self.now)),
            at: self.now,
        }
    }

    /// Work that nobody takes from a queue: it waits for a human and keeps nobody else waiting.
    fn park_work(&mut self, tx: &mut Tx<'_>, seq: i64, failure: &Failure) -> Result<()> {
        let reason = format!("{} failed ({}); a human has to help", self.call.name, failure.code);
        Ok(tx.insert_parked_work(&self.new_work(HUMAN_QUEUE, seq), &reason)?)
    }

    /// The thread is blocked until somebody has helped; one that is over stays so.
    fn escalate(&mut self, tx: &mut Tx<'_>) -> Result<()> {
        if self.thread.status != ThreadStatus::Active {
            return Ok(());
        }
        let entropy = self.hub.entropy();
        let us = Identity::of_service(&self.call.workspace, HUB_SENDER, self.now, &*entropy);
        let by: &Caller = &us.caller;
        let reason = format!("{} failed, and a human has to help", self.call.name);
        let step = Move { to: ThreadStatus::Blocked, reason: &reason, by, at: self.now };
        rules::apply_move(tx, self.thread, step, Transition::Ordinary)?;
        Ok(tx.update_thread(self.thread)?)
    }
}

fn words(way: &Way) -> String {
    match way {
        Way::Retry => "trying again".to_owned(),
        Way::Tool(name) => format!("trying {name} instead"),
        Way::Agent(name) => format!("asking {name}"),
        Way::Human => "a human has to help".to_owned(),
    }
}

fn label(way: &Way) -> &'static str {
    match way {
        Way::Retry => "retry",
        Way::Tool(_) => "tool",
        Way::Agent(_) => "agent",
        Way::Human => "human",
    }
}

/// Enters what came of a call in the audit trail.
fn enter(
    tx: &mut Tx<'_>,
    hub: &Hub,
    call: &ToolCallRow,
    settled: &Settled,
    now: Timestamp,
) -> Result<()> {
    let entropy = hub.entropy();
    let identity = Identity::of_service(&call.workspace, HUB_SENDER, now, &*entropy);
    let request = Commitment::request(&identity.salt, call.args.as_bytes());
    let way = settled.way.as_ref().map(Way::to_string);
    let detail = json!({
        "tool": call.tool, "state": settled.state, "attempts": call.attempts, "hops": call.hops,
        "way": way,
    });
    let change = Change::of(call.id.to_string(), call.id).with_detail(detail.to_string());
    change.enter(tx, &identity, ACTION, &request).map(drop)
}
