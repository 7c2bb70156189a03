//! The table on a screen of its own, kept up to date until interrupted.

use std::io::{IsTerminal, Write};
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use edge::local::{Client, ClientError};
use serde_json::{Value, json};
use tokio::signal::unix::{SignalKind, signal};

use super::list;
use crate::paint::Paint;
use crate::paths::Place;
use crate::{failure, output, owner, reach, surroundings};

/// How long the hub is asked to wait for a change.
const WAIT_MS: u64 = 25_000;
/// How soon a hub that went away is looked for.
const RETRY_EVERY: Duration = Duration::from_millis(200);

const ENTER: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE: &str = "\x1b[?25h\x1b[?1049l";

/// Draws until interrupted; the screen before comes back whatever happens.
pub(super) async fn run(place: &Place) -> Result<()> {
    if !std::io::stdout().is_terminal() {
        bail!("--watch draws on a terminal; use --watch --json for a script");
    }
    let _screen = Screen::enter()?;
    let mut shown = String::new();
    let drawing = follow(place, |answer| {
        let (width, height) = surroundings::size();
        let text = frame(answer, width, height.unwrap_or(24));
        // Only what changed is drawn: nothing flickers, and nothing scrolls.
        if text != shown {
            write(&text)?;
            shown = text;
        }
        Ok(())
    });
    tokio::select! {
        ended = drawing => ended,
        () = owner::asked_to_stop() => Ok(()),
    }
}

/// One line of JSON whenever something changed.
pub(super) async fn run_json(place: &Place) -> Result<()> {
    let mut before = Value::Null;
    let printing = follow(place, |answer| {
        let version = answer.get("version").cloned().unwrap_or_default();
        if before != version {
            output::json_line(answer)?;
            before = version;
        }
        Ok(())
    });
    tokio::select! {
        ended = printing => ended,
        () = owner::asked_to_stop() => Ok(()),
        () = output::nobody_reads() => Ok(()),
    }
}

/// Shows what there is, and then every change as it happens. A hub that goes away is waited for.
async fn follow(place: &Place, mut show: impl FnMut(&Value) -> Result<()>) -> Result<()> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut client = reach::connect(place, &greeting).await?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut last: Option<Value> = None;
    loop {
        let answered = {
            let mut looking = pin!(look(&mut client, last.as_ref()));
            loop {
                tokio::select! {
                    answered = &mut looking => break answered,
                    _ = resized.recv() => last.as_ref().map_or(Ok(()), &mut show)?,
                }
            }
        };
        match answered {
            Ok(answer) => {
                show(&answer)?;
                last = Some(answer);
            }
            Err(ClientError::Edge(_)) => {
                tokio::time::sleep(RETRY_EVERY).await;
                client = reach::connect(place, &greeting).await?;
            }
            Err(error) => return Err(failure::of_client(error)),
        }
    }
}

/// What there is as soon as it is not what is known.
async fn look(client: &mut Client, known: Option<&Value>) -> Result<Value, ClientError> {
    let version = known.and_then(|known| known.get("version"));
    let input = match version {
        Some(version) => {
            json!({ "limit": list::AGENTS_MAX, "unless": version, "wait_ms": WAIT_MS })
        }
        None => json!({ "limit": list::AGENTS_MAX }),
    };
    Ok(client.call("list_agents", &input).await?.answer)
}

/// A whole screen: every line is cleared to its end, and what is left below it too.
fn frame(answer: &Value, width: usize, height: usize) -> String {
    let mut lines = list::lines(answer, width, Paint::of_stdout());
    let room = height.saturating_sub(2).max(1);
    if lines.len() > room {
        let hidden = lines.len() - room + 1;
        lines.truncate(room - 1);
        lines.push(format!("… and {hidden} more"));
    }
    lines.push(String::new());
    lines.push("Ctrl-C ends".to_owned());
    format!("\x1b[H{}\x1b[K\x1b[J", lines.join("\x1b[K\n"))
}

struct Screen;

impl Screen {
    fn enter() -> Result<Self> {
        write(ENTER)?;
        Ok(Self)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        write(LEAVE).ok();
    }
}

fn write(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("the terminal is gone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_fits_the_screen() {
        let agents: Vec<Value> =
            (0..50).map(|n| json!({ "agent_id": format!("agent{n}"), "status": "idle" })).collect();
        let text = frame(&json!({ "agents": agents }), 80, 10);
        assert_eq!(text.matches('\n').count(), 9);
        assert!(text.contains("… and 44 more"), "{text}");
    }
}
