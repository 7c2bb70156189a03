//! Where a command may write: to a new file, or over an older one that it wrote. A file that the hub
//! needs is never replaced, by whatever name it is called.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::paths::{self, Place};

/// What a command writes.
pub(super) struct Written {
    /// Its name for people: backup, export.
    pub(super) what: &'static str,
    /// Whether a file is one, so that it may be replaced.
    pub(super) is_one: fn(&Path) -> bool,
}

/// Refuses a file of the hub's, and one that the command did not write.
pub(super) fn check(place: &Place, file: &Path, written: &Written) -> Result<()> {
    let what = written.what;
    let named = file.file_name().with_context(|| format!("{} names no file", file.display()))?;
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let real = folder.canonicalize().with_context(|| {
        format!(
            "cannot write {}: the folder {} cannot be entered",
            file.display(),
            folder.display()
        )
    })?;
    let own = own_files(place)?;
    let target = real.join(named);
    let found = std::fs::metadata(file).ok();
    let is_own = own.iter().any(|own| target.starts_with(own))
        || found.as_ref().is_some_and(|found| own.iter().any(|own| holds(own, found)));
    if is_own {
        bail!(
            "{} is a file of the hub itself, which the {what} would replace; name another file, best on \
             another disk",
            file.display()
        );
    }
    match found {
        Some(found) if !found.is_file() => bail!("{} is no file", file.display()),
        Some(found) if found.len() > 0 && !(written.is_one)(file) => bail!(
            "{} is there already and is no {what}; name another file, or remove it first",
            file.display()
        ),
        _ => Ok(()),
    }
}

/// What the hub reads and writes, in its folder and where its configuration is.
fn own_files(place: &Place) -> Result<Vec<PathBuf>> {
    let folder = &place.folder;
    let mut own = match folder.canonicalize() {
        Ok(folder) => paths::own_files(&folder),
        // A hub that keeps its data elsewhere may have no folder here.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot enter {}", folder.display()));
        }
    };
    own.extend(place.config_file.iter().filter_map(|file| file.canonicalize().ok()));
    Ok(own)
}

/// Whether a file is the one that was found, or a folder holds it; a hard link is the same file.
fn holds(own: &Path, found: &Metadata) -> bool {
    let Ok(about) = std::fs::symlink_metadata(own) else { return false };
    if !about.is_dir() {
        return (about.dev(), about.ino()) == (found.dev(), found.ino());
    }
    let inside = std::fs::read_dir(own).into_iter().flatten().flatten();
    inside.map(|entry| entry.path()).any(|entry| holds(&entry, found))
}

/// A file on its way: it takes its name only when it is whole, and goes away by itself before that.
pub(super) struct Draft {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

impl Draft {
    /// Makes one beside the file it will become; of a link, beside what it leads to.
    pub(super) fn beside(target: &Path) -> std::io::Result<Self> {
        let target = target.canonicalize().unwrap_or_else(|_| target.to_owned());
        let mut name = OsString::from(&target);
        name.push(format!(".{}.partial", std::process::id()));
        let path = PathBuf::from(name);
        let file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { file, path, target })
    }

    /// Where to write.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Gives it its name, in place of what had it; a power cut after that takes nothing away.
    pub(super) fn put_in_place(self) -> std::io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.path, &self.target)?;
        let folder = self.target.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // Once it has its name, there is nothing here any more.
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let file = self.path.display();
                tracing::warn!(%error, %file, "a half-made file could not be removed");
            }
            _ => {}
        }
    }
}
