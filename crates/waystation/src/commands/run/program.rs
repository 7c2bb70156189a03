//! Which program is meant, and what sort of agent it is.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{Access, access};
use supervisor::Runtime;

/// What makes Claude Code speak JSON on its pipes.
const STREAM_ARGS: [&[&str]; 4] = [
    &["-p"],
    &["--input-format", "stream-json"],
    &["--output-format", "stream-json"],
    &["--verbose"],
];

/// The file that a shell would start by this name.
pub(super) fn find(name: &str) -> Result<PathBuf> {
    let named = Path::new(name);
    let found = if named.components().count() > 1 {
        std::path::absolute(named).ok().filter(|file| is_executable(file))
    } else {
        let search = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&search)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|file| is_executable(file))
    };
    found.with_context(|| format!("there is no program {name:?}"))
}

fn is_executable(file: &Path) -> bool {
    file.is_file() && access(file, Access::EXEC_OK).is_ok()
}

/// The sort of agent, by the program's name.
pub(super) fn runtime(file: &Path) -> Runtime {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match name.as_ref() {
        "codex" => Runtime::Codex,
        "claude" => Runtime::Claude,
        other => {
            let is_fine = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
            let clean: String = other.chars().map(|c| if is_fine(c) { c } else { '_' }).collect();
            Runtime::Other(clean.chars().take(protocol::limits::NAME_CHARS_MAX).collect())
        }
    }
}

/// The arguments of a Claude Code without a terminal.
pub(super) fn stream_args(args: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    for ours in STREAM_ARGS {
        let is_there = ours.first().is_some_and(|flag| args.iter().any(|arg| arg == flag));
        if !is_there {
            all.extend(ours.iter().map(|word| (*word).to_owned()));
        }
    }
    all.extend(args.iter().cloned());
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name() {
        assert_eq!(runtime(Path::new("/usr/bin/codex")), Runtime::Codex);
        assert_eq!(runtime(Path::new("/x/claude")), Runtime::Claude);
        let strange = runtime(Path::new("/x/my agent;$(id)"));
        assert_eq!(strange, Runtime::Other("my_agent___id_".to_owned()));
        assert!(protocol::validate::name(strange.name()).is_ok());
    }

    #[test]
    fn a_program_is_looked_up_as_a_shell_does() {
        assert!(find("sh").unwrap().is_absolute());
        assert!(find("/bin/sh").is_ok());
        assert!(find("no-such-program-anywhere").is_err());
        assert!(find("/etc/passwd").is_err());
    }

    #[test]
    fn what_a_person_says_of_the_stream_stands() {
        let given = ["--verbose".to_owned(), "--model".to_owned(), "x".to_owned()];
        assert_eq!(
            stream_args(&given).join(" "),
            "-p --input-format stream-json --output-format stream-json --verbose --model x"
        );
    }
}
