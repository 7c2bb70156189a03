//! What every agent CLI can do, for Codex.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::{sleep, timeout};

use super::bind::only_thread_on;
use super::known::{Known, Mark};
use super::limits::{EXEC_START_TIME_MAX, NOTICE_BYTES_MAX, WATCH_INTERVAL};
use super::look::{self, Search};
use super::rollout::{self, Age, Reach};
use super::socket::SocketError;
use super::thread_id::ThreadId;
use super::version::{self, Abilities};
use super::{bare, bind, exec, queue, threads};
use crate::session::{
    Activity, AgentCli, Handed, Lane, LaneError, Life, Notice, Program, Seen, Session,
};

/// Codex on this machine.
pub struct Codex {
    program: Program,
    home: PathBuf,
    known: Arc<Known>,
}

impl Codex {
    /// `home` is Codex' own folder: `$CODEX_HOME`, or `.codex` in the person's.
    pub fn new(program: Program, home: PathBuf) -> Self {
        Self { program, home, known: Arc::default() }
    }

    /// The same, where what programs can do is remembered together with others.
    #[must_use]
    pub fn with_known(mut self, known: Arc<Known>) -> Self {
        self.known = known;
        self
    }

    /// Codex' own folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// What the installed Codex can do; asked once, and again when its file has changed.
    pub async fn abilities(&self) -> Result<Abilities, String> {
        let mark = Mark::of(&self.program.file);
        match mark.and_then(|mark| self.known.get(&mark)) {
            Some(known) => Ok(known),
            None => self.ask().await,
        }
    }

    async fn ask(&self) -> Result<Abilities, String> {
        let mark = Mark::of(&self.program.file);
        let abilities = version::ask(|| self.bare()).await?;
        if let Some(mark) = mark {
            self.known.put(mark, abilities.clone());
        }
        Ok(abilities)
    }

    fn bare(&self) -> Command {
        bare(&self.program, &self.home)
    }

    /// The thread of a session: the one it surely shows now, else the one that was registered.
    async fn thread_of(&self, session: &Session) -> Option<ThreadId> {
        self.threads_of(session).await.into_iter().next()
    }

    /// The thread a session shows now, and then the one that was registered, where that is another:
    /// people go on to new threads in the same terminal.
    async fn threads_of(&self, session: &Session) -> Vec<ThreadId> {
        let shown = match (look::private_socket(session), &session.process, &session.cwd) {
            (Some(socket), _, _) => only_thread_on(&socket).await,
            (None, Some(process), Some(cwd)) if session.vendor_id.is_none() => {
                bind(&self.home, process, cwd, None).await
            }
            _ => None,
        };
        let registered = session.vendor_id.as_deref().and_then(ThreadId::parse);
        let registered = registered.filter(|id| shown.as_ref() != Some(id));
        shown.into_iter().chain(registered).collect()
    }

    async fn seen(&self, session: &Session, id: &ThreadId) -> Seen {
        let found = look::search(&look::sockets(&self.home, session), id).await;
        if let Search::Found(loaded) = &found {
            return look::loaded(&loaded.thread);
        }
        let (home, session, id) = (self.home.clone(), session.clone(), id.clone());
        let seen = blocking(move || look::unloaded(&home, &session, &id)).await;
        let mut seen = seen.unwrap_or_else(|| Seen {
            life: Life::Unknown,
            activity: Activity::Unknown,
            human: crate::session::Human::Unseen,
            lanes: Vec::new(),
        });
        // Whoever does not answer may hold the thread all the same.
        if matches!(found, Search::Unclear(_)) && seen.life == Life::Dead {
            seen = Seen { life: Life::Unknown, lanes: Vec::new(), ..seen };
        }
        seen
    }

    async fn hand_socket(
        &self,
        session: &Session,
        id: &ThreadId,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        let lane = Lane::CodexSocket;
        let closed = |why: String| LaneError::Closed { lane, why };
        let mut loaded = match look::search(&look::sockets(&self.home, session), id).await {
            Search::Found(loaded) => loaded,
            Search::Absent => return Err(closed("no app server has this thread".to_owned())),
            Search::Unclear(error) => return Err(closed(error.to_string())),
        };
        if !loaded.thread.takes_turns {
            return Err(closed("the thread takes no turns from outside".to_owned()));
        }
        may_take(loaded.thread.activity)?;
        let text = &notice.text;
        match threads::start_turn(&mut loaded.connection, id, &notice.wake_id, text).await {
            Ok(()) => Ok(Handed { vendor_id: Some(id.to_string()), process: None, log: None }),
            Err(error) if error.is_unknown_method() => {
                Err(closed("this Codex cannot start turns over its socket; update it".to_owned()))
            }
            Err(error @ SocketError::Refused { .. }) => Err(closed(error.to_string())),
            Err(error) => Err(LaneError::Unsure { lane, why: error.to_string() }),
        }
    }

    async fn hand_queue(
        &self,
        session: &Session,
        id: &ThreadId,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        let lane = Lane::CodexQueue;
        let seen = self.seen(session, id).await;
        if !seen.lanes.contains(&lane) {
            let why = "nobody would take it out of the queue".to_owned();
            return Err(LaneError::Closed { lane, why });
        }
        may_take(seen.activity)?;
        self.must(lane, |abilities| abilities.has_queue).await?;
        let server = look::private_socket(session);
        queue::add(self.bare(), server.as_deref(), id, notice).await
    }

    async fn hand_resume(
        &self,
        session: &Session,
        id: &ThreadId,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        let lane = Lane::CodexResume;
        let closed = |why: &str| LaneError::Closed { lane, why: why.to_owned() };
        let seen = self.seen(session, id).await;
        if seen.life != Life::Dead {
            return Err(closed("the session is not proven to have ended"));
        }
        if !seen.lanes.contains(&lane) {
            return Err(closed("Codex has no record of this session"));
        }
        self.must(lane, |abilities| abilities.has_resume).await?;
        let mut command = self.exec_in(lane, session)?;
        command.args(["resume", id.as_str(), "-"]);
        exec::start(lane, command, &self.program, notice).await
    }

    async fn hand_new(&self, session: &Session, notice: &Notice) -> Result<Handed, LaneError> {
        let lane = Lane::CodexNew;
        let mut command = self.exec_in(lane, session)?;
        command.arg("-C").args(session.cwd.as_deref()).arg("-");
        exec::start(lane, command, &self.program, notice).await
    }

    /// `codex exec` in the session's folder. Flags of the person's come before `resume`, which knows
    /// fewer of them; elsewhere Codex would move the session to the folder it is started in.
    fn exec_in(&self, lane: Lane, session: &Session) -> Result<Command, LaneError> {
        let cwd = session.cwd.as_deref().filter(|folder| folder.is_absolute() && folder.is_dir());
        let Some(cwd) = cwd else {
            let why = "the session's folder is not there".to_owned();
            return Err(LaneError::Closed { lane, why });
        };
        let mut command = self.bare();
        command.current_dir(cwd).arg("exec").args(&self.program.args);
        command.args(["--json", "--skip-git-repo-check"]);
        Ok(command)
    }

    async fn must(&self, lane: Lane, can: impl Fn(&Abilities) -> bool) -> Result<(), LaneError> {
        let closed = |why: String| LaneError::Closed { lane, why };
        let file = self.program.file.display();
        if self.abilities().await.is_ok_and(|abilities| can(&abilities)) {
            return Ok(());
        }
        // A file that only starts another one says nothing of an update.
        match self.ask().await {
            Ok(abilities) if can(&abilities) => Ok(()),
            Ok(abilities) => {
                Err(closed(format!("{} is too old for this; update it", abilities.version)))
            }
            Err(why) => Err(closed(format!("{file} is no Codex: {why}"))),
        }
    }

    /// Whether the queue or the records of a thread hold a wake.
    async fn holds(&self, session: &Session, id: ThreadId, wake_id: &str) -> Option<bool> {
        let sockets = look::sockets(&self.home, session);
        if let Search::Found(mut loaded) = look::search(&sockets, &id).await {
            match threads::is_queued(&mut loaded.connection, &id, wake_id).await {
                Ok(true) => return Some(true),
                Err(error) if !error.is_unknown_method() => return None,
                _ => {}
            }
        }
        let (home, session, wake_id) = (self.home.clone(), session.clone(), wake_id.to_owned());
        blocking(move || look::recorded(&home, &session, &id, &wake_id)).await?
    }

    /// Waits until a notice stands in the thread's rollout.
    async fn until_recorded(&self, session: &Session, id: &ThreadId, wake_id: &str) {
        let mut known = session.transcript.clone();
        let mut age = Age::Any;
        loop {
            let (home, id, wake_id) = (self.home.clone(), id.clone(), wake_id.to_owned());
            let look = blocking(move || {
                let path = rollout::find(&home, &id, known.as_deref(), age);
                let is_there = path.as_deref().is_some_and(|path| {
                    rollout::holds_notice(path, &wake_id, Reach::Recent) == Some(true)
                });
                (path, is_there)
            });
            let (path, is_there) = look.await.unwrap_or_default();
            if is_there {
                return;
            }
            known = path;
            // One that was not there before its first turn will lie among the newest.
            age = Age::Days;
            sleep(WATCH_INTERVAL).await;
        }
    }
}

impl AgentCli for Codex {
    async fn look(&self, session: &Session) -> Seen {
        match self.thread_of(session).await {
            Some(id) => self.seen(session, &id).await,
            None => look::unbound(session),
        }
    }

    async fn hand(
        &self,
        lane: Lane,
        session: &Session,
        notice: &Notice,
    ) -> Result<Handed, LaneError> {
        let closed = |why: &str| LaneError::Closed { lane, why: why.to_owned() };
        if !look::is_wake_id(&notice.wake_id) || notice.text.len() > NOTICE_BYTES_MAX {
            return Err(closed("the notice is not one of ours"));
        }
        if lane == Lane::CodexNew {
            return self.hand_new(session, notice).await;
        }
        let id = self.thread_of(session).await;
        let id = id.ok_or_else(|| closed("which thread the session has is not known"))?;
        match lane {
            Lane::CodexSocket => self.hand_socket(session, &id, notice).await,
            Lane::CodexQueue => self.hand_queue(session, &id, notice).await,
            Lane::CodexResume => self.hand_resume(session, &id, notice).await,
            _ => Err(closed("it does not lead to Codex")),
        }
    }

    async fn turn_began(
        &self,
        _lane: Lane,
        session: &Session,
        notice: &Notice,
        handed: &Handed,
        patience: Duration,
    ) -> bool {
        if let Some(log) = &handed.log {
            return exec::turn_began(log, patience).await;
        }
        let known = handed.vendor_id.as_deref().and_then(ThreadId::parse);
        let id = match known {
            Some(id) => Some(id),
            None => self.thread_of(session).await,
        };
        let Some(id) = id else { return false };
        timeout(patience, self.until_recorded(session, &id, &notice.wake_id)).await.is_ok()
    }

    async fn has_arrived(&self, session: &Session, wake_id: &str) -> Option<bool> {
        if !look::is_wake_id(wake_id) {
            return None;
        }
        // A process that was started for this wake and has not said anything yet may still do so.
        let log = exec::log_of(&self.program, wake_id);
        if exec::turn_began(&log, EXEC_START_TIME_MAX).await {
            return Some(true);
        }
        if exec::is_running(&log) {
            return None;
        }
        let threads = self.threads_of(session).await;
        if threads.is_empty() {
            // Without a thread only a process of its own could have taken the wake.
            let was_named = session.process.is_some() || session.vendor_id.is_some();
            return (!was_named).then_some(false);
        }
        let mut is_certain = true;
        for id in threads {
            match self.holds(session, id, wake_id).await {
                Some(true) => return Some(true),
                Some(false) => {}
                None => is_certain = false,
            }
        }
        is_certain.then_some(false)
    }
}

/// Nothing is handed to a thread in a turn: it would become part of that turn, and be lost with it.
fn may_take(activity: Activity) -> Result<(), LaneError> {
    match activity {
        Activity::Idle | Activity::Unknown => Ok(()),
        Activity::Busy => Err(LaneError::NotNow { why: "turn_running" }),
        Activity::Dialog => Err(LaneError::NotNow { why: "dialog_open" }),
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}
