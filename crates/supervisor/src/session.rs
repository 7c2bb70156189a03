//! The nouns that ladder and lanes share: a session, what is seen of it, and what is handed to it.

use std::future::Future;
use std::path::PathBuf;
use std::time::Duration;

/// Which program an agent runs in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Runtime {
    /// Codex.
    Codex,
    /// Claude Code.
    Claude,
    /// Any other, by the name it reported.
    Other(String),
}

impl Runtime {
    /// The runtime of this name: `codex_cli`, `claude_code`, or whatever else it says.
    pub fn named(name: &str) -> Self {
        match name {
            "codex_cli" => Self::Codex,
            "claude_code" => Self::Claude,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The name it is registered under.
    pub fn name(&self) -> &str {
        match self {
            Self::Codex => "codex_cli",
            Self::Claude => "claude_code",
            Self::Other(name) => name,
        }
    }
}

/// A process that cannot be mistaken for a later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// When it started, in the kernel's ticks since the boot.
    pub started_ticks: u64,
    /// Which boot of the machine that was.
    pub boot_id: String,
}

/// A session of an agent, as it was registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The hub's name for it.
    pub id: String,
    /// The program.
    pub runtime: Runtime,
    /// The program's own name for it.
    pub vendor_id: Option<String>,
    /// The folder it works in.
    pub cwd: Option<PathBuf>,
    /// Its process.
    pub process: Option<Process>,
    /// Where the program writes down what is said, if that is known.
    pub transcript: Option<PathBuf>,
    /// The socket of the keeper that owns its terminal, if there is one.
    pub keeper: Option<PathBuf>,
    /// What it last reported of itself; the program's own records come before it.
    pub reported: Activity,
    /// Whether it can be resumed after it ended.
    pub is_resumable: bool,
}

/// What is to be said to an agent. Never a message's own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Which wake this is; the text contains it.
    pub wake_id: String,
    /// For native lanes.
    pub text: String,
    /// For the keyboard: one line of plain letters.
    pub typed: String,
}

/// Whether a session's process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It was seen.
    Live,
    /// It is proven to be gone.
    Dead,
    /// Nothing proves either; it counts as live.
    Unknown,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Waiting for its human, with an empty line.
    Idle,
    /// In a turn.
    Busy,
    /// Asking its human something.
    Dialog,
    /// It does not say.
    Unknown,
}

/// What the human at a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Human {
    /// There is none, or nobody can know.
    Unseen,
    /// The line is empty, and nothing was typed for so long.
    Quiet(Duration),
    /// Something was typed so long ago and not sent.
    Draft(Duration),
}

/// A way to reach a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Codex' app server: a turn is started over its socket.
    CodexSocket,
    /// `codex queue`.
    CodexQueue,
    /// `codex exec resume`.
    CodexResume,
    /// `codex exec`.
    CodexNew,
    /// A parked `waystation wait`; the hub itself hands out on this lane.
    ClaudeRewake,
    /// The standard input of a Claude Code child that a keeper owns.
    ClaudeStream,
    /// `claude -p --resume`.
    ClaudeResume,
    /// `claude -p`.
    ClaudeNew,
    /// The keyboard of a terminal that a keeper owns.
    Pty,
}

impl Lane {
    /// Every lane.
    pub const ALL: [Self; 9] = [
        Self::CodexSocket,
        Self::CodexQueue,
        Self::CodexResume,
        Self::CodexNew,
        Self::ClaudeRewake,
        Self::ClaudeStream,
        Self::ClaudeResume,
        Self::ClaudeNew,
        Self::Pty,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CodexSocket => "codex_socket",
            Self::CodexQueue => "codex_queue",
            Self::CodexResume => "codex_resume",
            Self::CodexNew => "codex_new",
            Self::ClaudeRewake => "claude_rewake",
            Self::ClaudeStream => "claude_stream",
            Self::ClaudeResume => "claude_resume",
            Self::ClaudeNew => "claude_new",
            Self::Pty => "pty",
        }
    }

    /// The lane of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.name() == name)
    }

    /// Whether it reaches a session that lives, without touching its keyboard.
    pub const fn is_native(self) -> bool {
        matches!(
            self,
            Self::CodexSocket | Self::CodexQueue | Self::ClaudeRewake | Self::ClaudeStream
        )
    }
}

/// What was seen of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Whether it lives.
    pub life: Life,
    /// What it is doing.
    pub activity: Activity,
    /// What its human is doing.
    pub human: Human,
    /// The lanes on which it can be reached now, the best first: live ones for a live session,
    /// resuming ones for a dead one. Starting a new session is never among them.
    pub lanes: Vec<Lane>,
}

/// A notice was handed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handed {
    /// The program's own name for the session that has it, where that became known.
    pub vendor_id: Option<String>,
    /// The process that works on it, where a lane started one.
    pub process: Option<Process>,
    /// What the program writes while it works, where a lane started one.
    pub log: Option<PathBuf>,
}

/// How to start a program: what a host's configuration says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its file, or a name to look up.
    pub file: PathBuf,
    /// Arguments that the person wants it to be started with.
    pub args: Vec<String>,
    /// What is added to its environment, such as the agent's token.
    pub env: Vec<(String, String)>,
    /// Where logs of started processes go.
    pub log_folder: PathBuf,
}

/// Why a lane did not take a notice.
#[derive(Debug, thiserror::Error)]
pub enum LaneError {
    /// Nothing was sent, and nothing will be: the session cannot be reached like this.
    #[error("{lane} is not open: {why}", lane = .lane.name())]
    Closed {
        /// The lane.
        lane: Lane,
        /// What was found.
        why: String,
    },
    /// Nothing was sent: a human is typing, a dialog is open or a turn runs. Later it may work.
    #[error("not now: {why}")]
    NotNow {
        /// What was found: `human_input_busy`, `dialog_open`, `turn_running`, `screen_unknown`.
        why: &'static str,
    },
    /// It may have been sent: only the program's own records tell.
    #[error("{lane} broke off: {why}", lane = .lane.name())]
    Unsure {
        /// The lane.
        lane: Lane,
        /// What was found.
        why: String,
    },
}

/// What each agent CLI can do.
pub trait AgentCli: Send + Sync {
    /// Looks at a session, without changing anything.
    fn look(&self, session: &Session) -> impl Future<Output = Seen> + Send;

    /// Hands a notice over on a lane. For a new session `session` says where and as whom.
    fn hand(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
    ) -> impl Future<Output = Result<Handed, LaneError>> + Send;

    /// Waits until a turn has begun because of this notice; `false` when none had after `patience`.
    /// A changed screen is no proof.
    fn turn_began(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
        handed: &Handed,
        patience: Duration,
    ) -> impl Future<Output = bool> + Send;

    /// Whether a notice ever reached the session, by the program's own records; `None` when they
    /// cannot tell.
    fn has_arrived(
        &self,
        session: &Session,
        wake_id: &str,
    ) -> impl Future<Output = Option<bool>> + Send;
}
