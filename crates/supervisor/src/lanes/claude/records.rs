//! What Claude Code writes down about each of its running processes: `sessions/PID.json` in its
//! folder. A process that ends in order removes its record; one that is killed leaves it behind.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::limits::{CLAUDE_RECORD_BYTES_MAX, CLAUDE_RECORDS_MAX};
use crate::process;
use crate::session::{Activity, Life, Process};

/// What one process of Claude Code says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Its number.
    pub pid: u32,
    /// The session it has open.
    pub session_id: Option<String>,
    /// The folder it works in.
    pub cwd: Option<PathBuf>,
    /// Its version.
    pub version: Option<String>,
    /// `cli` where a human sits at it, `sdk-cli` for `claude -p`.
    pub entrypoint: Option<String>,
    /// `idle`, `busy` or `waiting`.
    status: Option<String>,
    /// When it started, in the kernel's ticks since the boot.
    proc_start: Option<String>,
    /// Which machine and which space of process numbers it counts in.
    pid_domain: Option<String>,
}

impl Record {
    /// Whether that process lives.
    pub fn life(&self) -> Life {
        if self.pid_domain.as_deref().is_some_and(|domain| !is_ours(domain)) {
            // The folder is shared with a container or another machine, whose processes we cannot see.
            return Life::Unknown;
        }
        let Some(boot_id) = process::boot_id() else { return Life::Unknown };
        let started = self.proc_start.as_deref().and_then(|ticks| ticks.parse().ok());
        if let Some(started_ticks) = started {
            return process::life(&Process { pid: self.pid, started_ticks, boot_id });
        }
        // Nothing says when it started: any process of this number may be it.
        match Process::current_of(self.pid) {
            Some(_) => Life::Live,
            None => process::life(&Process { pid: self.pid, started_ticks: u64::MAX, boot_id }),
        }
    }

    /// What it is doing, if it says so in a word we know.
    pub fn activity(&self) -> Option<Activity> {
        match self.status.as_deref()? {
            "idle" => Some(Activity::Idle),
            "busy" => Some(Activity::Busy),
            "waiting" => Some(Activity::Dialog),
            _ => None,
        }
    }
}

/// Whether `linux:MACHINE:pid:[SPACE]` names this machine and the process numbers we see.
fn is_ours(domain: &str) -> bool {
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let mut parts = domain.splitn(3, ':');
    let (_, named_machine, named_space) = (parts.next(), parts.next(), parts.next());
    let same_machine = named_machine.is_some_and(|named| named == machine.trim());
    same_machine && named_space.is_some_and(|named| Path::new(named) == space)
}

/// The record of one process.
pub fn of_process(folder: &Path, pid: u32) -> Option<Record> {
    read(&folder.join("sessions").join(format!("{pid}.json"))).filter(|record| record.pid == pid)
}

/// Every record that names this session, whether its process lives or not; `None` when they cannot
/// all be read, so that nothing is proven.
pub fn of_session(folder: &Path, vendor_id: &str) -> Option<Vec<Record>> {
    let files = match std::fs::read_dir(folder.join("sessions")) {
        Ok(files) => files,
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(Vec::new()),
        Err(_) => return None,
    };
    let mut found = Vec::new();
    for (count, file) in files.enumerate() {
        let path = file.ok().filter(|_| count < CLAUDE_RECORDS_MAX)?.path();
        if path.extension().is_none_or(|kind| kind != "json") {
            continue;
        }
        found.extend(read(&path).filter(|record| record.session_id.as_deref() == Some(vendor_id)));
    }
    Some(found)
}

fn read(path: &Path) -> Option<Record> {
    let mut text = Vec::new();
    File::open(path).ok()?.take(CLAUDE_RECORD_BYTES_MAX).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A record as version 2.1.325 writes it, for a process of this machine.
    pub(in super::super) fn recorded(process: &Process, vendor_id: &str, status: &str) -> String {
        let machine = std::fs::read_to_string("/etc/machine-id").unwrap_or_default();
        let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        let (pid, ticks) = (process.pid, process.started_ticks);
        let domain = format!("linux:{}:{}", machine.trim(), space.display());
        format!(
            r#"{{"pid":{pid},"sessionId":"{vendor_id}","cwd":"/srv/project","startedAt":1794754024170,"procStart":"{ticks}","version":"2.1.325","peerProtocol":1,"peerFeatures":["notify_idle"],"kind":"interactive","entrypoint":"cli","pidDomain":"{domain}","asksForConvertedSkills":null,"messagingSocketPath":"/tmp/cc-socks/{pid}.sock","name":"project-df","nameSource":"derived","status":"{status}","updatedAt":1794754024386,"statusUpdatedAt":1794754024386}}"#
        )
    }

    /// Puts a record into a folder.
    pub(in super::super) fn write(folder: &Path, pid: u32, text: &str) {
        std::fs::create_dir_all(folder.join("sessions")).unwrap();
        std::fs::write(folder.join("sessions").join(format!("{pid}.json")), text).unwrap();
    }

    #[test]
    fn a_record_says_what_a_living_process_does() {
        let folder = tempfile::tempdir().unwrap();
        let own = Process::own().unwrap();
        for (status, activity) in [
            ("idle", Some(Activity::Idle)),
            ("busy", Some(Activity::Busy)),
            ("waiting", Some(Activity::Dialog)),
            ("dreaming", None),
        ] {
            write(folder.path(), own.pid, &recorded(&own, "s-1", status));
            let found = of_session(folder.path(), "s-1").unwrap();
            assert_eq!(found.len(), 1);
            assert_eq!((found[0].life(), found[0].activity()), (Life::Live, activity));
        }
        assert_eq!(of_session(folder.path(), "s-2"), Some(Vec::new()));
        assert_eq!(of_process(folder.path(), own.pid).unwrap().entrypoint.unwrap(), "cli");
    }

    #[test]
    fn a_record_that_a_killed_process_left_behind_proves_its_death() {
        let own = Process::own().unwrap();
        let earlier = Process { started_ticks: own.started_ticks - 1, ..own };
        let record: Record = serde_json::from_str(&recorded(&earlier, "s-1", "busy")).unwrap();
        assert_eq!(record.life(), Life::Dead);
    }

    #[test]
    fn a_record_without_a_start_is_believed_while_its_number_is_in_use() {
        let own = std::process::id();
        let record: Record = serde_json::from_str(&format!(r#"{{"pid":{own}}}"#)).unwrap();
        assert_eq!(record.life(), Life::Live);
        // Numbers of processes end far below this one.
        let record: Record = serde_json::from_str(r#"{"pid":4294967000}"#).unwrap();
        assert_eq!(record.life(), Life::Dead);
    }

    #[test]
    fn a_process_of_another_machine_is_never_declared_dead() {
        let own = Process::own().unwrap();
        let text = recorded(&own, "s-1", "idle").replace("linux:", "linux:elsewhere");
        let record: Record = serde_json::from_str(&text).unwrap();
        assert_eq!(record.life(), Life::Unknown);
    }

    #[test]
    fn other_files_and_broken_records_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 7, "{\"pid\":7,");
        std::fs::write(folder.path().join("sessions/7.abc.key"), "x").unwrap();
        assert_eq!(of_session(folder.path(), "s-1"), Some(Vec::new()));
        assert_eq!(of_session(Path::new("/nonexistent"), "s-1"), Some(Vec::new()));
    }
}
