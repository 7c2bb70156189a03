//! `hook.log` in the data folder: why a hook did not do its work.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use hub::{Clock, SystemClock};

use crate::paths::Place;

/// Bytes of the log; then it begins anew.
const LOG_BYTES_MAX: u64 = 256 * 1024;

/// Notes what went wrong. Where even that fails there is nobody left to tell.
pub(crate) fn note(place: &Place, hook: &str, error: &anyhow::Error) {
    // A folder that nobody made yet is not made for a complaint.
    if place.folder.is_dir() {
        drop(write(place, hook, error));
    }
}

fn write(place: &Place, hook: &str, error: &anyhow::Error) -> std::io::Result<()> {
    let path = place.folder.join("hook.log");
    let is_full = path.metadata().is_ok_and(|found| found.len() > LOG_BYTES_MAX);
    let mut options = File::options();
    options.create(true).mode(0o600);
    let mut log = if is_full {
        options.write(true).truncate(true).open(path)?
    } else {
        options.append(true).open(path)?
    };
    let line = crate::output::safe(&format!("{error:#}")).replace('\n', " ");
    writeln!(log, "{} {hook}: {line}", SystemClock.now())
}
