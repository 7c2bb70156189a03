//! A program that is spoken with in lines of JSON, as Claude Code does with `stream-json`.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;

use super::program::Plan;
use crate::limits::{CHILD_LOG_BYTES_MAX, STREAM_LINE_BYTES_MAX};
use crate::session::{Activity, Process};

/// Where its lines go, in the session's folder.
const LOG: &str = "child.log";

/// A program that speaks JSON.
pub(super) struct Stream {
    group: Pid,
    process: Option<Process>,
    stdin: OwnedFd,
    stdout: OwnedFd,
    unsent: VecDeque<u8>,
    line: Vec<u8>,
    is_too_long: bool,
    log: Log,
    is_busy: bool,
    is_silent: bool,
}

/// What a line of the program says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It works on what it was told.
    Working,
    /// It has finished a turn.
    Finished,
    /// Something else.
    Other,
}

impl Stream {
    pub(super) fn start(plan: &Plan) -> io::Result<Self> {
        let mut log = Log::open(plan.folder.join(LOG))?;
        let mut command = plan.command();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log.writer()?);
        let mut child = command.process_group(0).spawn()?;
        let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "the program has no pipes");
        let stdin = OwnedFd::from(child.stdin.take().ok_or_else(closed)?);
        let stdout = OwnedFd::from(child.stdout.take().ok_or_else(closed)?);
        for end in [&stdin, &stdout] {
            rustix::fs::fcntl_setfl(end, rustix::fs::fcntl_getfl(end)? | OFlags::NONBLOCK)?;
        }
        Ok(Self {
            group: Pid::from_child(&child),
            process: Process::current_of(child.id()),
            stdin,
            stdout,
            unsent: VecDeque::new(),
            line: Vec::new(),
            is_too_long: false,
            log,
            is_busy: false,
            is_silent: false,
        })
    }

    pub(super) fn pid(&self) -> Pid {
        self.group
    }

    pub(super) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    pub(super) fn stdin(&self) -> BorrowedFd<'_> {
        self.stdin.as_fd()
    }

    pub(super) fn stdout(&self) -> BorrowedFd<'_> {
        self.stdout.as_fd()
    }

    pub(super) fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    pub(super) fn is_silent(&self) -> bool {
        self.is_silent
    }

    pub(super) fn activity(&self) -> Activity {
        if self.is_busy { Activity::Busy } else { Activity::Idle }
    }

    /// Says something to the program.
    pub(super) fn say(&mut self, text: &str) {
        let message = serde_json::json!({ "role": "user", "content": text });
        let line = serde_json::json!({ "type": "user", "message": message });
        self.unsent.extend(line.to_string().bytes());
        self.unsent.push_back(b'\n');
        self.is_busy = true;
        self.flush();
    }

    pub(super) fn flush(&mut self) {
        while !self.unsent.is_empty() {
            let (first, _) = self.unsent.as_slices();
            match rustix::io::write(&self.stdin, first) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => return self.unsent.clear(),
            }
        }
    }

    /// Reads what the program says, line by line.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Vec<Heard> {
        let count = match rustix::io::read(&self.stdout, &mut *buffer) {
            Ok(0) => {
                self.is_silent = true;
                return Vec::new();
            }
            Ok(count) => count,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Vec::new(),
            Err(_) => {
                self.is_silent = true;
                return Vec::new();
            }
        };
        let bytes = buffer.get(..count).unwrap_or_default();
        self.log.write(bytes);
        let mut heard = Vec::new();
        for byte in bytes {
            if *byte != b'\n' {
                self.is_too_long |= self.line.len() >= STREAM_LINE_BYTES_MAX;
                if !self.is_too_long {
                    self.line.push(*byte);
                }
                continue;
            }
            let what = if self.is_too_long { Heard::Working } else { hear(&self.line) };
            self.line.clear();
            self.is_too_long = false;
            self.is_busy = match what {
                Heard::Working => true,
                Heard::Finished => false,
                Heard::Other => self.is_busy,
            };
            heard.push(what);
        }
        heard
    }

    pub(super) fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.group, signal) {
            tracing::debug!(%error, "a program could not be signalled");
        }
    }
}

fn hear(line: &[u8]) -> Heard {
    #[derive(Deserialize)]
    struct Event<'a> {
        #[serde(rename = "type", borrow)]
        kind: std::borrow::Cow<'a, str>,
    }
    match serde_json::from_slice::<Event<'_>>(line).as_ref().map(|event| event.kind.as_ref()) {
        Ok("assistant" | "stream_event" | "system") => Heard::Working,
        Ok("result") => Heard::Finished,
        _ => Heard::Other,
    }
}

/// A log that never grows beyond its bound: then it begins anew, and the one before is kept.
struct Log {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    fn open(path: PathBuf) -> io::Result<Self> {
        let file = File::options().create(true).append(true).mode(0o600).open(&path)?;
        let length = file.metadata()?.len();
        Ok(Self { path, file, length })
    }

    fn writer(&mut self) -> io::Result<File> {
        self.file.try_clone()
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.length > CHILD_LOG_BYTES_MAX {
            let before = self.path.with_extension("log.1");
            // The program's error stream keeps writing to the file that it has open.
            let turned =
                std::fs::rename(&self.path, before).and_then(|()| Self::open(self.path.clone()));
            if let Ok(fresh) = turned {
                *self = fresh;
            }
        }
        match self.file.write_all(bytes) {
            Ok(()) => self.length += u64::try_from(bytes.len()).unwrap_or(0),
            Err(error) => tracing::debug!(%error, "a program's log could not be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_work_is_taken_for_work() {
        assert_eq!(hear(br#"{"type":"assistant","message":{}}"#), Heard::Working);
        assert_eq!(hear(br#"{"type":"system","subtype":"init"}"#), Heard::Working);
        assert_eq!(hear(br#"{"type":"result","result":"done"}"#), Heard::Finished);
        assert_eq!(hear(br#"{"type":"user"}"#), Heard::Other);
        assert_eq!(hear(b"assistant"), Heard::Other);
    }

    #[test]
    fn a_log_begins_anew_at_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = Log::open(folder.path().join(LOG)).unwrap();
        let piece = vec![b'x'; 1024 * 1024];
        for _ in 0..20 {
            log.write(&piece);
        }
        let total: u64 = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|f| f.unwrap().metadata().unwrap().len())
            .sum();
        assert!(total <= 2 * (CHILD_LOG_BYTES_MAX + 2 * 1024 * 1024), "{total}");
    }
}
