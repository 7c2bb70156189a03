//! The Codex lanes against a fake app server and a fake program: what is asked of them, what never
//! is, and what happens when they misbehave.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that is surprised fails")]

mod binding;
mod fake;
mod program;
mod socket;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use waystation_supervisor::lanes::codex::Codex;
use waystation_supervisor::{Activity, Notice, Process, Program, Runtime, Session};

/// A Codex home that is thrown away, with a Codex whose program is `file`.
fn codex_with(home: &Path, file: impl Into<PathBuf>) -> Codex {
    let program = Program {
        file: file.into(),
        args: vec!["-c".to_owned(), "sandbox_mode=\"workspace-write\"".to_owned()],
        env: vec![("WAYSTATION_SESSION".to_owned(), "sess_1".to_owned())],
        log_folder: home.join("logs"),
    };
    Codex::new(program, home.to_owned())
}

fn session(home: &Path) -> Session {
    Session {
        id: "sess_1".to_owned(),
        runtime: Runtime::Codex,
        vendor_id: Some(fake::ID.to_owned()),
        cwd: Some(home.to_owned()),
        process: None,
        transcript: None,
        keeper: None,
        reported: Activity::Unknown,
        is_resumable: true,
    }
}

/// A process that is gone for certain.
fn gone() -> Process {
    let mut child = Command::new("true").stdin(Stdio::null()).spawn().unwrap();
    let mut process = Process::own().unwrap();
    process.pid = child.id();
    child.wait().unwrap();
    process
}

fn notice(wake_id: &str) -> Notice {
    let typed = format!("[waystation wake {wake_id}] Thread th_1 has 1 unread message(s) for you.");
    let text = format!("{typed}\nworker coder adds: “look at $(this) `first`”");
    Notice { wake_id: wake_id.to_owned(), text, typed }
}
