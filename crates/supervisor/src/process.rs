//! Proof of life: what the kernel says of a process, told so that no later one is mistaken for it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::limits::ANCESTORS_MAX;
use crate::session::{Life, Process};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

impl Process {
    /// The process that has this number now; `None` when there is none, or when it has ended and
    /// only waits to be noticed.
    pub fn current_of(pid: u32) -> Option<Self> {
        let stat = Stat::of(pid).ok().filter(|stat| !stat.has_ended)?;
        Some(Self { pid, started_ticks: stat.started_ticks, boot_id: boot_id()? })
    }

    /// The process this code runs in.
    pub fn own() -> Option<Self> {
        Self::current_of(std::process::id())
    }
}

/// Whether a process still lives. An old report never proves that it does not; the kernel does.
pub fn life(process: &Process) -> Life {
    match boot_id() {
        None => return Life::Unknown,
        Some(boot) if boot != process.boot_id => return Life::Dead,
        Some(_) => {}
    }
    match Stat::of(process.pid) {
        Ok(stat) if stat.has_ended || stat.started_ticks != process.started_ticks => Life::Dead,
        Ok(_) => Life::Live,
        Err(Unreadable::Gone) => Life::Dead,
        Err(Unreadable::Unclear) => Life::Unknown,
    }
}

/// The nearest ancestor of this process that runs a program of one of these names: how a hook finds
/// the CLI that called it, past the shells and interpreters in between.
pub fn ancestor_named(names: &[&str]) -> Option<Process> {
    let mut pid = parent_of(std::process::id())?;
    for _ in 0..ANCESTORS_MAX {
        if runs(pid, names) {
            return Process::current_of(pid);
        }
        pid = parent_of(pid)?;
    }
    None
}

/// The parent of a process, unless it is the first of all.
pub fn parent_of(pid: u32) -> Option<u32> {
    Stat::of(pid).ok().map(|stat| stat.parent).filter(|parent| *parent > 1)
}

/// Whether any process of this user was started with this in its environment: `NAME=value`.
pub fn is_any_marked(mark: &str) -> bool {
    let Ok(folders) = std::fs::read_dir("/proc") else { return false };
    folders.flatten().any(|folder| {
        let is_process = folder.file_name().to_string_lossy().bytes().all(|b| b.is_ascii_digit());
        // Those of others cannot be read, and are none of ours.
        let environment = is_process.then(|| std::fs::read(folder.path().join("environ")).ok());
        environment.flatten().is_some_and(|environment| {
            environment.split(|byte| *byte == 0).any(|pair| pair == mark.as_bytes())
        })
    })
}

/// Whether a process runs a program of one of these names: by the name the kernel has for it, by its
/// own, or by the script that an interpreter was started with.
fn runs(pid: u32, names: &[&str]) -> bool {
    let is_named = |name: &str| names.contains(&name);
    let folder = PathBuf::from(format!("/proc/{pid}"));
    let short = std::fs::read_to_string(folder.join("comm")).unwrap_or_default();
    if is_named(short.trim_end()) {
        return true;
    }
    let words = std::fs::read(folder.join("cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let program = words.next().unwrap_or_default();
    if is_named(file_stem(&program)) {
        return true;
    }
    let is_interpreter = matches!(file_stem(&program), "node" | "bun" | "deno" | "sh" | "bash");
    is_interpreter && words.next().is_some_and(|script| is_named(file_stem(&script)))
}

fn file_stem(path: &str) -> &str {
    Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Which boot of this machine it is.
pub fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string(BOOT_ID).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// What one line of the kernel says of a process.
struct Stat {
    has_ended: bool,
    parent: u32,
    started_ticks: u64,
}

/// Why that line could not be read.
enum Unreadable {
    /// There is no such process.
    Gone,
    /// Nothing is proven by that.
    Unclear,
}

impl Stat {
    fn of(pid: u32) -> Result<Self, Unreadable> {
        let line = std::fs::read(format!("/proc/{pid}/stat")).map_err(|error| {
            let no_such_process = error.raw_os_error() == Some(3);
            let is_gone = error.kind() == ErrorKind::NotFound || no_such_process;
            // Without the folder of processes itself nothing is proven.
            if is_gone && Path::new("/proc/self/stat").exists() {
                Unreadable::Gone
            } else {
                Unreadable::Unclear
            }
        })?;
        Self::parse(&String::from_utf8_lossy(&line)).ok_or(Unreadable::Unclear)
    }

    /// Reads `PID (NAME) STATE PARENT …`, where the name may itself contain brackets and blanks.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let has_ended = matches!(fields.next()?, "Z" | "X" | "x");
        let parent = fields.next()?.parse().ok()?;
        // The start is the 22nd field of the line, and the parent was the fourth.
        let started_ticks = fields.nth(17)?.parse().ok()?;
        Some(Self { has_ended, parent, started_ticks })
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn sleeper() -> std::process::Child {
        Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap()
    }

    #[test]
    fn a_running_process_lives_and_an_ended_one_is_dead_before_and_after_it_is_noticed() {
        let mut child = sleeper();
        let process = Process::current_of(child.id()).unwrap();
        assert_eq!(life(&process), Life::Live);
        child.kill().unwrap();
        // It stays a zombie until somebody waits for it; the kernel takes a moment to say so.
        while life(&process) == Life::Live {
            std::thread::yield_now();
        }
        assert_eq!(life(&process), Life::Dead, "a zombie is dead");
        assert_eq!(Process::current_of(process.pid), None);
        child.wait().unwrap();
        assert_eq!(life(&process), Life::Dead);
    }

    #[test]
    fn a_later_process_with_the_same_number_is_another_one() {
        let own = Process::own().unwrap();
        assert_eq!(life(&own), Life::Live);
        let earlier = Process { started_ticks: own.started_ticks - 1, ..own.clone() };
        assert_eq!(life(&earlier), Life::Dead);
        let other_boot = Process { boot_id: "another".to_owned(), ..own };
        assert_eq!(life(&other_boot), Life::Dead);
    }

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_move_the_fields() {
        let line = "7 (a) b) (c) S 5 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4242 9 9";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.parent, stat.started_ticks, stat.has_ended), (5, 4242, false));
        assert!(Stat::parse("7 (a) Z 5").is_none());
    }

    #[test]
    fn a_program_is_known_by_its_own_name_and_by_the_script_it_interprets() {
        let mut child = sleeper();
        // The child bears our name until it has become its program.
        while !runs(child.id(), &["sleep"]) {
            std::thread::yield_now();
        }
        assert!(!runs(child.id(), &["codex", "claude"]));
        child.kill().unwrap();
        child.wait().unwrap();
        let folder = std::env::temp_dir().join(format!("waystation-script-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let script = folder.join("claude.sh");
        std::fs::write(&script, "read line\n").unwrap();
        let mut child = Command::new("sh").arg(&script).stdin(Stdio::piped()).spawn().unwrap();
        while !runs(child.id(), &["claude"]) {
            std::thread::yield_now();
        }
        drop(child.stdin.take());
        child.wait().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_process_is_known_by_a_mark_in_its_environment_until_it_ends() {
        let mark = format!("WAYSTATION_TEST_MARK={}", std::process::id());
        assert!(!is_any_marked(&mark));
        let (name, value) = mark.split_once('=').unwrap();
        let mut child = Command::new("sleep").arg("1000").env(name, value).spawn().unwrap();
        while !is_any_marked(&mark) {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_any_marked(&mark));
    }

    #[test]
    fn ancestors_end_before_the_first_process_of_all() {
        assert_eq!(ancestor_named(&["no-program-has-this-name"]), None);
    }
}
