//! A new session of a program that has no lane for it: its command is started again under a keeper, as
//! the person here started it last, and then it is reached like every other live session, through the
//! gates of the keyboard.
//!
//! Nothing is handed over here: the wake waits until the session has shown itself, and whoever takes it
//! up then finds a session that lives. So a crash in between starts nothing twice.

use std::process::Stdio;

use supervisor::{Ladder, Outcome};
use tokio::process::Command;
use tokio::time::timeout;

use super::identity::write_whole;
use super::job::{Job, is_folder, is_plain};
use super::lanes::Clis;
use super::limits::{START_PATIENCE, STARTED_LOOK_MS};
use super::reports::Report;
use super::run::{Known, Next, Run};
use crate::paths::Place;
use crate::recipe::Recipe;

/// The wake that a session was started for, in its folder.
const FIRST_WAKE: &str = "first_wake";
/// Why a wake waits for a program that was started for it.
const SESSION_STARTING: &str = "session_starting";
/// It was never started here, so nobody knows how.
const NO_START_COMMAND: &str = "no_start_command";
/// It was started for this wake, and has ended before it could be told.
const PROGRAM_ENDED: &str = "program_ended";

impl<C: Clis> Run<'_, C> {
    /// Starts the program again, once for a wake.
    pub(super) async fn start_kept(&self, ladder: &mut Ladder, job: &Job, known: &[Known]) -> Next {
        let place = &self.host.place;
        // If that one lived, it would have been told instead.
        let is_ours = |known: &Known| is_first(place, &known.session.id, &self.work.wake_id);
        let has_ended = known.iter().any(is_ours);
        let recipe = Recipe::of(place, &job.agent_id).filter(|recipe| is_folder(&recipe.cwd));
        let why = match recipe {
            _ if has_ended => Some(PROGRAM_ENDED),
            None => Some(NO_START_COMMAND),
            Some(recipe) => match started(place, &recipe).await {
                Ok(session) => {
                    let path = place.run_folder(&session).join(FIRST_WAKE);
                    if let Err(error) = write_whole(&path, self.work.wake_id.as_bytes()) {
                        tracing::warn!(%error, "nobody will know what a session was started for");
                    }
                    let until_ms = self.now_ms().saturating_add(STARTED_LOOK_MS);
                    return self.decide(&Report::deferred(SESSION_STARTING, Some(until_ms))).await;
                }
                Err(error) => {
                    tracing::warn!(wake = %self.work.wake_id, %error, "no session was started");
                    None
                }
            },
        };
        ladder.learn(Outcome::NotStarted { why }, self.now_ms());
        Next::GoOn
    }
}

/// Whether a session was started for this wake.
pub(super) fn is_first(place: &Place, session: &str, wake: &str) -> bool {
    let path = place.run_folder(session).join(FIRST_WAKE);
    std::fs::read(path).is_ok_and(|text| text == wake.as_bytes())
}

/// Starts the program with a keeper of its own; answers its session. One that runs already is not
/// started a second time.
async fn started(place: &Place, recipe: &Recipe) -> anyhow::Result<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--data").arg(&place.folder);
    if let Some(config) = &place.config_file {
        command.arg("--config").arg(config);
    }
    command.args(["run", &recipe.agent, "--headless", "--role", &recipe.role, "--"]);
    command.args(&recipe.command).current_dir(&recipe.cwd);
    if std::env::var_os("TERM").is_none() {
        command.env("TERM", "xterm-256color");
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(START_PATIENCE, command.output()).await??;
    let said = String::from_utf8_lossy(&output.stdout);
    let session = said.trim();
    if !output.status.success() || !is_plain(session) {
        let why = String::from_utf8_lossy(&output.stderr);
        anyhow::bail!("waystation run: {}", crate::output::safe(why.trim()));
    }
    Ok(session.to_owned())
}
