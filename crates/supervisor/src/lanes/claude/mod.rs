//! Claude Code: what its own records say of a session, and the ways into it.
//!
//! A live session is woken by the hub through a parked `waystation wait`, which is no lane of a host.
//! A host has the standard input of a child that a keeper owns, the keyboard behind that, and
//! `claude -p` for sessions that are proven to have ended. `claude -p --resume` on a live session
//! silently splits it in two, so every sign of life forbids it.

pub mod folder;
mod identity;
pub mod records;
mod start;
pub mod transcript;
mod turn;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::time::Duration;

use self::records::Record;
use self::start::Start;
use self::transcript::{Found, Mark};
use crate::process;
use crate::session::{
    Activity, AgentCli, Handed, Human, Lane, LaneError, Life, Notice, Program, Seen, Session,
};

/// Claude Code on this machine.
#[derive(Clone, Debug)]
pub struct Claude {
    program: Program,
    folder: PathBuf,
}

/// What the program's own records say.
struct Recorded {
    life: Life,
    activity: Option<Activity>,
}

impl Claude {
    /// Started like this, with its records in this folder: `folder::default()` unless a session's
    /// transcript says otherwise.
    pub fn new(program: Program, folder: PathBuf) -> Self {
        Self { program, folder }
    }

    /// Looks for every sign of life. Death is proven only where each process that ever had the
    /// session is gone.
    fn recorded(&self, session: &Session) -> Recorded {
        let reported = session.process.as_ref().map(process::life);
        let Some(vendor_id) = session.vendor_id.as_deref() else {
            return Recorded { life: reported.unwrap_or(Life::Unknown), activity: None };
        };
        if start::is_at_work(&self.program, vendor_id) {
            return Recorded { life: Life::Live, activity: Some(Activity::Busy) };
        }
        let folder = folder::of_session(session, &self.folder);
        let Some(records) = records::of_session(folder, vendor_id) else {
            return Recorded { life: Life::Unknown, activity: None };
        };
        let of = |life: Life| records.iter().find(|record| record.life() == life);
        if let Some(living) = of(Life::Live) {
            return Recorded { life: Life::Live, activity: living.activity() };
        }
        let life = match (of(Life::Unknown), reported) {
            (None, Some(life)) => of_process(folder, session, life),
            // Nobody reported a process, but one that was killed left its record.
            (None, None) if !records.is_empty() => Life::Dead,
            (Some(_), _) | (None, None) => Life::Unknown,
        };
        Recorded { life, activity: None }
    }

    fn seen(&self, session: &Session) -> Seen {
        let recorded = self.recorded(session);
        let can_be_resumed = session.is_resumable
            && session.vendor_id.as_deref().is_some_and(identity::is_valid)
            && session.cwd.is_some();
        let lanes = match recorded.life {
            Life::Dead if can_be_resumed => vec![Lane::ClaudeResume],
            _ => Vec::new(),
        };
        let activity = recorded.activity.unwrap_or(session.reported);
        Seen { life: recorded.life, activity, human: Human::Unseen, lanes }
    }

    async fn resume(&self, session: &Session, notice: &Notice) -> Result<Handed, LaneError> {
        let lane = Lane::ClaudeResume;
        let closed = |why: &str| LaneError::Closed { lane, why: why.to_owned() };
        let vendor_id = session.vendor_id.as_deref().filter(|id| identity::is_valid(id));
        let vendor_id = vendor_id.ok_or_else(|| closed("it is not known under which name"))?;
        let cwd = session.cwd.as_deref().ok_or_else(|| closed("its folder is not known"))?;
        // Looked at again at the last moment, whatever was seen before.
        let recorded = self.recorded(session);
        match recorded.life {
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

    /// Whether this session's transcript has the notice.
    fn arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        let path = self.transcript(session);
        let found = match path.map(|path| transcript::search(&path, wake_id)) {
            Some(Ok(found)) => found,
            Some(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => Found::Nothing,
            // It writes none before its first turn.
            None if session.vendor_id.is_some() => Found::Nothing,
            Some(Err(_)) | None => return None,
        };
        match found {
            Found::Marked(Mark::InTurn) => Some(true),
            // What was queued dies with the process.
            Found::Marked(Mark::Queued) => Some(self.recorded(session).life != Life::Dead),
            Found::Nothing => Some(false),
            Found::TooLong => None,
        }
    }

    /// Whether a session that was started for this wake has the notice.
    fn arrived_anew(&self, wake_id: &str) -> Option<bool> {
        let vendor_id = identity::of_wake(wake_id);
        let Some(path) = transcript::path_of(&self.folder, &vendor_id) else {
            return Some(start::is_at_work(&self.program, &vendor_id));
        };
        match transcript::search(&path, wake_id).ok()? {
            Found::Marked(Mark::InTurn) => Some(true),
            Found::Marked(Mark::Queued) | Found::Nothing => {
                Some(start::is_at_work(&self.program, &vendor_id))
            }
            Found::TooLong => None,
        }
    }

    fn transcript(&self, session: &Session) -> Option<PathBuf> {
        if let Some(path) = &session.transcript {
            return Some(path.clone());
        }
        transcript::path_of(&self.folder, session.vendor_id.as_deref()?)
    }
}

/// A process that lives may have gone on to another session: `/clear` and `/resume` do that. Then
/// this session has no process any more.
fn of_process(folder: &Path, session: &Session, life: Life) -> Life {
    let record = |pid: u32| records::of_process(folder, pid);
    let moved = session.process.as_ref().and_then(|process| record(process.pid));
    let is_elsewhere =
        |record: Record| record.session_id.is_some() && record.session_id != session.vendor_id;
    match life {
        Life::Live if moved.is_some_and(is_elsewhere) => Life::Dead,
        life => life,
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
        blocking(self, session, Claude::seen).await.unwrap_or(nothing)
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
        let known = session.transcript.clone().filter(|_| handed.vendor_id == session.vendor_id);
        let folder = match lane {
            Lane::ClaudeNew => self.folder.as_path(),
            _ => folder::of_session(session, &self.folder),
        };
        let place = turn::Place { folder: folder.to_owned(), vendor_id, known };
        turn::began(place, &notice.wake_id, handed, patience).await
    }

    async fn has_arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        let id = wake_id.to_owned();
        let arrived = blocking(self, session, move |claude, session| {
            let anew = claude.arrived_anew(&id);
            match session.vendor_id {
                Some(_) if anew != Some(true) => claude.arrived(session, &id),
                _ => anew,
            }
        });
        arrived.await.flatten()
    }
}
