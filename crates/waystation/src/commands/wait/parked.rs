//! A waiter at the hub: it asks for a wake and waits, for as long as its session lives.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::json;

use super::session::Session;
use crate::commands::hook::note;
use crate::commands::hook::report;
use crate::failure::Refused;
use crate::reach;

/// How long the hub holds one question.
const POLL_MS: u64 = 55_000;
/// How long an answer may take: the question's own time, and some more.
const POLL_PATIENCE: Duration = Duration::from_secs(65);
/// The first wait after the hub did not answer; each is twice the one before.
const RETRY_FIRST: Duration = Duration::from_millis(250);
/// The longest wait.
const RETRY_MAX: Duration = Duration::from_secs(30);
/// What the hub answers.
#[derive(Debug, Deserialize)]
struct Answer {
    wake: Option<HandedOut>,
    #[serde(default)]
    superseded: bool,
}

/// A wake that was handed out to us.
#[derive(Debug, Deserialize)]
struct HandedOut {
    wake_id: String,
    attempt: Option<i64>,
    notice: Notice,
}

/// The words of a wake, bare or with those for a keyboard.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Notice {
    Text(String),
    Both { native: String },
}

/// Waits until the hub has a notice; nothing when another waiter took our place.
pub(super) async fn notice(session: &Session) -> Result<Option<String>> {
    // A hub is started once. When it goes away later, somebody wanted that.
    drop(reach::connect(&session.reporter.place, &session.reporter.greeting()?).await?);
    session.beat(session.first()).await;
    let mut retry = RETRY_FIRST;
    loop {
        match report::within(POLL_PATIENCE, ask(session)).await {
            Ok(Answer { superseded: true, .. }) => return Ok(None),
            Ok(Answer { wake: Some(wake), .. }) => return Ok(take(session, wake)),
            Ok(Answer { wake: None, .. }) => retry = RETRY_FIRST,
            Err(error) => {
                if error.downcast_ref::<Refused>().is_some() || retry == RETRY_MAX {
                    note(&session.reporter.place, "wait", &error);
                }
                tokio::time::sleep(retry).await;
                retry = (retry * 2).min(RETRY_MAX);
            }
        }
    }
}

async fn ask(session: &Session) -> Result<Answer> {
    // Anew each time: the token may be a fresh one by now.
    let mut client = session.reporter.connect().await?;
    let vendor_session = &session.event.session_id;
    let input = json!({ "vendor_session_id": vendor_session, "timeout_ms": POLL_MS });
    let answer = report::call(&mut client, "wait_for_wake", &input).await?;
    serde_json::from_value(answer).context("the hub answers otherwise now")
}

/// Takes a wake that the hub believes to be with the session now. Where the session went away in that
/// moment, the hub hears of no turn and hands the wake out again.
fn take(session: &Session, wake: HandedOut) -> Option<String> {
    if !session.is_there() {
        return None;
    }
    if let Err(error) = watch_the_turn(session, &wake) {
        note(&session.reporter.place, "wait", &error);
    }
    let (Notice::Text(text) | Notice::Both { native: text }) = wake.notice;
    Some(text)
}

/// Leaves somebody behind who reports the turn: we must end, so that it can begin.
fn watch_the_turn(session: &Session, wake: &HandedOut) -> Result<()> {
    let Some(transcript) = &session.event.transcript_path else { return Ok(()) };
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(program);
    command.args(["hook", "claude-turn", "--wake", &wake.wake_id]);
    command.args(["--session", &session.event.session_id, "--transcript"]).arg(transcript);
    command.arg("--data").arg(&session.reporter.place.folder);
    if let Some(config) = &session.reporter.place.config_file {
        command.arg("--config").arg(config);
    }
    if let Some(agent) = &session.reporter.agent {
        command.args(["--as", agent]);
    }
    if let Some(attempt) = wake.attempt {
        command.args(["--attempt", &attempt.to_string()]);
    }
    // Claude Code waits for whoever holds the ends of its pipes, so this one holds none.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().context("cannot watch for the turn")?;
    Ok(())
}
