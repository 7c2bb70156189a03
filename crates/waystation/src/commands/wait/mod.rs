//! `waystation wait`: parked by Claude Code as an `asyncRewake` hook. It says nothing until the hub has
//! a notice for its session; then it prints the notice and exits with 2, which wakes the session
//! without touching what its human has typed.
mod parked;
mod session;

use std::process::ExitCode;

use anyhow::Result;

use crate::cli::HookArgs;
use crate::commands::hook::event::Event;
use crate::commands::hook::note;
use crate::commands::hook::program::Program;
use crate::commands::hook::report::Reporter;
use crate::output;
use crate::paths::Place;

/// Tells Claude Code to wake the session with what was printed.
const WAKE: u8 = 2;

/// Waits; whatever goes wrong, Claude Code does not notice.
pub(crate) async fn run(place: &Place, args: &HookArgs) -> ExitCode {
    match wait(place, args).await {
        Ok(Some(notice)) if output::notice(&notice).is_ok() => ExitCode::from(WAKE),
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            note(place, "wait", &error);
            ExitCode::SUCCESS
        }
    }
}

/// The notice to wake with, or nothing when there is nobody left to wake.
async fn wait(place: &Place, args: &HookArgs) -> Result<Option<String>> {
    let event = Event::read(std::io::stdin().lock())?;
    let program = Program::claude(&event);
    if !program.is_interactive() {
        return Ok(None);
    }
    let reporter = Reporter::new(place, args.agent.as_deref(), Some(&event.session_id))?;
    let session = session::Session { reporter, program, event };
    // Each is polled until the first has something to say: the hub, or the session by ending.
    tokio::select! {
        notice = parked::notice(&session) => notice,
        () = session.ended() => Ok(None),
        () = crate::owner::asked_to_stop() => Ok(None),
    }
}
