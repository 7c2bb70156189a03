//! Which program each runtime is, and the supervisor's lanes to it.

use std::path::PathBuf;
use std::time::Duration;

use supervisor::lanes::claude::{Claude, folder};
use supervisor::lanes::codex::Codex;
use supervisor::{
    AgentCli, Handed, Human, Lane, LaneError, Life, Notice, Program, Runtime, Seen, Session, life,
};

use crate::config::HostConfig;

/// Gives a host the agent CLIs of its machine.
pub(crate) trait Clis: Send + Sync + 'static {
    /// What it gives.
    type Cli: AgentCli;

    /// The CLI of a runtime. What it starts gets this environment and writes its log there.
    fn of(&self, runtime: &Runtime, env: Vec<(String, String)>, log_folder: PathBuf) -> Self::Cli;

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
}

impl Installed {
    /// Those of this configuration.
    pub(crate) fn new(config: HostConfig) -> Self {
        Self { config }
    }

    fn program(
        &self,
        runtime: &Runtime,
        env: Vec<(String, String)>,
        log_folder: PathBuf,
    ) -> Program {
        let (file, args) = match runtime {
            Runtime::Codex => (self.config.codex.as_str(), self.config.codex_args.clone()),
            Runtime::Claude => (self.config.claude.as_str(), self.config.claude_args.clone()),
            Runtime::Other(name) => (name.as_str(), Vec::new()),
        };
        Program { file: PathBuf::from(file), args, env, log_folder }
    }
}

impl Clis for Installed {
    type Cli = Cli;

    fn of(&self, runtime: &Runtime, env: Vec<(String, String)>, log_folder: PathBuf) -> Cli {
        let program = self.program(runtime, env, log_folder);
        match runtime {
            Runtime::Codex => Cli::Codex(Box::new(Codex::new(program, codex_home()))),
            Runtime::Claude => {
                let folder = folder::default().unwrap_or_else(|| PathBuf::from(".claude"));
                Cli::Claude(Claude::new(program, folder))
            }
            Runtime::Other(_) => Cli::Other,
        }
    }
}

/// Codex' own folder: `$CODEX_HOME`, or `.codex` in the person's.
fn codex_home() -> PathBuf {
    let named = std::env::var_os("CODEX_HOME").filter(|path| !path.is_empty());
    let of_person = || std::env::home_dir().unwrap_or_default().join(".codex");
    named.map_or_else(of_person, PathBuf::from)
}

/// One of the CLIs that a host can reach.
pub(crate) enum Cli {
    /// Codex.
    Codex(Box<Codex>),
    /// Claude Code.
    Claude(Claude),
    /// Any other: it has no lane of its own.
    Other,
}

impl AgentCli for Cli {
    async fn look(&self, session: &Session) -> Seen {
        match self {
            Self::Codex(codex) => codex.look(session).await,
            Self::Claude(claude) => claude.look(session).await,
            Self::Other => Seen {
                life: session.process.as_ref().map_or(Life::Unknown, life),
                activity: session.reported,
                human: Human::Unseen,
                lanes: Vec::new(),
            },
        }
    }

    async fn hand(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        match self {
            Self::Codex(codex) => codex.hand(lane, session, notice).await,
            Self::Claude(claude) => claude.hand(lane, session, notice).await,
            Self::Other => Err(LaneError::Closed { lane, why: "it has no such lane".to_owned() }),
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
            Self::Codex(codex) => codex.turn_began(lane, session, notice, handed, patience).await,
            Self::Claude(claude) => {
                claude.turn_began(lane, session, notice, handed, patience).await
            }
            Self::Other => false,
        }
    }

    async fn has_arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        match self {
            Self::Codex(codex) => codex.has_arrived(session, wake_id).await,
            Self::Claude(claude) => claude.has_arrived(session, wake_id).await,
            Self::Other => None,
        }
    }
}
