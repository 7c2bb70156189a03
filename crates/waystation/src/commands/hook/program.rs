//! Which program called a hook: its process, and whether a human sits at it.

use std::path::{Path, PathBuf};

use supervisor::lanes::claude::{folder, records};
use supervisor::{Process, ancestor_named};

use super::event::Event;

/// The program that called.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The name it is registered under.
    pub(crate) runtime: String,
    /// Its version, where it says so.
    pub(crate) version: Option<String>,
    /// Its process.
    pub(crate) process: Option<Process>,
    /// Claude Code's own folder.
    pub(crate) folder: Option<PathBuf>,
}

impl Program {
    /// Claude Code: it tells its hooks its number, in versions that do; else it is our ancestor.
    pub(crate) fn claude(event: &Event) -> Self {
        let told = variable("CLAUDE_PID").and_then(|pid| pid.parse().ok());
        let process = told.and_then(Process::current_of).or_else(|| ancestor_named(&["claude"]));
        let of_transcript = event.transcript_path.as_deref().and_then(folder::of_transcript);
        let folder = of_transcript.map(Path::to_owned).or_else(folder::default);
        let record = folder.as_deref().zip(process.as_ref());
        let record = record.and_then(|(folder, process)| records::of_process(folder, process.pid));
        let version = record.and_then(|record| record.version);
        Self { runtime: "claude_code".to_owned(), version, process, folder }
    }

    /// Codex: the nearest ancestor of that name, which is its server where it runs one.
    pub(crate) fn codex() -> Self {
        let process = ancestor_named(&["codex"]);
        Self { runtime: "codex_cli".to_owned(), version: None, process, folder: None }
    }

    /// Any other.
    pub(crate) fn other(runtime: String) -> Self {
        Self { runtime, version: None, process: None, folder: None }
    }

    /// Whether a human sits at this Claude Code. A hook that waits would hold `claude -p` open, so
    /// everything that is not certain counts as a no.
    pub(crate) fn is_interactive(&self) -> bool {
        let entrypoint = variable("CLAUDE_CODE_ENTRYPOINT");
        let is_attended = variable("CLAUDE_CODE_SESSION_ATTENDED").is_none_or(|told| told != "0");
        let words = self.process.as_ref().map(|process| words(process.pid)).unwrap_or_default();
        entrypoint.as_deref() == Some("cli") && is_attended && !prints(&words)
    }
}

/// Whether these words are those of `claude -p`. Versions before 2.1.300 hand their entry point on to
/// such a child, so that it alone proves nothing.
fn prints(words: &[String]) -> bool {
    words.iter().any(|word| word == "-p" || word == "--print")
}

/// The command line of a process.
fn words(pid: u32) -> Vec<String> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// What the program told its hook in a variable; these are no settings of ours.
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printing_program_is_known_by_its_words() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(prints(&words("claude -p --resume x")));
        assert!(prints(&words("claude --print")));
        assert!(!prints(&words("claude --resume x")));
    }
}
