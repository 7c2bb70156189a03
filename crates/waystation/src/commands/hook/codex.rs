//! Codex' hooks, which speak as Claude Code's do, and its `notify`, which speaks its own way.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use serde::Deserialize;
use supervisor::lanes::codex::{ThreadId, is_session};

use super::event::{Doing, Event};
use super::program::Program;
use super::report::{self, Reporter};
use crate::cli::HookArgs;
use crate::paths::Place;

/// What Codex says after a turn.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Notification {
    r#type: String,
    thread_id: String,
    cwd: Option<String>,
}

/// Reports one event.
pub(super) async fn run(place: &Place, args: &HookArgs) -> Result<()> {
    let event = Event::read(std::io::stdin().lock())?;
    super::claude::tell(place, args, &event, &Program::codex()).await
}

/// Reports that a turn has ended, and calls whoever was called before us.
pub(super) async fn notify(place: &Place, args: &HookArgs, words: &[String]) -> Result<()> {
    let (said, before_us) = words.split_last().context("Codex said nothing")?;
    let before_us = before_us.strip_prefix(&["--then".to_owned()]).unwrap_or(before_us);
    let chained = chain(before_us, said);
    let told = tell(place, args, said).await;
    chained.and(told)
}

/// Calls the program that was there before, and leaves it to itself.
fn chain(words: &[String], said: &str) -> Result<()> {
    let Some((program, args)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    command.args(args).arg(said).stdin(Stdio::null()).process_group(0);
    command.spawn().with_context(|| format!("{program} does not start"))?;
    Ok(())
}

async fn tell(place: &Place, args: &HookArgs, said: &str) -> Result<()> {
    let said: Notification = serde_json::from_str(said).context("Codex says it otherwise now")?;
    if said.r#type != "agent-turn-complete" {
        return Ok(());
    }
    // Codex says it of its own threads too, while the session is still at work.
    let thread =
        ThreadId::parse(&said.thread_id).context("Codex names its threads otherwise now")?;
    if !is_session(&crate::host::codex_home(), &thread) {
        return Ok(());
    }
    let event = Event { session_id: said.thread_id, cwd: said.cwd, ..Event::default() };
    let reporter = Reporter::new(place, args.agent.as_deref(), Some(&event.session_id))?;
    report::within(super::HOOK_BUDGET, async {
        let mut client = reporter.connect().await?;
        let heartbeat = reporter.heartbeat(&Program::codex(), &event, Doing::IDLE);
        report::call(&mut client, "heartbeat_session", &heartbeat).await.map(drop)
    })
    .await
}
