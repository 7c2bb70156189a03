//! A thread's rollout: the file into which Codex writes, line by line, all that is said and done.
//!
//! What it says is proof: a notice that stands there as a user's message has reached the thread.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::limits::{
    ROLLOUT_BYTES_MAX, ROLLOUT_ENTRIES_MAX, ROLLOUT_LINE_BYTES_MAX, ROLLOUT_RECENT_BYTES_MAX,
    ROLLOUT_RECENT_DAYS_MAX,
};
use super::thread_id::ThreadId;
use super::version::Version;
use crate::session::Activity;

/// How far back to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// All that may be read.
    All,
    /// Only what was written a short while ago.
    Recent,
}

/// Among which rollouts to look for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Age {
    /// Among all.
    Any,
    /// Among those of the last days.
    Days,
}

/// Where the rollout of a thread lies; `None` before its first turn.
pub(super) fn find(home: &Path, id: &ThreadId, known: Option<&Path>, age: Age) -> Option<PathBuf> {
    let ending = format!("-{id}.jsonl");
    let is_it = |path: &Path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(&ending))
    };
    if let Some(known) = known.filter(|path| is_it(path) && path.is_file()) {
        return Some(known.to_owned());
    }
    let mut entries_left = ROLLOUT_ENTRIES_MAX;
    let mut days_left = match age {
        Age::Any => ROLLOUT_ENTRIES_MAX,
        Age::Days => ROLLOUT_RECENT_DAYS_MAX,
    };
    // Folders are years, months and days: the newest first, since wakes are for recent sessions.
    for year in newest_first(&home.join("sessions"), &mut entries_left) {
        for month in newest_first(&year, &mut entries_left) {
            for day in newest_first(&month, &mut entries_left) {
                days_left = days_left.checked_sub(1)?;
                let files = newest_first(&day, &mut entries_left);
                if let Some(found) = files.into_iter().find(|file| is_it(file)) {
                    return Some(found);
                }
            }
        }
    }
    None
}

fn newest_first(folder: &Path, entries_left: &mut usize) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).take(*entries_left).collect();
    *entries_left = entries_left.saturating_sub(paths.len());
    paths.sort_unstable_by(|a, b| b.cmp(a));
    paths
}

/// Whether a notice stands there as a user's message; `None` when the file cannot be read whole.
pub(super) fn holds_notice(rollout: &Path, wake_id: &str, reach: Reach) -> Option<bool> {
    let mut is_there = false;
    let was_whole = for_each_line(rollout, reach, |line| {
        is_there = line.contains(wake_id) && is_users(line, wake_id);
        !is_there
    })?;
    (is_there || was_whole || reach == Reach::Recent).then_some(is_there)
}

/// What the thread is doing: a turn that began and did not end is running.
pub(super) fn activity(rollout: &Path) -> Activity {
    let mut activity = Activity::Unknown;
    let read = for_each_line(rollout, Reach::Recent, |line| {
        // Only lines that can matter are parsed; the words stand in every such line.
        if line.contains("\"task_") || line.contains("\"turn_aborted\"") {
            match event_of(line).as_deref() {
                Some("task_started") => activity = Activity::Busy,
                Some("task_complete" | "turn_aborted") => activity = Activity::Idle,
                _ => {}
            }
        }
        true
    });
    if read.is_some() { activity } else { Activity::Unknown }
}

/// Which version of Codex made the thread.
pub(super) fn made_by(rollout: &Path) -> Option<Version> {
    Version::parse(first_line(rollout)?.pointer("/payload/cli_version")?.as_str()?)
}

/// Whether the thread is that of a human's session, not one that an agent opened for a helper.
pub(super) fn is_main(rollout: &Path) -> bool {
    let first = first_line(rollout).unwrap_or_default();
    let helper = first.pointer("/payload/source/subagent");
    helper.or_else(|| first.pointer("/payload/parent_thread_id")).is_none_or(Value::is_null)
}

fn first_line(rollout: &Path) -> Option<Value> {
    let mut line = String::new();
    let limit = u64::try_from(ROLLOUT_LINE_BYTES_MAX).unwrap_or(u64::MAX);
    BufReader::new(File::open(rollout).ok()?.take(limit)).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Calls for each whole line until `keep_on` says no. `Some(true)` when the file was read from its
/// beginning, `Some(false)` when only its end was, `None` when it could not be read.
fn for_each_line(
    rollout: &Path,
    reach: Reach,
    mut keep_on: impl FnMut(&str) -> bool,
) -> Option<bool> {
    let mut file = match File::open(rollout) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Some(true),
        Err(_) => return None,
    };
    let bytes_max = match reach {
        Reach::All => ROLLOUT_BYTES_MAX,
        Reach::Recent => ROLLOUT_RECENT_BYTES_MAX,
    };
    let from = file.metadata().ok()?.len().saturating_sub(bytes_max);
    file.seek(SeekFrom::Start(from)).ok()?;
    let mut reader = BufReader::with_capacity(256 * 1024, file);
    let line_max = u64::try_from(ROLLOUT_LINE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut line = Vec::new();
    loop {
        line.clear();
        let count = reader.by_ref().take(line_max).read_until(b'\n', &mut line).ok()?;
        if count == 0 || !line.ends_with(b"\n") && count < ROLLOUT_LINE_BYTES_MAX {
            return Some(from == 0);
        }
        // A line cut at either end is no JSON and matches nothing.
        if std::str::from_utf8(&line).is_ok_and(|line| !keep_on(line)) {
            return Some(from == 0);
        }
    }
}

fn event_of(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    (line.get("type")? == "event_msg").then_some(())?;
    line.pointer("/payload/type")?.as_str().map(str::to_owned)
}

/// Whether a line is a message of the user that holds this id. Agents see ids of wakes in answers of
/// tools as well, and those prove nothing.
fn is_users(line: &str, wake_id: &str) -> bool {
    let Ok(line) = serde_json::from_str::<Value>(line) else { return false };
    let Some(payload) = line.get("payload") else { return false };
    let at = |pointer: &str| payload.pointer(pointer).and_then(Value::as_str);
    let said = match (line.get("type").and_then(Value::as_str), at("/type")) {
        (Some("response_item"), Some("message")) if at("/role") == Some("user") => {
            payload.get("content")
        }
        (Some("event_msg"), Some("item_completed")) if at("/item/type") == Some("UserMessage") => {
            payload.get("item")
        }
        (Some("event_msg"), Some("user_message")) => Some(payload),
        _ => None,
    };
    said.is_some_and(|said| said.to_string().contains(wake_id))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const ID: &str = "01a1dfac-c6ae-7861-9fab-bcfdd1d9c997";
    const META: &str =
        r#"{"type":"session_meta","payload":{"id":"x","cwd":"/p","cli_version":"0.166.0"}}"#;
    const STARTED: &str = r#"{"type":"event_msg","payload":{"type":"task_started"}}"#;
    const SAID: &str = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"[waystation wake wk_1] Thread"}]}}"#;
    const SEEN: &str = r#"{"type":"response_item","payload":{"type":"function_call_output","output":"wk_2 requested"}}"#;
    const COMPLETE: &str = r#"{"type":"event_msg","payload":{"type":"task_complete"}}"#;

    fn home_with(lines: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let home = tempfile::tempdir().unwrap();
        let day = home.path().join("sessions/2026/11/15");
        std::fs::create_dir_all(&day).unwrap();
        let path = day.join(format!("rollout-2026-11-15T14-46-44-{ID}.jsonl"));
        let mut file = File::create(&path).unwrap();
        for line in lines {
            writeln!(file, "{line}").unwrap();
        }
        (home, path)
    }

    #[test]
    fn a_rollout_is_found_by_its_id_alone() {
        let (home, path) = home_with(&[META]);
        let id = ThreadId::parse(ID).unwrap();
        assert_eq!(find(home.path(), &id, None, Age::Any), Some(path.clone()));
        assert_eq!(find(home.path(), &id, Some(&path), Age::Any), Some(path.clone()));
        let wrong = Path::new("/etc/passwd");
        assert_eq!(find(home.path(), &id, Some(wrong), Age::Any), Some(path.clone()));
        assert_eq!(find(home.path(), &id, None, Age::Days), Some(path.clone()));
        for day in ["16", "17", "18"] {
            std::fs::create_dir(home.path().join("sessions/2026/11").join(day)).unwrap();
        }
        assert_eq!(find(home.path(), &id, None, Age::Days), None);
        let other = ThreadId::parse("01a1dfac-c6ae-7861-9fab-bcfdd1d9c998").unwrap();
        assert_eq!(find(home.path(), &other, Some(&path), Age::Any), None);
        assert_eq!(made_by(&path), Version::parse("0.166.0"));
        assert!(is_main(&path));
        let helper = r#"{"type":"session_meta","payload":{"source":{"subagent":"review"}}}"#;
        std::fs::write(&path, helper).unwrap();
        assert!(!is_main(&path));
    }

    #[test]
    fn only_what_stands_there_as_a_users_message_has_arrived() {
        let (_home, path) = home_with(&[META, STARTED, SAID, SEEN]);
        assert_eq!(holds_notice(&path, "wk_1", Reach::All), Some(true));
        assert_eq!(holds_notice(&path, "wk_1", Reach::Recent), Some(true));
        assert_eq!(holds_notice(&path, "wk_2", Reach::All), Some(false), "a tool's answer");
        assert_eq!(holds_notice(&path, "wk_3", Reach::All), Some(false));
        assert_eq!(holds_notice(Path::new("/nowhere"), "wk_3", Reach::All), Some(false));
    }

    #[test]
    fn half_a_line_counts_only_when_it_is_whole() {
        let (_home, path) = home_with(&[META]);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(SAID.as_bytes()).unwrap();
        assert_eq!(holds_notice(&path, "wk_1", Reach::Recent), Some(false));
        file.write_all(b"\n").unwrap();
        assert_eq!(holds_notice(&path, "wk_1", Reach::Recent), Some(true));
    }

    #[test]
    fn garbage_between_lines_is_passed_over() {
        let (_home, path) = home_with(&[META, "wk_1 not json", "{\"type\":7}", SAID]);
        assert_eq!(holds_notice(&path, "wk_1", Reach::All), Some(true));
        std::fs::write(&path, [&b"\xff\xfe wk_1\n"[..], b"wk_1\n"].concat()).unwrap();
        assert_eq!(holds_notice(&path, "wk_1", Reach::All), Some(false));
    }

    #[test]
    fn a_turn_that_began_and_did_not_end_is_running() {
        let (_home, path) = home_with(&[META]);
        assert_eq!(activity(&path), Activity::Unknown);
        let (_home, path) = home_with(&[META, STARTED, SAID]);
        assert_eq!(activity(&path), Activity::Busy);
        let (_home, path) = home_with(&[META, STARTED, SAID, COMPLETE]);
        assert_eq!(activity(&path), Activity::Idle);
    }
}
