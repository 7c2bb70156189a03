//! What the hooks of agent CLIs call. Whatever goes wrong here, the CLI must not notice: a hook that
//! fails is a line in `hook.log`, and nothing else.
mod claude;
mod codex;
pub(crate) mod event;
mod log;
pub(crate) mod program;
pub(crate) mod report;
mod turn;

use std::process::ExitCode;
use std::time::Duration;

use crate::cli::HookCommand;
use crate::paths::Place;

pub(crate) use log::note;

/// How long a CLI may be kept waiting by its hook.
const HOOK_BUDGET: Duration = Duration::from_millis(100);

/// Reports what happened, and always succeeds.
pub(crate) async fn run(place: &Place, command: HookCommand) -> ExitCode {
    let (name, done) = match command {
        HookCommand::Claude(hook) => ("claude", claude::run(place, &hook).await),
        HookCommand::Codex(hook) => ("codex", codex::run(place, &hook).await),
        HookCommand::CodexNotify { hook, words } => {
            ("codex-notify", codex::notify(place, &hook, &words).await)
        }
        HookCommand::Turn { hook, happened, runtime } => {
            ("turn", turn::run(place, &hook, happened, runtime).await)
        }
        HookCommand::ClaudeTurn { hook, wake, attempt, session, transcript } => {
            let watched = claude::Watched { wake, attempt, session, transcript };
            ("claude-turn", claude::watch(place, &hook, watched).await)
        }
    };
    if let Err(error) = done {
        note(place, name, &error);
    }
    ExitCode::SUCCESS
}
