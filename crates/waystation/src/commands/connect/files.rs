//! Changing a person's files: a copy first, then all or nothing, with the permissions they had.

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A configuration is never so large; something else is.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Copies that one second can have.
const BACKUPS_PER_SECOND_MAX: usize = 100;

/// Reads a file; `None` when there is none.
pub(super) fn read(path: &Path) -> Result<Option<String>> {
    let reading = || format!("cannot read {}", path.display());
    match std::fs::metadata(path) {
        Ok(found) if found.len() > FILE_BYTES_MAX => bail!("{} is too large", path.display()),
        Ok(_) => Ok(Some(std::fs::read_to_string(path).with_context(reading)?)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(reading),
    }
}

/// Writes a file whole or not at all. A link stays a link; what it points to is written.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let writing = || format!("cannot write {}", path.display());
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().context("a file stands in a folder")?;
    std::fs::create_dir_all(folder).with_context(writing)?;
    let name = target.file_name().context("a file has a name")?.to_string_lossy().into_owned();
    let beside = folder.join(format!(".{name}.waystation-{}", std::process::id()));
    let mode = std::fs::metadata(&target).map_or(0o600, |found| found.permissions().mode());
    let put = || -> std::io::Result<()> {
        let mut file =
            File::options().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(mode & 0o7777))?;
        file.sync_all()?;
        std::fs::rename(&beside, &target)
    };
    put()
        .inspect_err(|_| {
            // What could not be put in place is of no use; the error matters more.
            std::fs::remove_file(&beside).ok();
        })
        .with_context(writing)
}

/// Copies a file beside itself, under a name that says when.
pub(super) fn back_up(path: &Path, now: jiff::Timestamp) -> Result<PathBuf> {
    let stamp = now.strftime("%Y%m%dT%H%M%SZ");
    let name = path.file_name().context("a file has a name")?.to_string_lossy().into_owned();
    for count in 0..BACKUPS_PER_SECOND_MAX {
        let again = if count == 0 { String::new() } else { format!("-{count}") };
        let copy = path.with_file_name(format!("{name}.before-waystation-{stamp}{again}"));
        if copy.symlink_metadata().is_ok() {
            continue;
        }
        std::fs::copy(path, &copy)
            .with_context(|| format!("cannot copy {} before changing it", path.display()))?;
        return Ok(copy);
    }
    bail!("there are too many copies of {} already", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_keeps_its_permissions_and_a_link_stays_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("real.toml");
        let link = folder.path().join("config.toml");
        std::fs::write(&file, "before").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let copy = back_up(&link, jiff::Timestamp::UNIX_EPOCH).unwrap();
        let second = back_up(&link, jiff::Timestamp::UNIX_EPOCH).unwrap();
        assert_ne!(copy, second);
        write(&link, "after").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "after");
        assert_eq!(std::fs::read_to_string(&copy).unwrap(), "before");
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
