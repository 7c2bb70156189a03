//! Codex as a child process: what it is started with, and what of our own environment it never sees.

use std::ffi::OsString;
use std::path::Path;

use tokio::process::Command;

use crate::session::Program;

/// A command that starts Codex, without arguments.
pub fn bare(program: &Program, home: &Path) -> Command {
    let mut command = Command::new(&program.file);
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_private(name)) {
        command.env_remove(name);
    }
    command.env("CODEX_HOME", home).envs(program.env.iter().map(|(name, value)| (name, value)));
    command
}

/// Whether a variable of ours is no business of an agent: our settings, which may hold the
/// operator's token, and the marks that an agent leaves on its own children.
fn is_private(name: &OsString) -> bool {
    let name = name.to_string_lossy();
    let is_mark = name.starts_with("CODEX_") && name != "CODEX_HOME" && name != "CODEX_API_KEY";
    let is_other_mark = name.starts_with("CLAUDE_CODE_") || name == "CLAUDECODE";
    name.starts_with("WAYSTATION_") || is_mark || is_other_mark
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_settings_and_marks_of_agents_stay_with_us() {
        let is_private = |name: &str| is_private(&OsString::from(name));
        assert!(is_private("WAYSTATION_TOKEN") && is_private("CODEX_THREAD_ID"));
        assert!(is_private("CLAUDECODE") && is_private("CLAUDE_CODE_ENTRYPOINT"));
        assert!(!is_private("PATH") && !is_private("CODEX_HOME") && !is_private("OPENAI_API_KEY"));
    }
}
