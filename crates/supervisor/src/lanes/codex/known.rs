//! What installed programs can do, remembered by their files: asking takes several processes, and the
//! answer holds until the file is another one.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::limits::KNOWN_PROGRAMS_MAX;
use super::version::Abilities;

/// What is known of programs. Those who share it ask each program once.
#[derive(Debug, Default)]
pub struct Known {
    programs: Mutex<HashMap<Mark, Abilities>>,
}

/// A file as it is now: another one by the same name, or a changed one, has another mark.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Mark {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Mark {
    /// That of a program by its file, or by a name that is looked up; `None` when there is none.
    pub(super) fn of(file: &Path) -> Option<Self> {
        let path = if file.components().count() > 1 {
            file.to_owned()
        } else {
            let search = std::env::var_os("PATH").unwrap_or_default();
            found(&search, file)?
        };
        let path = path.canonicalize().ok()?;
        let about = std::fs::metadata(&path).ok()?;
        Some(Self {
            path,
            device: about.dev(),
            inode: about.ino(),
            bytes: about.size(),
            changed: (about.ctime(), about.ctime_nsec()),
        })
    }
}

fn found(search: &OsStr, name: &Path) -> Option<PathBuf> {
    std::env::split_paths(search).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Known {
    /// What a program can do, if it was asked.
    pub(super) fn get(&self, mark: &Mark) -> Option<Abilities> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner).get(mark).cloned()
    }

    /// Remembers what a program can do, and forgets what it was before.
    pub(super) fn put(&self, mark: Mark, abilities: Abilities) {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        programs.retain(|known, _| known.path != mark.path);
        if programs.len() >= KNOWN_PROGRAMS_MAX {
            programs.clear();
        }
        programs.insert(mark, abilities);
    }
}
