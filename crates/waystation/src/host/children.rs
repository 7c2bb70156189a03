//! Processes that a lane starts: their sessions are kept alive in the registry, with a fresh
//! token, for as long as they run; and found again when the host was started anew.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use parking_lot::Mutex;
use protocol::limits::wake::SESSION_TOKEN_RENEW_EVERY;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use supervisor::{Life, Process, life};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::door::Door;
use super::identity::{self, Opened, TOKEN_FILE, Who, write_whole};
use super::job::is_plain;
use super::limits::{ANSWER_PATIENCE, CHILD_HEARTBEAT_EVERY, CHILD_LOOK_EVERY};
use crate::paths::Place;

const RECORD: &str = "child.json";

/// A session may be started again while its last process is being forgotten: whoever prepares the one and
/// whoever forgets the other take turns.
static FILES: Mutex<()> = Mutex::new(());

/// A process that a lane has started, as it is written down beside its token.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Child {
    pub(super) session_id: String,
    pub(super) workspace_id: String,
    pub(super) agent_id: String,
    pub(super) runtime: String,
    pub(super) vendor_session_id: Option<String>,
    pub(super) cwd: Option<PathBuf>,
    /// The process; none while it is being started.
    pub(super) process: Option<Running>,
}

/// A process, as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Running {
    pid: u32,
    pid_started: u64,
    boot_id: String,
}

impl From<Process> for Running {
    fn from(process: Process) -> Self {
        let Process { pid, started_ticks: pid_started, boot_id } = process;
        Self { pid, pid_started, boot_id }
    }
}

impl Child {
    /// Writes its token and itself down, before it is started.
    pub(super) fn prepare(&self, opened: &Opened, place: &Place) -> Result<()> {
        let _turn = FILES.lock();
        opened.keep_token(place)?;
        self.record(place)
    }

    /// Writes it down, so that it is found again.
    pub(super) fn record(&self, place: &Place) -> Result<()> {
        let path = place.run_folder(&self.session_id).join(RECORD);
        write_whole(&path, &serde_json::to_vec(self)?)
    }

    /// Every process that was written down and not yet seen to have ended.
    pub(super) fn recorded(place: &Place) -> Vec<Self> {
        let folders = std::fs::read_dir(place.run_folders()).into_iter().flatten().flatten();
        folders.filter_map(|folder| read(&folder.path()).ok()).collect()
    }

    async fn report(&self, door: &Door, host: &str, status: &str) {
        let running = self.process.as_ref();
        let mut input = json!({
            "agent_id": self.agent_id, "session_id": self.session_id, "runtime": self.runtime,
            "status": status, "host": host,
            "resumable": self.vendor_session_id.as_ref().map(|_| true),
            "pid": running.map(|running| running.pid),
            "pid_started": running.map(|running| running.pid_started),
            "boot_id": running.map(|running| &running.boot_id),
            "vendor_session_id": self.vendor_session_id, "cwd": self.cwd,
        });
        if let Some(fields) = input.as_object_mut() {
            fields.retain(|_, value: &mut Value| !value.is_null());
        }
        if let Err(error) = door.call("heartbeat_session", &input, ANSWER_PATIENCE).await {
            tracing::debug!(session = %self.session_id, %error, "a heartbeat was not taken");
        }
    }

    async fn renew(&self, door: &Door, place: &Place, host: &str) {
        let who = Who {
            agent: &self.agent_id,
            runtime: &self.runtime,
            cwd: self.cwd.as_deref(),
            host,
            session_id: Some(&self.session_id),
        };
        let renewed = match identity::open(door, &who).await {
            Ok(opened) => opened.keep_token(place),
            Err(error) => Err(anyhow::anyhow!("{error}")),
        };
        if let Err(error) = renewed {
            tracing::warn!(session = %self.session_id, %error, "a token could not be renewed");
        }
    }

    /// It has ended, or never came about: its session is offline, and nothing is kept of it.
    pub(super) async fn end(&self, door: &Door, place: &Place, host: &str) {
        self.report(door, host, "offline").await;
        self.forget_or_warn(place, &[RECORD, TOKEN_FILE]);
    }

    /// Whoever was starting it was killed. If it came about all the same, it says so itself, and needs its
    /// token for that; what nobody needs is swept away later.
    async fn leave_alone(&self, door: &Door, place: &Place, host: &str) {
        self.report(door, host, "offline").await;
        self.forget_or_warn(place, &[RECORD]);
    }

    fn forget_or_warn(&self, place: &Place, names: &[&str]) {
        if let Err(error) = self.forget(place, names) {
            tracing::warn!(session = %self.session_id, %error, "a child could not be forgotten");
        }
    }

    fn forget(&self, place: &Place, names: &[&str]) -> Result<()> {
        let _turn = FILES.lock();
        let folder = place.run_folder(&self.session_id);
        if read(&folder).is_ok_and(|newer| newer.process != self.process) {
            // The session goes on in another process; what lies there is of that one.
            return Ok(());
        }
        for name in names {
            match std::fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {name}"));
                }
                _ => {}
            }
        }
        // Whatever else lies in it keeps the folder there.
        std::fs::remove_dir(&folder).ok();
        Ok(())
    }
}

/// What is written down in a session's folder.
fn read(folder: &Path) -> Result<Child> {
    let child: Child = serde_json::from_slice(&std::fs::read(folder.join(RECORD))?)?;
    anyhow::ensure!(is_plain(&child.session_id), "a child's session has no plain name");
    Ok(child)
}

/// Keeps a started process' session alive until it has ended, or the host is to stop.
pub(super) async fn watch(
    child: Child,
    door: Door,
    place: Place,
    host: String,
    stop: CancellationToken,
) {
    let Some(running) = &child.process else {
        return child.leave_alone(&door, &place, &host).await;
    };
    let Running { pid, pid_started: started_ticks, boot_id } = running.clone();
    let process = Process { pid, started_ticks, boot_id };
    let mut look = interval(CHILD_LOOK_EVERY);
    let mut beat = interval(CHILD_HEARTBEAT_EVERY);
    // The first one comes at once: whoever is found again may have an old token.
    let mut renew = interval(SESSION_TOKEN_RENEW_EVERY);
    renew.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = look.tick() => {
                if life(&process) == Life::Dead {
                    break;
                }
            }
            _ = beat.tick() => child.report(&door, &host, "active").await,
            _ = renew.tick() => child.renew(&door, &place, &host).await,
            () = stop.cancelled() => return,
        }
    }
    child.end(&door, &place, &host).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    fn child(pid: Option<u32>) -> Child {
        Child {
            session_id: "sess_1".to_owned(),
            workspace_id: "default".to_owned(),
            agent_id: "reader".to_owned(),
            runtime: "claude_code".to_owned(),
            vendor_session_id: None,
            cwd: None,
            process: pid.map(|pid| Running { pid, pid_started: 1, boot_id: String::new() }),
        }
    }

    fn place() -> (tempfile::TempDir, Place) {
        let data = tempfile::tempdir().unwrap();
        let (folder, environment) = (data.path().to_owned(), Environment::default());
        (data, Place { folder, config_file: None, environment })
    }

    #[test]
    fn a_session_that_was_started_again_keeps_its_token_when_its_last_process_is_forgotten() {
        let (_data, place) = place();
        let folder = place.run_folder("sess_1");
        std::fs::create_dir_all(&folder).unwrap();
        let token = folder.join(TOKEN_FILE);
        for newer in [child(None), child(Some(2))] {
            std::fs::write(&token, "fresh").unwrap();
            newer.record(&place).unwrap();
            let everything = [RECORD, TOKEN_FILE];
            child(Some(1)).forget(&place, &everything).unwrap();
            assert!(token.exists() && read(&folder).is_ok());
            newer.forget(&place, &everything).unwrap();
            assert!(!token.exists() && read(&folder).is_err());
            std::fs::create_dir_all(&folder).unwrap();
        }
    }

    #[tokio::test]
    async fn what_may_have_been_started_after_all_keeps_its_token() {
        let (data, place) = place();
        let folder = place.run_folder("sess_1");
        std::fs::create_dir_all(&folder).unwrap();
        let child = child(None);
        std::fs::write(folder.join(TOKEN_FILE), "fresh").unwrap();
        child.record(&place).unwrap();
        // Nobody is there to be told.
        let door = Door::new(data.path().join("hub.sock"), "default");
        watch(child, door, place, "host_1".to_owned(), CancellationToken::new()).await;
        assert!(folder.join(TOKEN_FILE).exists() && read(&folder).is_err());
    }
}
