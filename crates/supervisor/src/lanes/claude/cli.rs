//! The lanes of Claude Code, the best first: what a keeper owns, then what can be started.

use std::path::PathBuf;
use std::time::Duration;

use super::start::Start;
use super::{folder, identity, start, transcript, turn};
use crate::lanes::pty::PtyCli;
use crate::limits::QUIET_DEFAULT;
use crate::session::{
    Activity, AgentCli, Handed, Human, Lane, LaneError, Life, Notice, Program, Seen, Session,
};

/// Claude Code on this machine.
#[derive(Clone, Debug)]
pub struct Claude {
    pub(super) program: Program,
    pub(super) folder: PathBuf,
    keeper: PtyCli,
}

impl Claude {
    /// Started like this, with its records in this folder: `folder::default()` unless a session's
    /// transcript says otherwise.
    pub fn new(program: Program, folder: PathBuf) -> Self {
        Self { program, folder, keeper: PtyCli { quiet: QUIET_DEFAULT } }
    }

    /// The same, where a human must have been quiet for so long before anything is typed.
    #[must_use]
    pub fn with_quiet(mut self, quiet: Duration) -> Self {
        self.keeper.quiet = quiet;
        self
    }

    async fn resume(&self, session: &Session, notice: &Notice) -> Result<Handed, LaneError> {
        let lane = Lane::ClaudeResume;
        let closed = |why: &str| LaneError::Closed { lane, why: why.to_owned() };
        let vendor_id = session.vendor_id.as_deref().filter(|id| identity::is_valid(id));
        let vendor_id = vendor_id.ok_or_else(|| closed("it is not known under which name"))?;
        let cwd = session.cwd.as_deref().ok_or_else(|| closed("its folder is not known"))?;
        // Looked at again at the last moment, whatever was seen before.
        match self.look(session).await.life {
            Life::Dead => {}
            Life::Live if start::is_at_work(&self.program, vendor_id) => {
                return Err(LaneError::NotNow { why: "turn_running" });
            }
            Life::Live => return Err(closed("the session lives")),
            Life::Unknown => return Err(closed("nothing proves that the session has ended")),
        }
        let folder = folder::of_session(session, &self.folder);
        let start =
            Start { program: &self.program, folder, cwd, vendor_id, is_resumed: true, lane };
        start.hand(notice).await
    }

    /// The new session's name follows from the wake, so that a second attempt finds the first.
    async fn start(&self, session: &Session, notice: &Notice) -> Result<Handed, LaneError> {
        let lane = Lane::ClaudeNew;
        let cwd = session.cwd.as_deref().ok_or_else(|| LaneError::Closed {
            lane,
            why: "it is not known in which folder".to_owned(),
        })?;
        let vendor_id = identity::of_wake(&notice.wake_id);
        let vendor_id = vendor_id.as_str();
        let is_resumed = transcript::path_of(&self.folder, vendor_id).is_some();
        let folder = self.folder.as_path();
        let start = Start { program: &self.program, folder, cwd, vendor_id, is_resumed, lane };
        start.hand(notice).await
    }

    /// Types only where the program itself says that it is idle: its record is surer than its screen.
    async fn type_notice(&self, session: &Session, notice: &Notice) -> Result<Handed, LaneError> {
        match self.look(session).await.activity {
            Activity::Busy => Err(LaneError::NotNow { why: "turn_running" }),
            Activity::Dialog => Err(LaneError::NotNow { why: "dialog_open" }),
            Activity::Idle | Activity::Unknown => {
                self.keeper.hand(Lane::Pty, session, notice).await
            }
        }
    }
}

/// Does what reads files where it may block.
async fn blocking<T: Send + 'static>(
    claude: &Claude,
    session: &Session,
    work: impl FnOnce(&Claude, &Session) -> T + Send + 'static,
) -> Option<T> {
    let (claude, session) = (claude.clone(), session.clone());
    tokio::task::spawn_blocking(move || work(&claude, &session)).await.ok()
}

impl AgentCli for Claude {
    async fn look(&self, session: &Session) -> Seen {
        let nothing = Seen {
            life: Life::Unknown,
            activity: Activity::Unknown,
            human: Human::Unseen,
            lanes: Vec::new(),
        };
        let mut seen = blocking(self, session, Claude::seen).await.unwrap_or(nothing);
        if session.keeper.is_none() {
            return seen;
        }
        let kept = self.keeper.look(session).await;
        if kept.lanes.is_empty() {
            return seen;
        }
        // The keeper holds the process itself.
        seen.life = Life::Live;
        seen.human = kept.human;
        seen.lanes = kept.lanes;
        if seen.activity == Activity::Unknown {
            seen.activity = kept.activity;
        }
        seen
    }

    async fn hand(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        let closed = |why: &str| LaneError::Closed { lane, why: why.to_owned() };
        match lane {
            Lane::ClaudeResume => self.resume(session, notice).await,
            Lane::ClaudeNew => self.start(session, notice).await,
            Lane::ClaudeStream => self.keeper.hand(lane, session, notice).await,
            Lane::Pty => self.type_notice(session, notice).await,
            Lane::ClaudeRewake => Err(closed("only the hub hands out to a parked waiter")),
            _ => Err(closed("Claude Code has no such lane")),
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
        let vendor_id = handed.vendor_id.clone().or(session.vendor_id.clone());
        let known = session.transcript.clone().filter(|_| vendor_id == session.vendor_id);
        let folder = match lane {
            Lane::ClaudeNew => self.folder.as_path(),
            _ => folder::of_session(session, &self.folder),
        };
        let place = turn::Place { folder: folder.to_owned(), vendor_id, known };
        let is_kept = session.keeper.is_some() && handed.process.is_none();
        tokio::select! {
            true = turn::began(place, &notice.wake_id, handed, patience) => true,
            true = self.keeper.turn_began(lane, session, notice, handed, patience), if is_kept => true,
            else => false,
        }
    }

    async fn has_arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        let id = wake_id.to_owned();
        let written =
            blocking(self, session, move |claude, session| claude.has_notice(session, &id));
        match written.await.flatten() {
            Some(false) if session.keeper.is_some() => {
                self.keeper.has_arrived(session, wake_id).await
            }
            known => known,
        }
    }
}
