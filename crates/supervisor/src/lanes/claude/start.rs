//! Starting `claude -p`, for a session that ended or for a new one.
//!
//! The log that the started process writes to is locked, and the process inherits the lock with its
//! standard output. So the kernel itself says whether a run of a session is still at work, even when
//! whoever started it was killed a moment later, and nobody starts a second one.

use std::fs::{DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::fs::{FlockOperation, flock};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::folder;
use crate::session::{Handed, Lane, LaneError, Notice, Process, Program};

/// What a process of Claude Code tells its children; one that we start is nobody's child.
const INHERITED: [&str; 12] = [
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
];

/// What is to be started.
pub(super) struct Start<'a> {
    /// The program.
    pub(super) program: &'a Program,
    /// Claude Code's own folder.
    pub(super) folder: &'a Path,
    /// The folder to work in.
    pub(super) cwd: &'a Path,
    /// The session.
    pub(super) vendor_id: &'a str,
    /// Whether there is a conversation under that name already.
    pub(super) is_resumed: bool,
    /// For whom.
    pub(super) lane: Lane,
}

impl Start<'_> {
    /// Starts it with the notice on its standard input, and leaves it to itself.
    pub(super) async fn hand(&self, notice: &Notice) -> Result<Handed, LaneError> {
        let closed = |why: String| LaneError::Closed { lane: self.lane, why };
        if !self.cwd.is_dir() {
            return Err(closed("the folder it worked in is gone".to_owned()));
        }
        let path = log_path(self.program, self.vendor_id);
        let log = open_log(&path).map_err(|error| closed(format!("its log: {error}")))?;
        if flock(&log, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(LaneError::NotNow { why: "turn_running" });
        }
        // Only now: the log of a run that still works is not ours to empty.
        log.set_len(0).map_err(|error| closed(format!("its log: {error}")))?;
        let errors = log.try_clone().map_err(|error| closed(format!("its log: {error}")))?;
        let mut command = self.command();
        command.stdin(Stdio::piped()).stdout(log).stderr(errors);
        let mut child =
            command.spawn().map_err(|error| closed(format!("it does not start: {error}")))?;
        let process = child.id().and_then(Process::current_of);
        let mut input = child.stdin.take().expect("its input was asked for as a pipe");
        let written = async {
            input.write_all(notice.text.as_bytes()).await?;
            input.shutdown().await
        };
        written.await.map_err(|error| LaneError::Unsure {
            lane: self.lane,
            why: format!("it did not take the notice: {error}"),
        })?;
        Ok(Handed { vendor_id: Some(self.vendor_id.to_owned()), process, log: Some(path) })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program.file);
        let which = if self.is_resumed { "--resume" } else { "--session-id" };
        command.args(["-p", which, self.vendor_id, "--output-format", "stream-json", "--verbose"]);
        // Last, since some of them take as many words as follow.
        command.args(&self.program.args);
        for name in INHERITED {
            command.env_remove(name);
        }
        // Naming the folder moves other files of the program too, so it is done only where it must be.
        if folder::default().as_deref() != Some(self.folder) {
            if folder::of_home().as_deref() == Some(self.folder) {
                command.env_remove(folder::VARIABLE);
            } else {
                command.env(folder::VARIABLE, self.folder);
            }
        }
        command.envs(self.program.env.iter().map(|(name, value)| (name, value)));
        // A group of its own: what is typed at our terminal does not interrupt it.
        command.current_dir(self.cwd).process_group(0);
        command
    }
}

/// Where a run of a session writes to.
pub(super) fn log_path(program: &Program, vendor_id: &str) -> PathBuf {
    program.log_folder.join(format!("claude-{vendor_id}.log"))
}

/// Whether a run that we started works on this session still.
pub(super) fn is_at_work(program: &Program, vendor_id: &str) -> bool {
    File::open(log_path(program, vendor_id))
        .is_ok_and(|log| flock(&log, FlockOperation::NonBlockingLockShared).is_err())
}

fn open_log(path: &Path) -> std::io::Result<File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    File::options().create(true).append(true).mode(0o600).open(path)
}
