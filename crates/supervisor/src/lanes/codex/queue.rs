//! `codex queue`: the second choice for a session that lives.
//!
//! Its text is an argument, which other users of the machine can read: only the bare template goes
//! this way. What is queued runs after the current turn, and stays when that is interrupted.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use super::limits::{COMMAND_TIME_MAX, NOTICE_BYTES_MAX, ROLLOUT_BYTES_MAX};
use super::thread_id::ThreadId;
use crate::session::{Handed, Lane, LaneError, Notice};

const LANE: Lane = Lane::CodexQueue;

/// Queues a notice. `command` is bare; `server` is the private app server of the session, if any.
pub(super) async fn add(
    mut command: Command,
    server: Option<&Path>,
    id: &ThreadId,
    notice: &Notice,
) -> Result<Handed, LaneError> {
    let closed = |why: String| LaneError::Closed { lane: LANE, why };
    if !is_plain(&notice.typed) || !notice.typed.contains(&notice.wake_id) {
        return Err(closed("its text does not belong on a command line".to_owned()));
    }
    command.args(["queue", "--thread", id.as_str(), "--message", &notice.typed]);
    if let Some(server) = server {
        command.arg("--remote").arg(format!("unix://{}", server.display()));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    let child =
        command.spawn().map_err(|error| closed(format!("it cannot be started ({error})")))?;
    let unsure = |why: String| LaneError::Unsure { lane: LANE, why };
    let output = timeout(COMMAND_TIME_MAX, child.wait_with_output())
        .await
        .map_err(|_| unsure("it did not end in time".to_owned()))?
        .map_err(|error| unsure(error.to_string()))?;
    if output.status.success() {
        let vendor_id = Some(id.as_str().to_owned());
        return Ok(Handed { vendor_id, process: None, log: None });
    }
    let words = String::from_utf8_lossy(&output.stderr);
    if words.contains("no rollout found") {
        Err(closed("Codex queues only for sessions that have had a turn".to_owned()))
    } else if words.contains("failed to queue") || output.status.code() == Some(2) {
        Err(closed(format!("it ended with {}", output.status)))
    } else {
        Err(unsure(format!("it ended with {}", output.status)))
    }
}

/// Whether the file of the queue holds this id; `None` when it cannot be read whole. What was taken
/// out of it may still be found, and was handed over just as well.
pub(super) fn file_holds(home: &Path, wake_id: &str) -> Option<bool> {
    for file in files(home) {
        let file = match std::fs::File::open(file) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        let size = file.metadata().ok()?.len();
        if size > ROLLOUT_BYTES_MAX {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(ROLLOUT_BYTES_MAX).read_to_end(&mut bytes).ok()?;
        if String::from_utf8_lossy(&bytes).contains(wake_id) {
            return Some(true);
        }
    }
    Some(false)
}

fn files(home: &Path) -> [PathBuf; 2] {
    [home.join("queue_1.sqlite"), home.join("queue_1.sqlite-wal")]
}

fn is_plain(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || b" _.,:;()[]-".contains(&byte);
    text.starts_with('[') && text.len() <= NOTICE_BYTES_MAX && text.bytes().all(is_sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bare_template_reaches_a_command_line() {
        assert!(is_plain("[waystation wake wk_1] Thread th_1 has 2 unread message(s) for you."));
        for text in ["--resume", "[x] $(id)", "[x]\nsecond", "[x] “quoted”", "[x]\u{1b}", ""] {
            assert!(!is_plain(text), "{text:?}");
        }
    }

    #[test]
    fn what_was_queued_is_found_in_the_file_of_the_queue() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(file_holds(home.path(), "wk_1"), Some(false));
        std::fs::write(home.path().join("queue_1.sqlite-wal"), b"\xff\0text wk_1]\0").unwrap();
        assert_eq!(file_holds(home.path(), "wk_1"), Some(true));
        assert_eq!(file_holds(home.path(), "wk_2"), Some(false));
    }
}
