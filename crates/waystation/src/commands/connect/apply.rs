//! Carrying out what was shown.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::files;
use super::plan::Plan;
use super::record::Record;

/// What undoing and doing share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Put our lines in.
    Connect,
    /// Take them out.
    Undo,
}

/// Changes one file, and answers where the copy of what was before is.
pub(super) fn apply(
    plan: &Plan,
    direction: Direction,
    folder: &Path,
    now: jiff::Timestamp,
) -> Result<Option<PathBuf>> {
    let path = &plan.target.path;
    if files::read(path)? != plan.before {
        bail!(
            "{} was changed by somebody else just now; run this again to see what it says",
            crate::paths::shown(path)
        );
    }
    let mut record = Record::load(folder)?;
    // Remembered first: a line whose origin is forgotten could not be taken out.
    if direction == Direction::Connect {
        record.add(path, plan.changes.clone());
        record.save(folder)?;
    }
    let backup = plan.before.as_ref().map(|_| files::back_up(path, now)).transpose()?;
    match &plan.after {
        Some(text) => files::write(path, text)?,
        None => std::fs::remove_file(path)
            .with_context(|| format!("cannot remove {}", crate::paths::shown(path)))?,
    }
    if direction == Direction::Undo {
        record.remove(path);
        record.save(folder)?;
    }
    Ok(backup)
}
