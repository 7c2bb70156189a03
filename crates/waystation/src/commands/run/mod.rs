//! Agents in terminals: started, left, come back to, started anew.
//!
//! The terminal belongs to a keeper, a process of its own: it lives on when the person's terminal is
//! closed, and when the hub is not there.
mod handoff;
mod keeper;
mod program;
mod report;
mod running;
mod start;

use std::io::IsTerminal;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
pub(crate) use keeper::keeper;
use serde_json::json;
use supervisor::keeper::{Control, Ended};

use self::running::Running;
use crate::cli::{AttachArgs, Global, RunArgs};
use crate::output;
use crate::paths::Place;

/// `waystation run`.
pub(crate) async fn run(place: &Place, global: &Global, args: RunArgs) -> Result<ExitCode> {
    protocol::validate::name(&args.name).context("the agent's name")?;
    if args.restart {
        return restart(place, global, &args.name).await;
    }
    let others = running::of_agent(place, &args.name);
    if !args.new
        && let Some(other) = others.first()
    {
        bail!(
            "{} runs already ({}).\nCome back to it with waystation attach {}, or start another \
             session with --new",
            args.name,
            other.shown_command(),
            args.name
        );
    }
    let started = start::start(place, &args).await?;
    if args.headless {
        let value = json!({
            "agent_id": args.name, "session_id": started.session_id, "program": started.program,
        });
        output::answer(global.json, &value, &started.session_id)?;
        return Ok(ExitCode::SUCCESS);
    }
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        output::note(&format!(
            "waystation: {} runs as {}; leave with Ctrl-] d, come back with waystation attach {}",
            started.program, args.name, args.name
        ));
    }
    watch(&started.socket, &args.name)
}

/// `waystation attach`.
pub(crate) fn attach(place: &Place, args: &AttachArgs) -> Result<ExitCode> {
    // Without one, what stands on stdin would be typed, and its end would end the agent's program.
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        bail!("attach shows an agent's terminal on yours: run it in a terminal");
    }
    let found = find(place, args.name.as_deref())?;
    watch(&found.socket, &found.record.agent)
}

/// `waystation run --restart`.
async fn restart(place: &Place, global: &Global, name: &str) -> Result<ExitCode> {
    let found = find(place, Some(name))?;
    Control::of(&found.socket).restart().await?;
    let record = &found.record;
    let value = json!({
        "agent_id": record.agent, "session_id": record.session, "restarted": true,
    });
    output::answer(global.json, &value, &format!("{name} starts anew: {}", found.shown_command()))?;
    Ok(ExitCode::SUCCESS)
}

/// The running session that is meant.
fn find(place: &Place, name: Option<&str>) -> Result<Running> {
    let mut found = match name {
        Some(name) => running::of_agent(place, name),
        None => running::all(place),
    };
    match (found.len(), name) {
        // The newest comes first, and one's own name is enough to say which.
        (1, _) | (2.., Some(_)) => Ok(found.remove(0)),
        (0, Some(name)) => {
            bail!("no terminal of {name} is kept here; start one with waystation run")
        }
        (0, None) => {
            bail!("no terminal is kept here; start one with waystation run NAME -- COMMAND")
        }
        (2.., None) => {
            let lines: Vec<String> = found
                .iter()
                .map(|one| {
                    let record = &one.record;
                    format!("  {}  {}  {}", record.agent, record.session, one.shown_command())
                })
                .collect();
            bail!("several terminals are kept here; say which:\n{}", lines.join("\n"))
        }
    }
}

/// Shows a keeper's terminal on this one until one of them ends.
fn watch(socket: &Path, name: &str) -> Result<ExitCode> {
    let ended = supervisor::keeper::attach(socket)
        .with_context(|| format!("the terminal of {name} cannot be shown"))?;
    match ended {
        Ended::Program(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))),
        Ended::Left => {
            if std::io::stderr().is_terminal() {
                output::note(&format!(
                    "\nwaystation: {name} runs on; come back with waystation attach {name}"
                ));
            }
            Ok(ExitCode::SUCCESS)
        }
        Ended::Lost => {
            bail!("the keeper of {name} is gone; see keeper.log in the session's folder")
        }
    }
}
