//! Running one call: with its asker's rights, for so long and no longer, until somebody stops it.

use std::sync::Arc;
use std::time::Instant;

use protocol::limits::tools as limits;
use protocol::{Caller, Scope, validate};
use serde_json::{Map, Value};
use store::ToolCallRow;
use tokio_util::sync::CancellationToken;

use super::outcome::{Failure, Outcome, Words};
use super::runner::Runner;
use super::table::{self, Order};
use super::{caller, metrics, settle};
use crate::catalogue::Input;
use crate::error::Error;
use crate::operation::Effect;

/// The field by which operations know a request again.
const IDEMPOTENCY_KEY: &str = "idempotency_key";

/// Runs a call that this runner has taken, and writes down what came of it.
pub(crate) async fn carry_out(runner: Arc<Runner>, call: ToolCallRow) {
    let tools = &runner.hub.tools;
    let running = tools.runs(call.id);
    let limit = runner.hub.settings.relay.tools.rule(&call.tool).timeout;
    // A call that ends its runner each time must not do so for ever.
    let is_worn_out = call.attempts > limits::TOOL_ATTEMPTS_MAX;
    #[expect(clippy::disallowed_methods, reason = "measures how long the tool takes")]
    let began = Instant::now();
    let ran = tokio::select! {
        biased;
        () = std::future::ready(()), if is_worn_out => Err(worn_out()),
        ran = tokio::time::timeout(limit, run(&runner, &call, running.stop.child_token())) => {
            ran.unwrap_or_else(|_| Err(Failure::timed_out(limit.as_secs_f64())))
        }
        // Whoever stopped it has written the answer.
        () = running.stop.cancelled() => {
            let tool = known(&runner, &call.tool);
            metrics::ran(&runner.hub.metrics, tool, "CANCELLED", began.elapsed());
            return;
        }
    };
    let outcome = ran.as_ref().map_or_else(|failure| failure.code, |_| "ok");
    metrics::ran(&runner.hub.metrics, known(&runner, &call.tool), outcome, began.elapsed());
    tracing::debug!(call = %call.id, tool = known(&runner, &call.tool), outcome, "a tool ran");
    settle::settle(&runner, &call, ran).await;
}

fn worn_out() -> Failure {
    Failure::stuck("INTERNAL", "the call was begun too often without an end")
}

/// The name of a tool for counting; names that do not exist are one.
pub(super) fn known<'a>(runner: &Runner, tool: &'a str) -> &'a str {
    let exists = table::built_in(tool).is_some() || runner.catalogue().get(tool).is_some();
    if exists { tool } else { "unknown" }
}

async fn run(
    runner: &Runner,
    call: &ToolCallRow,
    stop: CancellationToken,
) -> Result<Outcome, Failure> {
    let caller = caller::from_text(&call.caller)
        .ok_or_else(|| Failure::stuck("INTERNAL", "the call does not say who asked for it"))?;
    if runner.hub.revocations.has(&caller) {
        let why = "the token that this call was asked for with was revoked; ask with another one";
        return Err(Failure::refused("UNAUTHORIZED", why));
    }
    let args: Map<String, Value> = serde_json::from_str(&call.args)
        .map_err(|_| Failure::stuck("INTERNAL", "the arguments of the call are damaged"))?;
    // It was asked for in time; that the token has ended since takes nothing back.
    let exp = caller.exp.max(runner.hub.now());
    let caller = Arc::new(Caller { exp, ..caller });
    match table::built_in(&call.tool) {
        Some(tool) => {
            if !caller.scopes.has(Scope::RelayWork) {
                return Err(Error::MissingScope { scope: Scope::RelayWork }.into());
            }
            (tool.run)(Order { hub: Arc::clone(&runner.hub), caller, args }).await
        }
        None => operation(runner, call, caller, args, stop).await,
    }
}

/// Runs an operation through the one door, so that its own rules hold.
async fn operation(
    runner: &Runner,
    call: &ToolCallRow,
    caller: Arc<Caller>,
    mut args: Map<String, Value>,
    stop: CancellationToken,
) -> Result<Outcome, Failure> {
    let catalogue = runner.catalogue();
    let Some(entry) = catalogue.get(&call.tool) else {
        let names = catalogue.entries().iter().map(|entry| entry.name);
        let names = names.chain(table::BUILT_IN.iter().map(|tool| tool.name));
        let hint = match validate::nearest(&call.tool, names) {
            Some(near) => format!("did you mean {near}?"),
            None => "GET /v1/openapi.json shows every operation".to_owned(),
        };
        return Err(Failure::refused("UNKNOWN_TOOL", format!("there is no such tool; {hint}")));
    };
    if entry.waits() {
        let why = "this operation waits for others; call it yourself instead of as a tool";
        return Err(Failure::refused("FORBIDDEN", why));
    }
    if entry.scope == Scope::RelayDecide {
        let why = "a human decides, and no tool does it instead; ask one with propose_action";
        return Err(Failure::refused("FORBIDDEN", why));
    }
    let fields = entry.fields();
    let takes = |name: &str| fields.is_some_and(|fields| fields.contains_key(name));
    // Another tool than the one that was asked for takes what it knows of the arguments.
    if call.tool != call.name {
        args.retain(|name, _| takes(name));
    }
    // A runner may die after the operation and before the answer; the second run does nothing then.
    if takes(IDEMPOTENCY_KEY) {
        args.entry(IDEMPOTENCY_KEY).or_insert_with(|| format!("tool:{}", call.id).into());
    }
    let words = if entry.effect == Effect::Read { Words::Foreign } else { Words::Ours };
    let asked = runner.hub.call(caller, None, stop);
    let answer = catalogue.call(asked, entry.name, Input::Map(args)).await?;
    let result = match answer.value() {
        Value::Object(result) => result,
        other => Map::from_iter([("value".to_owned(), other)]),
    };
    Ok(Outcome { result, brief: answer.brief(), words })
}
