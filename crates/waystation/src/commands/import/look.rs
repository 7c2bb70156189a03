//! A look at a file or folder: its beginning, and what lies in it.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// How much of a file is looked at.
const HEAD_BYTES_MAX: u64 = 64 * 1024;
/// Names of what lies in an archive or a folder.
const NAMES_MAX: usize = 10_000;
/// Folders within folders.
const DEPTH_MAX: usize = 8;
/// How archives begin.
const ZIP: &[u8] = b"PK\x03\x04";

/// What was seen.
pub(super) struct Found {
    pub(super) head: Vec<u8>,
    pub(super) names: Vec<String>,
    /// Of the file, or of all files of a folder together.
    pub(super) bytes: u64,
    pub(super) is_folder: bool,
}

/// Looks.
pub(super) fn look(path: &Path) -> Result<Found> {
    let failed = || format!("cannot read {}", path.display());
    let metadata = std::fs::metadata(path).with_context(failed)?;
    if metadata.is_dir() {
        let mut found = Found { head: Vec::new(), names: Vec::new(), bytes: 0, is_folder: true };
        walk(path, "", DEPTH_MAX, &mut found).with_context(failed)?;
        if found.names.is_empty() {
            bail!("{} is an empty folder", path.display());
        }
        found.names.sort_unstable();
        return Ok(found);
    }
    if metadata.len() == 0 {
        bail!("{} is empty", path.display());
    }
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES_MAX).read_to_end(&mut head))
        .with_context(failed)?;
    let names = if head.starts_with(ZIP) { archive_names(path)? } else { Vec::new() };
    Ok(Found { head, names, bytes: metadata.len(), is_folder: false })
}

fn archive_names(path: &Path) -> Result<Vec<String>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let archive = zip::ZipArchive::new(file).with_context(|| {
        format!("{} is a damaged archive; export it or download it again", path.display())
    })?;
    // A name that is no text is no name an importer looks for.
    let names = archive.file_names().take(NAMES_MAX).filter_map(Result::ok);
    Ok(names.map(Cow::into_owned).collect())
}

fn walk(folder: &Path, prefix: &str, depth: usize, found: &mut Found) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        if found.names.len() >= NAMES_MAX {
            return Ok(());
        }
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        // Links are not followed: they may lead anywhere, and in circles.
        let kind = entry.file_type()?;
        if kind.is_dir() && depth > 0 {
            walk(&entry.path(), &format!("{name}/"), depth - 1, found)?;
        } else if kind.is_file() {
            found.bytes = found.bytes.saturating_add(entry.metadata()?.len());
            found.names.push(name);
        }
    }
    Ok(())
}
