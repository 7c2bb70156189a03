//! `codex exec`: a turn in a process of its own, which outlives us.
//!
//! The prompt is a file that becomes the process' input, so it is there whole even when we end right
//! after the start. What it prints goes to a log that is named after the wake and locked through the
//! very handle that the process inherits: whoever comes after us sees whether it still runs.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::limits::{EXEC_START_TIME_MAX, LOG_BYTES_MAX, WATCH_INTERVAL};
use super::thread_id::ThreadId;
use crate::session::{Handed, Lane, LaneError, Notice, Process, Program};

/// Where a wake's log lies.
pub(super) fn log_of(program: &Program, wake_id: &str) -> PathBuf {
    program.log_folder.join(format!("codex-{wake_id}.jsonl"))
}

/// What a log says so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// The thread that was opened.
    pub(super) thread: Option<ThreadId>,
    /// Whether the turn has begun.
    pub(super) has_begun: bool,
}

/// Reads a log; an absent one says nothing.
pub(super) fn progress(log: &Path) -> Progress {
    let mut progress = Progress::default();
    let mut text = Vec::new();
    let Ok(file) = File::open(log) else { return progress };
    if file.take(LOG_BYTES_MAX).read_to_end(&mut text).is_err() {
        return progress;
    }
    // The last line may still be in the making.
    for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
        let Ok(event) = serde_json::from_slice::<Value>(line) else { continue };
        match event.get("type").and_then(Value::as_str) {
            Some("thread.started") => {
                let id = event.get("thread_id").and_then(Value::as_str);
                progress.thread = id.and_then(ThreadId::parse);
            }
            Some("turn.started") => progress.has_begun = true,
            _ => {}
        }
    }
    progress
}

/// Whether the process of a log still runs.
pub(super) fn is_running(log: &Path) -> bool {
    File::open(log)
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Starts `codex exec` and waits until it has named its thread.
pub(super) async fn start(
    lane: Lane,
    mut command: Command,
    program: &Program,
    notice: &Notice,
) -> Result<Handed, LaneError> {
    let closed = |why: String| LaneError::Closed { lane, why };
    let files = Files::make(lane, program, notice)?;
    command.stdin(files.prompt).stdout(files.log).stderr(files.errors).process_group(0);
    let mut child = command.spawn().map_err(|error| {
        closed(format!("{} cannot be started ({error})", program.file.display()))
    })?;
    // The command holds our own copies of the handles, and with them the lock.
    drop(command);
    let process = child.id().and_then(Process::current_of);
    let log = log_of(program, &notice.wake_id);
    let named = timeout(EXEC_START_TIME_MAX, until_named(&mut child, &log)).await;
    if named.is_ok_and(|named| !named) {
        return Err(closed(why_it_ended(&log)));
    }
    let vendor_id = progress(&log).thread.map(|id| id.as_str().to_owned());
    Ok(Handed { vendor_id, process, log: Some(log) })
}

/// Waits for a turn to begin; a process that ended without one began none.
pub(super) async fn turn_began(log: &Path, patience: Duration) -> bool {
    let watch = async {
        loop {
            // Asked before the log is read: what it wrote before it ended is read then.
            let runs = is_running(log);
            if progress(log).has_begun {
                return true;
            }
            if !runs {
                return false;
            }
            sleep(WATCH_INTERVAL).await;
        }
    };
    timeout(patience, watch).await.unwrap_or(false)
}

async fn until_named(child: &mut Child, log: &Path) -> bool {
    loop {
        let has_ended = !matches!(child.try_wait(), Ok(None));
        if progress(log).thread.is_some() {
            return true;
        }
        if has_ended {
            return false;
        }
        sleep(WATCH_INTERVAL).await;
    }
}

/// Says what to do, by what Codex is known to print; its own words stay in its log.
fn why_it_ended(log: &Path) -> String {
    let mut text = Vec::new();
    if let Ok(file) = File::open(errors_of(log)) {
        // Whatever cannot be read is as good as nothing: the message below names the file.
        file.take(LOG_BYTES_MAX).read_to_end(&mut text).unwrap_or_default();
    }
    let text = String::from_utf8_lossy(&text);
    if text.contains("already has an active writer") {
        "the session is open elsewhere, so it cannot be resumed".to_owned()
    } else if text.contains("no rollout found") {
        "Codex has no record of this session".to_owned()
    } else if text.contains("unexpected argument") || text.contains("unrecognized subcommand") {
        "this Codex does not know these arguments; update it, or change the host's codex_args"
            .to_owned()
    } else {
        format!("Codex ended before the turn began; {} says why", errors_of(log).display())
    }
}

fn errors_of(log: &Path) -> PathBuf {
    log.with_extension("err")
}

/// What a process is started with.
struct Files {
    prompt: Stdio,
    log: Stdio,
    errors: Stdio,
}

impl Files {
    fn make(lane: Lane, program: &Program, notice: &Notice) -> Result<Self, LaneError> {
        let log = log_of(program, &notice.wake_id);
        let make = || -> std::io::Result<Option<Self>> {
            std::fs::create_dir_all(&program.log_folder)?;
            let output = open(&log)?;
            if output.try_lock().is_err() {
                return Ok(None);
            }
            output.set_len(0)?;
            let errors = open(&errors_of(&log))?;
            errors.set_len(0)?;
            let prompt = log.with_extension("prompt");
            let mut file = open(&prompt)?;
            file.set_len(0)?;
            file.write_all(notice.text.as_bytes())?;
            let input = File::open(&prompt)?;
            // The handle is all that is needed.
            std::fs::remove_file(&prompt)?;
            Ok(Some(Self { prompt: input.into(), log: output.into(), errors: errors.into() }))
        };
        match make() {
            Ok(Some(files)) => Ok(files),
            Ok(None) => Err(LaneError::Unsure {
                lane,
                why: "an earlier hand-over of this wake still runs".to_owned(),
            }),
            Err(error) => Err(LaneError::Closed {
                lane,
                why: format!("its log {} cannot be written ({error})", log.display()),
            }),
        }
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    File::options().create(true).append(true).mode(0o600).open(path)
}
