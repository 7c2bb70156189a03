//! The lock that whoever writes to a thread holds: Codex' own registry of live sessions.
//!
//! An app server holds it for each thread it has loaded, before the first turn already; a terminal
//! without an app server and `codex exec` hold it themselves. It is gone with the process.

use std::fs::{File, TryLockError};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::limits::PROC_BYTES_MAX;
use super::thread_id::ThreadId;

/// Who writes to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// Somebody does.
    Some,
    /// Nobody does.
    None,
    /// It cannot be told.
    Unknown,
}

/// The folder of locks.
pub(super) fn folder(home: &Path) -> PathBuf {
    home.join("thread-writer-locks")
}

/// Whether somebody writes to a thread now.
pub(super) fn writer(home: &Path, id: &ThreadId) -> Writer {
    let folder = folder(home);
    if !folder.is_dir() {
        return Writer::Unknown;
    }
    let file = match File::open(folder.join(format!("{id}.lock"))) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Writer::None,
        Err(_) => return Writer::Unknown,
    };
    if is_listed(&file) {
        return Writer::Some;
    }
    // Not every file system shows in the kernel's list the number that it shows in the folder. Trying
    // disturbs somebody who takes the lock in this very moment, so it comes second.
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Writer::Some,
        Err(TryLockError::Error(_)) => Writer::Unknown,
        Ok(()) => Writer::None,
    }
}

/// Whether the kernel's list of locks names this file.
fn is_listed(file: &File) -> bool {
    let Ok(number) = file.metadata().map(|metadata| metadata.ino().to_string()) else {
        return false;
    };
    let mut list = String::new();
    let Ok(locks) = File::open("/proc/locks") else { return false };
    if locks.take(PROC_BYTES_MAX).read_to_string(&mut list).is_err() {
        return false;
    }
    list.lines().filter(|line| line.contains("FLOCK")).any(|line| {
        let file = line.split_ascii_whitespace().find(|word| word.matches(':').count() == 2);
        file.and_then(|file| file.rsplit(':').next()) == Some(number.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_a_writer_exactly_while_its_lock_is_held() {
        let home = tempfile::tempdir().unwrap();
        let id = ThreadId::parse("01a1dfac-c6ae-7861-9fab-bcfdd1d9c997").unwrap();
        assert_eq!(writer(home.path(), &id), Writer::Unknown, "an older Codex has no locks");
        std::fs::create_dir(folder(home.path())).unwrap();
        assert_eq!(writer(home.path(), &id), Writer::None);
        let path = folder(home.path()).join(format!("{id}.lock"));
        let lock = File::create(&path).unwrap();
        assert_eq!(writer(home.path(), &id), Writer::None, "left behind by a killed one");
        lock.lock().unwrap();
        assert_eq!(writer(home.path(), &id), Writer::Some);
        lock.unlock().unwrap();
        assert_eq!(writer(home.path(), &id), Writer::None);
    }
}
