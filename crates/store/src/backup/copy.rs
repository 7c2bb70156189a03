//! Copying a whole database to a file while it is in use.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::digest::Digests;
use super::files::{Partial, make_durable};
use super::verify::{BackupReport, verify_backup};
use super::watch::{BackupStep, Watch};
use crate::driver::sqlite;
use crate::error::{Result, StoreError};

/// Pages copied between two looks at the writer.
const PAGES_PER_STEP: i32 = 1_024;

/// Copies a whole database file to another while it is in use. Whatever has the target's name is
/// replaced, so the caller must know that it is nothing but an older backup. Blocks.
pub fn backup(source: &Path, target: &Path, watch: &Watch<'_>) -> Result<BackupReport> {
    let partial = Partial::beside(target)?;
    copy(source, partial.path(), watch).map_err(|error| watch.meant(error))?;
    let report = verify_backup(partial.path(), watch)?;
    make_durable(partial.path())?;
    partial.rename(target)?;
    Ok(BackupReport { path: target.to_owned(), ..report })
}

fn copy(source: &Path, target: &Path, watch: &Watch<'_>) -> Result<()> {
    let mut reader = sqlite::open_reader(source)?;
    watch.attach(&mut reader)?;
    // One long snapshot: what is committed meanwhile stays out, and the copy never starts over.
    reader.execute_batch("BEGIN; SELECT count(*) FROM hub_fact;")?;
    let mut copy = Connection::open(target)?;
    copy_pages(&reader, &mut copy, watch)?;
    copy.execute_batch("PRAGMA journal_mode = DELETE")?;
    // Of what was to be copied, not of the copy: so a page that went wrong on the way is found too.
    Digests::of(&reader, watch)?.keep(&copy)
}

fn copy_pages(reader: &Connection, copy: &mut Connection, watch: &Watch<'_>) -> Result<()> {
    let backup = Backup::new(reader, copy)?;
    loop {
        match backup.step(PAGES_PER_STEP)? {
            StepResult::Done => return Ok(()),
            StepResult::More => {
                let state = backup.progress();
                let pages = |count: i32| u64::try_from(count).unwrap_or(0);
                let done = pages(state.pagecount.saturating_sub(state.remaining));
                watch.at(BackupStep::Copying, done, pages(state.pagecount))?;
            }
            _ => {
                let why = "another process holds the file that is being written";
                return Err(StoreError::BadBackup(why.to_owned()));
            }
        }
    }
}
