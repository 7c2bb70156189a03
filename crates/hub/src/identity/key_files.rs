//! The folder of signing keys: one `token-<kid>.pk8` each, readable by the hub's user alone.
//!
//! A file's modification time says which key is newest. If a restored backup loses it another key
//! signs for a while, which harms nobody because all of them verify.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use protocol::Timestamp;

use super::error::IdentityError;

const FOLDER_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;
const OTHERS: u32 = 0o077;
const PREFIX: &str = "token-";
const SUFFIX: &str = ".pk8";
/// An Ed25519 key takes 83 bytes.
const FILE_BYTES_MAX: u64 = 1024;
/// Keys of one folder.
const KEYS_MAX: usize = 64;

/// A key as it lies in the folder.
pub(super) struct KeyFile {
    pub(super) path: PathBuf,
    pub(super) key_id: String,
    pub(super) pkcs8: Vec<u8>,
    pub(super) made_at: Timestamp,
}

/// Makes the folder if it is missing, and refuses one that others can look into.
pub(super) fn prepare(folder: &Path) -> Result<(), IdentityError> {
    DirBuilder::new()
        .recursive(true)
        .mode(FOLDER_MODE)
        .create(folder)
        .map_err(|source| failed(folder, source))?;
    let metadata = std::fs::metadata(folder).map_err(|source| failed(folder, source))?;
    require_private(folder, metadata.permissions().mode(), FOLDER_MODE)
}

/// Reads every key of the folder; other files are none of our business.
pub(super) fn read(folder: &Path) -> Result<Vec<KeyFile>, IdentityError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|source| failed(folder, source))? {
        let entry = entry.map_err(|source| failed(folder, source))?;
        let name = entry.file_name();
        let key_id = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        if let Some(key_id) = key_id {
            found.push(read_one(entry.path(), key_id)?);
        }
        if found.len() > KEYS_MAX {
            let source = io::Error::other("more than 64 keys; remove old ones");
            return Err(failed(folder, source));
        }
    }
    Ok(found)
}

/// Writes a new key so that after a crash it is there whole or not at all.
pub(super) fn write(
    folder: &Path,
    key_id: &str,
    pkcs8: &[u8],
    made_at: Timestamp,
) -> Result<(), IdentityError> {
    let path = folder.join(format!("{PREFIX}{key_id}{SUFFIX}"));
    let unfinished = folder.join(format!(".{key_id}.unfinished"));
    write_file(&unfinished, pkcs8, made_at)
        .and_then(|()| std::fs::rename(&unfinished, &path))
        .and_then(|()| File::open(folder)?.sync_all())
        .map_err(|source| failed(&path, source))
}

fn write_file(path: &Path, pkcs8: &[u8], made_at: Timestamp) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(FILE_MODE).open(path)?;
    file.write_all(pkcs8)?;
    let since_1970 = Duration::from_millis(made_at.as_ms().max(0).unsigned_abs());
    file.set_modified(UNIX_EPOCH + since_1970)?;
    file.sync_all()
}

fn read_one(path: PathBuf, key_id: &str) -> Result<KeyFile, IdentityError> {
    // The link itself is looked at, so that a key cannot lie in an open folder elsewhere.
    let metadata = std::fs::symlink_metadata(&path).map_err(|source| failed(&path, source))?;
    if !metadata.is_file() || metadata.len() > FILE_BYTES_MAX {
        return Err(IdentityError::KeyFileMalformed { path });
    }
    require_private(&path, metadata.permissions().mode(), FILE_MODE)?;
    let modified = metadata.modified().map_err(|source| failed(&path, source))?;
    let age = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut pkcs8 = Vec::new();
    File::open(&path)
        .and_then(|file| file.take(FILE_BYTES_MAX).read_to_end(&mut pkcs8))
        .map_err(|source| failed(&path, source))?;
    let made_at = Timestamp::from_ms(i64::try_from(age.as_millis()).unwrap_or(i64::MAX));
    Ok(KeyFile { path, key_id: key_id.to_owned(), pkcs8, made_at })
}

fn require_private(path: &Path, mode: u32, wanted: u32) -> Result<(), IdentityError> {
    if mode & OTHERS == 0 {
        return Ok(());
    }
    Err(IdentityError::KeysOpenToOthers { path: path.to_owned(), mode: mode & 0o7777, wanted })
}

fn failed(path: &Path, source: io::Error) -> IdentityError {
    IdentityError::KeyFile { path: path.to_owned(), source }
}
