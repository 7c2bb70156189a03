//! Waiting until a turn has begun because of a notice, by what the program itself writes.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memchr::memmem;

use super::transcript::{self, Mark, Watch};
use crate::limits::{STARTED_LOG_BYTES_MAX, TRANSCRIPT_LOOK_EVERY};
use crate::process;
use crate::session::{Handed, Life};

/// What `claude -p` prints when it goes to work on what it was given.
const AT_WORK: &[u8] = br#""type":"system","subtype":"init""#;

/// Where a transcript is to be expected.
pub(super) struct Place {
    /// Claude Code's folder.
    pub(super) folder: PathBuf,
    /// The session.
    pub(super) vendor_id: Option<String>,
    /// The transcript, where it is known.
    pub(super) known: Option<PathBuf>,
}

impl Place {
    fn transcript(&self) -> Option<PathBuf> {
        let find = || transcript::path_of(&self.folder, self.vendor_id.as_deref()?);
        self.known.clone().or_else(find)
    }
}

/// Waits for the turn; `false` when there was none in time, or when the process ended without one.
pub(super) async fn began(
    place: Place,
    wake_id: &str,
    handed: &Handed,
    patience: Duration,
) -> bool {
    let mut watch: Option<Watch> = None;
    let watching = async {
        loop {
            // Asked before the look: what a process wrote before it ended is seen in any case.
            let process = handed.process.as_ref();
            let has_ended = process.is_some_and(|process| process::life(process) == Life::Dead);
            if watch.is_none() {
                watch = place.transcript().map(|path| Watch::new(path, wake_id));
            }
            if watch.as_mut().and_then(Watch::look) == Some(Mark::InTurn) {
                return true;
            }
            if handed.log.as_deref().is_some_and(is_at_work) {
                return true;
            }
            if has_ended {
                return false;
            }
            tokio::time::sleep(TRANSCRIPT_LOOK_EVERY).await;
        }
    };
    tokio::time::timeout(patience, watching).await.unwrap_or(false)
}

fn is_at_work(log: &Path) -> bool {
    let mut text = Vec::new();
    let read =
        File::open(log).and_then(|log| log.take(STARTED_LOG_BYTES_MAX).read_to_end(&mut text));
    read.is_ok() && memmem::find(&text, AT_WORK).is_some()
}
