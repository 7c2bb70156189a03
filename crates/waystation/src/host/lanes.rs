//! Which program each runtime is, and the supervisor's lanes to it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use supervisor::lanes::claude::{Claude, folder};
use supervisor::lanes::codex::{Codex, Known};
use supervisor::lanes::pty::PtyCli;
use supervisor::{
    Activity, AgentCli, Handed, Lane, LaneError, Notice, Program, Runtime, Seen, Session,
};

use crate::config::HostConfig;

/// How a CLI is to be used for one wake.
#[derive(Clone, Debug, Default)]
pub(crate) struct Manner {
    /// What is added to the environment of what it starts.
    pub(crate) env: Vec<(String, String)>,
    /// Where what it starts writes its log.
    pub(crate) log_folder: PathBuf,
    /// How long a human must have been quiet before anything is typed.
    pub(crate) quiet: Duration,
}

/// Gives a host the agent CLIs of its machine.
pub(crate) trait Clis: Send + Sync + 'static {
    /// What it gives.
    type Cli: AgentCli;

    /// The CLI of a runtime.
    fn of(&self, runtime: &Runtime, manner: Manner) -> Self::Cli;

    /// The lane on which a new session of a runtime is started, if there is one.
    fn lane_of_new(&self, runtime: &Runtime) -> Option<Lane> {
        match runtime {
            Runtime::Codex => Some(Lane::CodexNew),
            Runtime::Claude => Some(Lane::ClaudeNew),
            Runtime::Other(_) => None,
        }
    }
}

/// The CLIs that the configuration names.
pub(crate) struct Installed {
    config: HostConfig,
    /// What each Codex can do: asked once, however many wakes there are.
    known: Arc<Known>,
}

impl Installed {
    /// Those of this configuration.
    pub(crate) fn new(config: HostConfig) -> Self {
        Self { config, known: Arc::default() }
    }

    fn program(&self, runtime: &Runtime, manner: Manner) -> Program {
        let (file, args) = match runtime {
            Runtime::Codex => (self.config.codex.as_str(), self.config.codex_args.clone()),
            Runtime::Claude => (self.config.claude.as_str(), self.config.claude_args.clone()),
            Runtime::Other(name) => (name.as_str(), Vec::new()),
        };
        let Manner { env, log_folder, .. } = manner;
        Program { file: PathBuf::from(file), args, env, log_folder }
    }
}

impl Clis for Installed {
    type Cli = Cli;

    fn of(&self, runtime: &Runtime, manner: Manner) -> Cli {
        let quiet = manner.quiet;
        let program = self.program(runtime, manner);
        let keeper = PtyCli { quiet };
        match runtime {
            Runtime::Codex => {
                let codex = Codex::new(program, codex_home()).with_known(Arc::clone(&self.known));
                Cli::Codex(Box::new(codex), keeper)
            }
            Runtime::Claude => {
                let folder = folder::default().unwrap_or_else(|| PathBuf::from(".claude"));
                Cli::Claude(Claude::new(program, folder).with_quiet(quiet))
            }
            Runtime::Other(_) => Cli::Other(keeper),
        }
    }
}

/// Codex' own folder: `$CODEX_HOME`, or `.codex` in the person's.
pub(crate) fn codex_home() -> PathBuf {
    let named = std::env::var_os("CODEX_HOME").filter(|path| !path.is_empty());
    let of_person = || std::env::home_dir().unwrap_or_default().join(".codex");
    named.map_or_else(of_person, PathBuf::from)
}

/// One of the CLIs that a host can reach.
pub(crate) enum Cli {
    /// Codex, and the keyboard behind its own lanes.
    Codex(Box<Codex>, PtyCli),
    /// Claude Code, which knows of the keyboard itself.
    Claude(Claude),
    /// Any other: it has a keyboard at best.
    Other(PtyCli),
}

impl AgentCli for Cli {
    async fn look(&self, session: &Session) -> Seen {
        match self {
            Self::Codex(codex, keeper) => {
                let seen = codex.look(session).await;
                match session.keeper {
                    Some(_) => behind(seen, keeper.look(session).await),
                    None => seen,
                }
            }
            Self::Claude(claude) => claude.look(session).await,
            Self::Other(keeper) => keeper.look(session).await,
        }
    }

    async fn hand(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        match self {
            Self::Codex(_, keeper) if lane == Lane::Pty => keeper.hand(lane, session, notice).await,
            Self::Codex(codex, _) => codex.hand(lane, session, notice).await,
            Self::Claude(claude) => claude.hand(lane, session, notice).await,
            Self::Other(keeper) => keeper.hand(lane, session, notice).await,
        }
    }

    async fn turn_began(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
        handed: &Handed,
        patience: Duration,
    ) -> bool {
        match self {
            Self::Codex(codex, keeper) if lane == Lane::Pty => tokio::select! {
                true = codex.turn_began(lane, session, notice, handed, patience) => true,
                true = keeper.turn_began(lane, session, notice, handed, patience) => true,
                else => false,
            },
            Self::Codex(codex, _) => {
                codex.turn_began(lane, session, notice, handed, patience).await
            }
            Self::Claude(claude) => {
                claude.turn_began(lane, session, notice, handed, patience).await
            }
            Self::Other(keeper) => keeper.turn_began(lane, session, notice, handed, patience).await,
        }
    }

    async fn has_arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        match self {
            Self::Codex(codex, keeper) => {
                let arrived = codex.has_arrived(session, wake_id).await;
                if arrived == Some(true) || session.keeper.is_none() {
                    return arrived;
                }
                match keeper.has_arrived(session, wake_id).await {
                    Some(true) => Some(true),
                    Some(false) => arrived,
                    None => None,
                }
            }
            Self::Claude(claude) => claude.has_arrived(session, wake_id).await,
            Self::Other(keeper) => keeper.has_arrived(session, wake_id).await,
        }
    }
}

/// What a program's own records say comes first; its keeper knows the human, and has the keyboard.
fn behind(mut seen: Seen, kept: Seen) -> Seen {
    if kept.lanes.is_empty() {
        return seen;
    }
    seen.life = kept.life;
    seen.human = kept.human;
    if seen.activity == Activity::Unknown {
        seen.activity = kept.activity;
    }
    seen.lanes.retain(|lane| lane.is_native());
    seen.lanes.extend(kept.lanes);
    seen
}

#[cfg(test)]
mod tests {
    use supervisor::{Human, Life};

    use super::*;

    #[test]
    fn the_keyboard_stands_behind_the_lanes_of_the_program() {
        let seen = |life, activity, human, lanes: &[Lane]| Seen {
            life,
            activity,
            human,
            lanes: lanes.to_vec(),
        };
        let draft = Human::Draft(Duration::from_secs(1));
        let own = seen(Life::Live, Activity::Busy, Human::Unseen, &[Lane::CodexSocket]);
        let kept = seen(Life::Live, Activity::Idle, draft, &[Lane::Pty]);
        let both = behind(own, kept.clone());
        assert_eq!(both, seen(Life::Live, Activity::Busy, draft, &[Lane::CodexSocket, Lane::Pty]));
        // A program that its keeper sees running is not dead, whatever its records say.
        let own = seen(Life::Dead, Activity::Unknown, Human::Unseen, &[Lane::CodexResume]);
        let both = behind(own, kept);
        assert_eq!(both, seen(Life::Live, Activity::Idle, draft, &[Lane::Pty]));
        let own = seen(Life::Dead, Activity::Unknown, Human::Unseen, &[Lane::CodexResume]);
        let gone = seen(Life::Dead, Activity::Unknown, Human::Unseen, &[]);
        assert_eq!(behind(own.clone(), gone), own);
    }
}
