//! A wake as the hub hands it out, and what the supervisor makes of it. Whatever came from outside is
//! checked here: names before they become part of a path or an argument, folders before anything is
//! started in them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use protocol::Timestamp;
use serde::Deserialize;
use supervisor::keeper::is_typeable;
use supervisor::{Activity, Courtesy, Lane, Notice, Process, Runtime, Session, Terms};

use super::limits::SESSION_CHARS_MAX;

/// A wake to work on.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Job {
    pub(super) wake_id: String,
    pub(super) attempt: i64,
    pub(super) workspace_id: String,
    pub(super) agent_id: String,
    handing: Option<String>,
    #[serde(default)]
    pub(super) sessions: Vec<JobSession>,
    pub(super) profile: Option<Profile>,
    notice: NoticeTexts,
    #[serde(flatten)]
    consents: Consents,
    #[serde(flatten)]
    haste: Haste,
    defer: DeferTerms,
    new_session_preface: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
struct Consents {
    #[serde(default)]
    may_resume: bool,
    #[serde(default)]
    may_start: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct Haste {
    #[serde(default)]
    force: bool,
    #[serde(default)]
    fail_on_human_input: bool,
}

#[derive(Clone, Debug, Deserialize)]
struct NoticeTexts {
    native: String,
    typed: String,
}

#[derive(Clone, Debug, Deserialize)]
struct DeferTerms {
    recheck_ms: i64,
    quiet_ms: i64,
    max_ms: i64,
    since: Option<Timestamp>,
}

/// A session of the agent, as the registry has it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct JobSession {
    pub(super) session_id: String,
    vendor_session_id: Option<String>,
    runtime: String,
    cwd: Option<PathBuf>,
    pid: Option<u32>,
    pid_started: Option<u64>,
    boot_id: Option<String>,
    #[serde(default)]
    pub(super) managed: bool,
    #[serde(default)]
    resumable: bool,
    status: Option<String>,
    transcript: Option<PathBuf>,
}

/// How the agent was last started.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Profile {
    pub(super) runtime: String,
    pub(super) cwd: Option<PathBuf>,
}

impl Job {
    /// What is to be said.
    pub(super) fn notice(&self) -> Notice {
        let NoticeTexts { native, typed } = self.notice.clone();
        Notice { wake_id: self.wake_id.clone(), text: native, typed }
    }

    /// What is to be said to a session that knows nothing of the thread.
    pub(super) fn first_notice(&self) -> Notice {
        let mut notice = self.notice();
        if let Some(preface) = &self.new_session_preface {
            notice.text = format!("{}\n{preface}", notice.text);
            // What a keyboard is not trusted with is left out: the agent finds it in the thread.
            let typed = format!("{} {preface}", notice.typed);
            if is_typeable(&typed) {
                notice.typed = typed;
            }
        }
        notice
    }

    /// What the ladder may do.
    pub(super) fn terms(&self) -> Terms {
        Terms {
            may_resume: self.consents.may_resume,
            may_start: self.consents.may_start && self.profile.is_some(),
            courtesy: Courtesy {
                force: self.haste.force,
                fail_on_human_input: self.haste.fail_on_human_input,
                recheck_ms: self.defer.recheck_ms,
                quiet_ms: self.defer.quiet_ms,
                defer_ms_max: self.defer.max_ms,
            },
        }
    }

    /// How long a human must have been quiet before anything is typed.
    pub(super) fn quiet(&self) -> Duration {
        let ms = if self.haste.force { 0 } else { self.defer.quiet_ms };
        Duration::from_millis(ms.max(0).unsigned_abs())
    }

    /// The lane that an earlier attempt was about to touch.
    pub(super) fn handing(&self) -> Option<Lane> {
        self.handing.as_deref().and_then(Lane::named)
    }

    /// Since when a human keeps it waiting.
    pub(super) fn deferred_since_ms(&self) -> Option<i64> {
        self.defer.since.map(Timestamp::as_ms)
    }
}

impl JobSession {
    /// Whether it was heard of lately.
    pub(super) fn is_fresh(&self) -> bool {
        self.status.as_deref().is_some_and(|status| status != "offline")
    }

    /// The session for the supervisor; `None` when its name could not be one of ours.
    pub(super) fn session(&self, run_folders: &Path) -> Option<Session> {
        if !is_plain(&self.session_id) {
            return None;
        }
        let keeper = run_folders.join(&self.session_id).join("keeper.sock");
        let process = match (self.pid, self.pid_started, &self.boot_id) {
            (Some(pid), Some(started_ticks), Some(boot_id)) => {
                Some(Process { pid, started_ticks, boot_id: boot_id.clone() })
            }
            _ => None,
        };
        Some(Session {
            id: self.session_id.clone(),
            runtime: Runtime::named(&self.runtime),
            vendor_id: self.vendor_session_id.clone().filter(|id| is_plain(id)),
            cwd: self.cwd.clone().filter(|cwd| is_folder(cwd)),
            process,
            transcript: self.transcript.clone().filter(|path| path.is_absolute()),
            keeper: keeper.exists().then_some(keeper),
            reported: match self.status.as_deref() {
                Some("active") => Activity::Busy,
                Some("idle") => Activity::Idle,
                _ => Activity::Unknown,
            },
            is_resumable: self.resumable,
        })
    }
}

/// Whether a name can stand in a path and in an argument without meaning anything else there.
pub(super) fn is_plain(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=SESSION_CHARS_MAX).contains(&name.len())
        && name.bytes().all(is_letter)
        && !name.starts_with(['.', '-'])
}

/// Whether something may be started in this folder.
pub(super) fn is_folder(path: &Path) -> bool {
    path.is_absolute() && path.is_dir()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn session(id: &str, vendor: &str, cwd: &str) -> JobSession {
        serde_json::from_value(json!({
            "session_id": id, "vendor_session_id": vendor, "runtime": "codex_cli", "cwd": cwd,
            "pid": 7, "pid_started": 8, "boot_id": "b", "managed": true, "resumable": true,
            "status": "idle", "unheard_of": 1,
        }))
        .unwrap()
    }

    #[test]
    fn names_from_outside_never_become_paths_or_options() {
        let folder = Path::new("/tmp");
        for bad in ["", ".", "..", "../x", "-x", "--dangerously", "a b", "$(id)", "a\n", "a;b", "é"]
        {
            assert!(session(bad, "ok", "/").session(folder).is_none(), "{bad:?}");
            let seen = session("ok", bad, "/").session(folder).unwrap();
            assert_eq!(seen.vendor_id, None, "{bad:?}");
        }
        assert!(session(&"a".repeat(129), "ok", "/").session(folder).is_none());
    }

    #[test]
    fn a_folder_must_be_there() {
        let at = |cwd| session("ok", "ok", cwd).session(Path::new("/tmp")).unwrap().cwd;
        assert_eq!(at("/"), Some(PathBuf::from("/")));
        for bad in ["/no/such/folder", ".", "", "/etc/passwd"] {
            assert_eq!(at(bad), None, "{bad:?}");
        }
    }
}
