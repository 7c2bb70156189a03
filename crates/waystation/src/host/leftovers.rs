//! What ended sessions leave behind: their folders and the logs of processes that were started for
//! them. For a while they prove what arrived; then they go, and there are never too many of them.

use std::fs::{DirEntry, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use protocol::limits::wake as limits;
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use supervisor::{Life, life};
use tokio_util::sync::CancellationToken;

use super::claims::process_of;
use crate::paths::{LOGS, Place};

/// Something that can go.
struct Leftover {
    entry: DirEntry,
    changed: SystemTime,
    bytes: u64,
}

/// How many leftovers of a sort may stay.
struct Room {
    count_max: usize,
    bytes_max: u64,
}

/// Removes what ended sessions left long ago, or too much of it.
pub(crate) fn sweep(place: &Place) {
    let folders = entries(&place.run_folders()).filter(|entry| entry.file_name() != LOGS);
    let ended = folders.filter(|entry| is_ended(&entry.path()));
    let room = Room { count_max: limits::RUN_FOLDERS_MAX, bytes_max: u64::MAX };
    for leftover in superfluous(ended, &room) {
        report(std::fs::remove_dir_all(leftover.entry.path()));
    }
    let logs = entries(&place.logs_folder()).filter(|entry| !is_written(&entry.path()));
    let room = Room { count_max: limits::RUN_LOGS_MAX, bytes_max: limits::RUN_LOGS_BYTES_MAX };
    for leftover in superfluous(logs, &room) {
        report(std::fs::remove_file(leftover.entry.path()));
    }
}

/// Does so now and then, until told to stop.
pub(super) async fn keep_swept(place: Place, stop: CancellationToken) {
    let mut pause = tokio::time::interval(limits::RUN_SWEEP_EVERY);
    loop {
        tokio::select! {
            _ = pause.tick() => {}
            () = stop.cancelled() => return,
        }
        let place = place.clone();
        if let Err(error) = tokio::task::spawn_blocking(move || sweep(&place)).await {
            tracing::warn!(%error, "leftovers of ended sessions stay");
        }
    }
}

/// Those that are too old, and the oldest where there are too many. A young one always stays: a wake
/// that is being handed over may need it.
fn superfluous(found: impl Iterator<Item = DirEntry>, room: &Room) -> Vec<Leftover> {
    let mut all: Vec<Leftover> = found.filter_map(Leftover::of).collect();
    all.sort_by_key(|leftover| std::cmp::Reverse(leftover.changed));
    let mut bytes = 0_u64;
    let is_too_much = |(place, leftover): (usize, Leftover)| {
        bytes = bytes.saturating_add(leftover.bytes);
        // What comes from the future is young.
        let age = leftover.changed.elapsed().unwrap_or(Duration::ZERO);
        let is_full = place >= room.count_max || bytes > room.bytes_max;
        let is_old =
            age > limits::RUN_LEFTOVER_KEPT_MAX || (is_full && age > limits::RUN_LEFTOVER_KEPT_MIN);
        is_old.then_some(leftover)
    };
    all.into_iter().enumerate().filter_map(is_too_much).collect()
}

impl Leftover {
    /// With the time of the newest change in it.
    fn of(entry: DirEntry) -> Option<Self> {
        let own = entry.metadata().ok()?;
        let inner =
            entries(&entry.path()).filter_map(|inner| inner.metadata().ok()?.modified().ok());
        let changed = inner.chain(own.modified().ok()).max()?;
        Some(Self { entry, changed, bytes: own.len() })
    }
}

/// Whether no process that is written down in a session's folder lives.
fn is_ended(folder: &Path) -> bool {
    let record = |name: &str| -> Option<Value> {
        serde_json::from_slice(&std::fs::read(folder.join(name)).ok()?).ok()
    };
    let keeper = record("keeper.json").and_then(|keeper| process_of(&keeper));
    let child = record("child.json").and_then(|child| process_of(child.get("process")?));
    folder.is_dir() && keeper.into_iter().chain(child).all(|process| life(&process) == Life::Dead)
}

/// Whether a process that was started with this log still works: it holds the lock.
fn is_written(log: &Path) -> bool {
    File::open(log).is_ok_and(|log| flock(&log, FlockOperation::NonBlockingLockShared).is_err())
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten()
}

fn report(removed: std::io::Result<()>) {
    if let Err(error) = removed {
        tracing::debug!(%error, "a leftover of an ended session stays");
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;
    use supervisor::Process;

    use super::*;
    use crate::config::Environment;

    const HOUR: Duration = Duration::from_hours(1);

    struct Scene {
        place: Place,
        _folder: tempfile::TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let place = Place {
                folder: folder.path().to_owned(),
                config_file: None,
                environment: Environment::default(),
            };
            std::fs::create_dir_all(place.logs_folder()).unwrap();
            Self { place, _folder: folder }
        }

        fn session(&self, name: &str, file: &str, record: &Value, age: Duration) -> PathBuf {
            let folder = self.place.run_folder(name);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(file), record.to_string()).unwrap();
            make_old(&folder.join(file), age);
            make_old(&folder, age);
            folder
        }

        fn log(&self, name: &str, bytes: u64, age: Duration) -> PathBuf {
            let path = self.place.logs_folder().join(name);
            let file = File::create(&path).unwrap();
            file.set_len(bytes).unwrap();
            make_old(&path, age);
            path
        }
    }

    fn make_old(path: &Path, age: Duration) {
        let now = std::fs::metadata(path).unwrap().modified().unwrap();
        File::open(path).unwrap().set_modified(now - age).unwrap();
    }

    fn process(of: &Process) -> Value {
        json!({ "pid": of.pid, "pid_started": of.started_ticks, "boot_id": of.boot_id })
    }

    fn dead() -> Value {
        json!({ "pid": 1, "pid_started": 1, "boot_id": "another boot" })
    }

    #[test]
    fn folders_of_sessions_that_ended_long_ago_go_and_all_others_stay() {
        let scene = Scene::new();
        let old = limits::RUN_LEFTOVER_KEPT_MAX + HOUR;
        let own = process(&Process::own().unwrap());
        let gone = [
            scene.session("ended", "keeper.json", &dead(), old),
            scene.session("child", "child.json", &json!({ "process": dead() }), old),
            scene.session("broken", "keeper.json", &json!("no record"), old),
        ];
        let kept = [
            scene.session("lately", "keeper.json", &dead(), HOUR * 24),
            scene.session("running", "keeper.json", &own, old),
            scene.session("at-work", "child.json", &json!({ "process": own }), old),
            scene.place.logs_folder(),
        ];
        make_old(&scene.place.logs_folder(), old);
        // A file that was written to lately makes its folder young.
        let fresh = scene.session("fresh", "keeper.json", &dead(), old);
        std::fs::write(fresh.join("keeper.log"), "x").unwrap();
        make_old(&fresh, old);
        sweep(&scene.place);
        assert!(gone.iter().all(|folder| !folder.exists()), "{gone:?}");
        assert!(kept.iter().chain([&fresh]).all(|folder| folder.is_dir()), "{kept:?}");
    }

    #[test]
    fn there_are_never_too_many_but_young_ones_stay() {
        let scene = Scene::new();
        let minute = Duration::from_mins(1);
        let age = |place: usize| HOUR * 2 + minute * u32::try_from(place).unwrap();
        let many = limits::RUN_FOLDERS_MAX + 5;
        let folders: Vec<PathBuf> = (0..many)
            .map(|n| scene.session(&format!("s{n}"), "keeper.json", &dead(), age(n)))
            .collect();
        sweep(&scene.place);
        let (kept, gone) = folders.split_at(limits::RUN_FOLDERS_MAX);
        assert!(kept.iter().all(|folder| folder.exists()));
        assert!(gone.iter().all(|folder| !folder.exists()));
        for n in 0..10 {
            scene.session(&format!("young{n}"), "keeper.json", &dead(), minute * n);
        }
        sweep(&scene.place);
        let left = entries(&scene.place.run_folders()).filter(|entry| entry.file_name() != LOGS);
        assert_eq!(left.count(), limits::RUN_FOLDERS_MAX);
    }

    #[test]
    fn logs_go_by_age_and_by_size_but_never_while_somebody_writes() {
        let scene = Scene::new();
        let half = limits::RUN_LOGS_BYTES_MAX / 2;
        let old = limits::RUN_LEFTOVER_KEPT_MAX + HOUR;
        let newest = scene.log("newest.log", half, HOUR * 2);
        let newer = scene.log("newer.log", half, HOUR * 3);
        let too_much = scene.log("too-much.log", half, HOUR * 4);
        let ended = scene.log("ended.log", 1, old);
        let written = scene.log("written.log", 1, old);
        let writer = File::options().append(true).open(&written).unwrap();
        flock(&writer, FlockOperation::NonBlockingLockExclusive).unwrap();
        sweep(&scene.place);
        assert!(newest.exists() && newer.exists() && written.exists());
        assert!(!too_much.exists() && !ended.exists());
        drop(writer);
        sweep(&scene.place);
        assert!(!written.exists());
    }
}
