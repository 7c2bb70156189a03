//! Where a backup may be written: to a new file, or over an older backup. A file that the hub needs is
//! never replaced, by whatever name it is called.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::paths;

/// Refuses a file of the hub's, and one that is no backup.
pub(super) fn check(data: &Path, file: &Path) -> Result<()> {
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
    let data = data.canonicalize().with_context(|| format!("cannot enter {}", data.display()))?;
    let own = paths::own_files(&data);
    let place = real.join(named);
    let found = std::fs::metadata(file).ok();
    let is_own = own.iter().any(|own| place.starts_with(own))
        || found.as_ref().is_some_and(|found| own.iter().any(|own| holds(own, found)));
    if is_own {
        bail!(
            "{} is a file of the hub itself, which a backup would replace; name another file, best on \
             another disk",
            file.display()
        );
    }
    match found {
        Some(found) if !found.is_file() => bail!("{} is no file", file.display()),
        Some(found) if found.len() > 0 && !store::is_backup(file) => bail!(
            "{} is there already and is no backup; name another file, or remove it first",
            file.display()
        ),
        _ => Ok(()),
    }
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
