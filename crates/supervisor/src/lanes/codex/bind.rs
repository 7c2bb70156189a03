//! Which thread a terminal shows, before anything was said in it.
//!
//! Three ways, the surest first. On a private app server every thread of a human's is that of the one
//! terminal it serves. A terminal without an app server holds the lock of its thread itself. On the
//! shared app server only folder and time remain: they count when nothing else fits them, and no
//! other terminal works in that folder. When in doubt there is no answer, never a likely one.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::limits::{DESCENDANTS_MAX, PROC_BYTES_MAX, THREAD_OPENS_WITHIN};
use super::rollout::Age;
use super::socket::Connection;
use super::thread_id::ThreadId;
use super::{locks, rollout, shared_socket, threads};
use crate::process::{life, parent_of};
use crate::session::{Life, Process};

/// The thread of the terminal that runs as this process, or below it.
///
/// `started_after` is a moment shortly before the start; without it the shared app server is not asked.
pub async fn bind(
    home: &Path,
    process: &Process,
    cwd: &Path,
    started_after: Option<SystemTime>,
) -> Option<ThreadId> {
    if life(process) != Life::Live {
        return None;
    }
    let (home, root, cwd) = (home.to_owned(), process.pid, cwd.to_owned());
    let place = home.clone();
    let facts =
        tokio::task::spawn_blocking(move || Facts::gather(&place, root, &cwd)).await.ok()?;
    if let Some(socket) = &facts.private_socket {
        return only_thread_on(socket).await;
    }
    if !facts.locked.is_empty() {
        return only(facts.locked.into_iter());
    }
    if facts.is_crowded {
        return None;
    }
    let mut connection = Connection::open(&shared_socket(&home)).await.ok()?;
    let loaded = threads::main_threads(&mut connection).await.ok()?;
    let window = window(started_after?)?;
    only(loaded.into_iter().filter_map(|thread| {
        let is_in_folder = thread.cwd.as_deref().map(canonical) == Some(facts.cwd.clone());
        let is_in_time = thread.id.made_at_ms().is_some_and(|made| window.contains(&made));
        (is_in_folder && is_in_time).then_some(thread.id)
    }))
}

/// The thread that a terminal shows, given the socket of its private app server.
pub(super) async fn only_thread_on(socket: &Path) -> Option<ThreadId> {
    let mut connection = Connection::open(socket).await.ok()?;
    let loaded = threads::main_threads(&mut connection).await.ok()?;
    only(loaded.into_iter().map(|thread| thread.id))
}

/// The only one there is.
fn only(mut all: impl Iterator<Item = ThreadId>) -> Option<ThreadId> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

fn window(started_after: SystemTime) -> Option<std::ops::Range<u64>> {
    let ms = |time: Duration| u64::try_from(time.as_millis()).ok();
    let from = started_after.duration_since(UNIX_EPOCH).ok()?;
    Some(ms(from)?..ms(from.saturating_add(THREAD_OPENS_WITHIN))?)
}

fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// What the kernel says of a terminal.
struct Facts {
    /// The app server it was told to use.
    private_socket: Option<PathBuf>,
    /// The threads of a human's it writes to itself.
    locked: Vec<ThreadId>,
    /// Whether another Codex works in its folder.
    is_crowded: bool,
    /// Its folder.
    cwd: PathBuf,
}

impl Facts {
    fn gather(home: &Path, root: u32, cwd: &Path) -> Self {
        let cwd = canonical(cwd);
        let all = processes();
        let family = family(root, &all, is_app_server);
        let private_socket = family.iter().find_map(|pid| remote_of(&arguments(*pid)));
        let folder = canonical(&locks::folder(home));
        // The nearest holder is the terminal; a Codex that its agent runs stands below it.
        let locked = family.iter().map(|pid| locks_of(*pid, &folder)).find(|ids| !ids.is_empty());
        let is_main = |id: &ThreadId| {
            rollout::find(home, id, None, Age::Any).is_none_or(|path| rollout::is_main(&path))
        };
        let locked = locked.unwrap_or_default().into_iter().filter(is_main).collect();
        let mut others = all.keys().filter(|pid| !family.contains(pid));
        let is_crowded = others.any(|pid| is_terminal_in(*pid, &cwd));
        Self { private_socket, locked, is_crowded, cwd }
    }
}

/// Each process with its parent.
fn processes() -> HashMap<u32, u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| Some((pid, parent_of(pid)?)))
        .collect()
}

/// A process and those below it, the nearest first. The shared app server stands below the terminal
/// that needed it first, and is nobody's: it is left out, with all that it started.
fn family(root: u32, all: &HashMap<u32, u32>, is_apart: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut found = Vec::new();
    let mut next = VecDeque::from([root]);
    while let Some(pid) = next.pop_front() {
        if found.len() >= DESCENDANTS_MAX {
            break;
        }
        found.push(pid);
        let children = all.iter().filter(|(_, parent)| **parent == pid).map(|(child, _)| *child);
        next.extend(children.filter(|child| !is_apart(*child)));
    }
    found
}

/// What a process was started with.
pub(super) fn arguments(pid: u32) -> Vec<String> {
    let mut bytes = Vec::new();
    let Ok(file) = File::open(format!("/proc/{pid}/cmdline")) else { return Vec::new() };
    if file.take(PROC_BYTES_MAX).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// The unix socket after `--remote`.
fn remote_of(arguments: &[String]) -> Option<PathBuf> {
    let place = arguments.iter().position(|word| word == "--remote")?;
    let path = arguments.get(place.checked_add(1)?)?.strip_prefix("unix://")?;
    (!path.is_empty()).then(|| PathBuf::from(path))
}

/// The threads whose locks a process has open.
fn locks_of(pid: u32, folder: &Path) -> Vec<ThreadId> {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let files = entries.filter_map(Result::ok).filter_map(|fd| std::fs::read_link(fd.path()).ok());
    let mut ids: Vec<ThreadId> = files
        .filter(|file| file.parent() == Some(folder))
        .filter_map(|file| ThreadId::parse(file.file_name()?.to_str()?.strip_suffix(".lock")?))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn is_terminal_in(pid: u32, cwd: &Path) -> bool {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim_end() == "codex"
        && std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|folder| folder == cwd)
        && !is_app_server(pid)
}

fn is_app_server(pid: u32) -> bool {
    arguments(pid).iter().any(|word| word == "app-server")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_private_socket_is_read_from_the_arguments() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let found = remote_of(&words("codex --remote unix:///run/a.sock resume"));
        assert_eq!(found, Some(PathBuf::from("/run/a.sock")));
        assert_eq!(remote_of(&words("codex --remote unix://")), None, "the shared one");
        assert_eq!(remote_of(&words("codex --remote ws://host:1")), None);
        assert_eq!(remote_of(&words("codex --remote")), None);
    }

    #[test]
    fn a_family_is_listed_from_its_head_down() {
        let all = HashMap::from([(2, 1), (3, 2), (4, 3), (5, 9), (6, 2), (7, 2), (8, 7)]);
        let mut found = family(2, &all, |pid| pid == 7);
        assert_eq!((found.first(), found.last()), (Some(&2), Some(&4)));
        found.sort_unstable();
        assert_eq!(found, [2, 3, 4, 6]);
    }

    #[tokio::test]
    async fn a_process_that_holds_the_lock_itself_is_bound_to_that_thread() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(locks::folder(home.path())).unwrap();
        let own = Process::own().unwrap();
        let id = ThreadId::parse("01a1dfac-c6ae-7861-9fab-bcfdd1d9c997").unwrap();
        assert_eq!(bind(home.path(), &own, home.path(), None).await, None);
        let first = File::create(locks::folder(home.path()).join(format!("{id}.lock"))).unwrap();
        assert_eq!(bind(home.path(), &own, home.path(), None).await, Some(id));
        let other = "01a1dfac-c6ae-7861-9fab-bcfdd1d9c998.lock";
        let second = File::create(locks::folder(home.path()).join(other)).unwrap();
        assert_eq!(bind(home.path(), &own, home.path(), None).await, None, "in doubt none");
        drop((first, second));
    }
}
