//! Looking at a session: who writes to its thread, what it is doing, and which lanes lead there.

use std::path::{Path, PathBuf};

use super::limits::WAKE_ID_BYTES_MAX;
use super::locks::{self, Writer};
use super::private::socket_beside;
use super::rollout::{self, Age, Reach};
use super::socket::{Connection, SocketError};
use super::thread_id::ThreadId;
use super::threads::{self, Thread};
use super::version::Version;
use super::{queue, shared_socket};
use crate::process::life;
use crate::session::{Activity, Human, Lane, Life, Seen, Session};

/// A thread where it is loaded.
pub(super) struct Loaded {
    pub(super) connection: Connection,
    pub(super) thread: Thread,
}

/// Whether an app server has a thread.
pub(super) enum Search {
    /// It is there.
    Found(Box<Loaded>),
    /// No app server that answers has it.
    Absent,
    /// An app server is there and does not answer as it should.
    Unclear(SocketError),
}

/// The sockets on which a session may be found, its own first.
pub(super) fn sockets(home: &Path, session: &Session) -> Vec<PathBuf> {
    private_socket(session).into_iter().chain([shared_socket(home)]).collect()
}

/// The socket of the app server that is the session's own, if it has one.
pub(super) fn private_socket(session: &Session) -> Option<PathBuf> {
    session.keeper.as_deref().map(socket_beside).filter(|socket| socket.exists())
}

/// Looks for a thread on these sockets.
pub(super) async fn search(sockets: &[PathBuf], id: &ThreadId) -> Search {
    let mut result = Search::Absent;
    for socket in sockets {
        let found = match Connection::open(socket).await {
            Ok(mut connection) => threads::read(&mut connection, id)
                .await
                .map(|thread| thread.map(|thread| Loaded { connection, thread })),
            Err(SocketError::Absent(_)) => continue,
            Err(error) => Err(error),
        };
        match found {
            Ok(Some(loaded)) => return Search::Found(Box::new(loaded)),
            Ok(None) => {}
            Err(error) => result = Search::Unclear(error),
        }
    }
    result
}

/// What a session that an app server has loaded looks like.
pub(super) fn loaded(thread: &Thread) -> Seen {
    let lanes =
        if thread.takes_turns { vec![Lane::CodexSocket, Lane::CodexQueue] } else { Vec::new() };
    Seen { life: Life::Live, activity: thread.activity, human: Human::Unseen, lanes }
}

/// What a session that no app server has loaded looks like, by what lies on the disk.
pub(super) fn unloaded(home: &Path, session: &Session, id: &ThreadId) -> Seen {
    let writer = locks::writer(home, id);
    let rollout = rollout::find(home, id, session.transcript.as_deref(), Age::Any);
    let process = session.process.as_ref().map(life);
    let life = match (writer, process) {
        (Writer::Some, _) | (Writer::None | Writer::Unknown, Some(Life::Live)) => Life::Live,
        (_, Some(Life::Dead)) => Life::Dead,
        (_, Some(Life::Unknown)) | (Writer::Unknown, None) => Life::Unknown,
        // No process was ever recorded; a Codex that holds locks proves that there is none.
        (Writer::None, None) => {
            let holds_locks = |version| version >= Version::HOLDS_LOCKS;
            let made_by = rollout.as_deref().and_then(rollout::made_by);
            if made_by.is_some_and(holds_locks) { Life::Dead } else { Life::Unknown }
        }
    };
    let has_rollout = rollout.is_some();
    let (activity, lanes) = match (life, writer) {
        (Life::Dead, _) if has_rollout => (Activity::Idle, vec![Lane::CodexResume]),
        // A terminal without an app server drains its queue by itself, once it has had a turn.
        (Life::Live, Writer::Some) if has_rollout => (
            rollout.as_deref().map_or(Activity::Unknown, rollout::activity),
            vec![Lane::CodexQueue],
        ),
        _ => (Activity::Unknown, Vec::new()),
    };
    Seen { life, activity, human: Human::Unseen, lanes }
}

/// What a session without a thread looks like.
pub(super) fn unbound(session: &Session) -> Seen {
    Seen {
        life: session.process.as_ref().map_or(Life::Unknown, life),
        activity: session.reported,
        human: Human::Unseen,
        lanes: Vec::new(),
    }
}

/// Whether the records on the disk hold a notice: the rollout, then the queue.
pub(super) fn recorded(
    home: &Path,
    session: &Session,
    id: &ThreadId,
    wake_id: &str,
) -> Option<bool> {
    let rollout = rollout::find(home, id, session.transcript.as_deref(), Age::Any);
    let said =
        rollout.map_or(Some(false), |path| rollout::holds_notice(&path, wake_id, Reach::All));
    match said {
        Some(true) => Some(true),
        Some(false) => queue::file_holds(home, wake_id),
        None => None,
    }
}

/// Whether a wake's id may be part of a file's name.
pub(super) fn is_wake_id(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.len() <= WAKE_ID_BYTES_MAX && text.bytes().all(is_sign)
}
