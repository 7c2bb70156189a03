//! Files on their way: half-made ones that go away by themselves, and names that outlive a power cut.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use protocol::limits;

use crate::error::{Result, StoreError};
use crate::store::DATABASE_FILE;
use crate::view_file::View;

/// What a backup is copied to before it is put in place.
pub(super) const RESTORE_FILE: &str = "restore.partial";
/// What SQLite puts beside a database file.
pub(super) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// A file that is being made. It is deleted unless it is given its name.
pub(super) struct Partial {
    path: PathBuf,
    is_in_place: bool,
}

impl Partial {
    /// Makes one beside the file it will become, under a name that nothing else has.
    pub(super) fn beside(target: &Path) -> Result<Self> {
        let make = |number: usize| {
            let path = with_suffix(target, &format!(".{number}.partial"));
            File::options().write(true).create_new(true).mode(0o600).open(&path)?;
            Ok::<_, std::io::Error>(Self { path, is_in_place: false })
        };
        let is_taken = |made: &std::io::Result<Self>| {
            made.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::AlreadyExists)
        };
        let mut made = make(1);
        for number in 2..=limits::PARTIAL_FILES_MAX {
            if !is_taken(&made) {
                break;
            }
            made = make(number);
        }
        made.map_err(file_error("make a file beside", target))
    }

    /// Makes way for one under a name that is ours alone: what is there was left by somebody who was killed.
    pub(super) fn replacing(path: PathBuf) -> Result<Self> {
        let partial = Self { path, is_in_place: false };
        partial.remove().map_err(file_error("remove", &partial.path))?;
        Ok(partial)
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name, in place of what had it.
    pub(super) fn rename(mut self, target: &Path) -> Result<()> {
        std::fs::rename(&self.path, target).map_err(file_error("put in place", target))?;
        self.is_in_place = true;
        sync_folder(target)
    }

    fn remove(&self) -> std::io::Result<()> {
        for suffix in [""].into_iter().chain(BESIDE) {
            match std::fs::remove_file(with_suffix(&self.path, suffix)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.is_in_place
            && let Err(error) = self.remove()
        {
            let file = self.path.display();
            tracing::warn!(%error, %file, "a half-made file could not be removed");
        }
    }
}

/// Every file that a store and its views may have in a folder, there or not.
pub fn own_files(folder: &Path) -> Vec<PathBuf> {
    let views = View::ALL.iter().map(|view| view.file(folder));
    let databases = views.chain([folder.join(DATABASE_FILE), folder.join(RESTORE_FILE)]);
    let with_beside = |file: PathBuf| {
        let beside = BESIDE.map(|suffix| with_suffix(&file, suffix));
        [file].into_iter().chain(beside)
    };
    databases.flat_map(with_beside).collect()
}

/// The path with something more at the end of its name.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// Syncs a file, or a folder and with it the names in it.
pub(crate) fn make_durable(path: &Path) -> Result<()> {
    File::open(path).and_then(|file| file.sync_all()).map_err(file_error("make durable", path))
}

/// Syncs the folder that a file is in.
pub(super) fn sync_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    make_durable(folder.unwrap_or(Path::new(".")))
}

/// Says what could not be done with a file.
pub(super) fn file_error(what: &str, path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let what = format!("cannot {what} {}", path.display());
    move |source| StoreError::File { what, source }
}
