//! The terminals that are kept here: one folder for each, with a record of its keeper.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use supervisor::{Life, Process};

use crate::paths::Place;

/// The record's name in a session's folder.
const RECORD: &str = "keeper.json";
/// The socket's name.
const SOCKET: &str = "keeper.sock";

/// What a keeper writes down of itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// The agent.
    pub(super) agent: String,
    /// The hub's name for the session.
    pub(super) session: String,
    /// The keeper's process.
    pub(super) pid: u32,
    /// When it started, in the kernel's ticks.
    pub(super) pid_started: u64,
    /// In which boot of the machine.
    pub(super) boot_id: String,
    /// The program and its arguments.
    pub(super) command: Vec<String>,
    /// The program's folder.
    pub(super) cwd: PathBuf,
    /// When it was started.
    pub(super) started_at: protocol::Timestamp,
}

impl Record {
    fn process(&self) -> Process {
        let boot_id = self.boot_id.clone();
        Process { pid: self.pid, started_ticks: self.pid_started, boot_id }
    }

    /// Writes it into a session's folder.
    pub(super) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        write_whole(&folder.join(RECORD), &text)
    }
}

/// A terminal that is kept.
#[derive(Clone, Debug)]
pub(super) struct Running {
    pub(super) record: Record,
    pub(super) socket: PathBuf,
}

impl Running {
    /// The command as people know it.
    pub(super) fn shown_command(&self) -> String {
        crate::output::safe(&self.record.command.join(" "))
    }
}

/// Every terminal that is kept, the newest first.
pub(super) fn all(place: &Place) -> Vec<Running> {
    let folders = std::fs::read_dir(place.run_folders()).into_iter().flatten().flatten();
    let mut found: Vec<Running> = folders.filter_map(|folder| read(&folder.path())).collect();
    found.sort_by_key(|one| std::cmp::Reverse(one.record.started_at));
    found
}

/// Those of an agent, or the one with this session.
pub(super) fn of_agent(place: &Place, name: &str) -> Vec<Running> {
    let mut found = all(place);
    found.retain(|one| one.record.agent == name || one.record.session == name);
    found
}

fn read(folder: &Path) -> Option<Running> {
    let text = std::fs::read(folder.join(RECORD)).ok()?;
    let record: Record = serde_json::from_slice(&text).ok()?;
    let socket = folder.join(SOCKET);
    let lives = supervisor::life(&record.process()) != Life::Dead && socket.exists();
    lives.then_some(Running { record, socket })
}

/// Where a session's keeper listens.
pub(super) fn socket(folder: &Path) -> PathBuf {
    folder.join(SOCKET)
}

/// Puts a file in place whole, for its owner's eyes only.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let draft = path.with_extension("new");
    let mut file = std::fs::File::options()
        .create(true)
        .truncate(true)
        .write(true)
        .mode(0o600)
        .open(&draft)?;
    file.write_all(bytes)?;
    std::fs::rename(&draft, path)
}
