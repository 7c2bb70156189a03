//! The sub-commands, each an operation and a way to print it.

use anyhow::Result;
use serde_json::{Value, json};

use super::{list, policy, rows, watch};
use crate::cli::{AgentsArgs, AgentsCommand, Global, WakeArgs};
use crate::commands::{call, compact};
use crate::paint::Paint;
use crate::paths::Place;
use crate::{output, surroundings};

/// `waystation agents`.
pub(crate) async fn run(place: &Place, global: &Global, args: AgentsArgs) -> Result<()> {
    match args.command {
        None if args.watch && !global.json => watch::run(place).await,
        None if args.watch => watch::run_json(place).await,
        None => list::run(place, global).await,
        Some(AgentsCommand::Wakes { open, agent, thread, limit }) => {
            let input = compact(json!({
                "open_only": open, "agent_id": agent, "thread_id": thread, "limit": limit,
            }));
            wakes(place, global, &input).await
        }
        Some(AgentsCommand::Wake(args)) => wake(place, global, &args).await,
        Some(AgentsCommand::Cancel { wake }) => {
            let input = json!({ "wake_id": wake });
            call::print(place, global, "cancel_wake", &input).await
        }
        Some(AgentsCommand::Policy(args)) => policy::run(place, global, &args).await,
    }
}

async fn wakes(place: &Place, global: &Global, input: &Value) -> Result<()> {
    let called = call::ask(place, "list_wakes", input).await?.answer;
    if global.json || rows::list(&called, "wakes").is_empty() {
        return output::answer(global.json, &called, "no wakes");
    }
    let (width, _) = surroundings::size();
    let table = rows::wakes_table(&called);
    output::line(&table.lines(width, Paint::of_stdout()).join("\n"))
}

async fn wake(place: &Place, global: &Global, args: &WakeArgs) -> Result<()> {
    let input = compact(json!({
        "thread_id": args.thread, "target_agent_id": args.agent, "reason": args.reason,
        "trigger_prompt": args.prompt,
        "on_human_input": args.or_fail.then_some("fail"),
        "force": args.force.as_ref().map(|intent| json!({ "intent": intent })),
    }));
    call::print(place, global, "trigger_participant", &input).await
}
