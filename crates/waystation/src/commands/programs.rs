//! The agents' programs: which are installed, which version, and where they keep their settings.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::cli::AgentClient;
use crate::surroundings;

/// A program says its version sooner, or not at all.
const VERSION_PATIENCE: Duration = Duration::from_secs(20);

impl AgentClient {
    /// Every program.
    pub(crate) const ALL: [Self; 2] = [Self::Codex, Self::Claude];

    /// The name of its command, and of its agent where nobody gives another.
    pub(crate) const fn command(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
        }
    }

    /// Its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Codex => "Codex",
            Self::Claude => "Claude Code",
        }
    }

    /// How to get it.
    pub(crate) const fn install(self) -> &'static str {
        match self {
            Self::Codex => "npm install -g @openai/codex",
            Self::Claude => "npm install -g @anthropic-ai/claude-code",
        }
    }

    /// The folder of its settings.
    pub(crate) fn folder(self) -> Result<PathBuf> {
        let (variable, usual) = match self {
            Self::Codex => ("CODEX_HOME", ".codex"),
            Self::Claude => ("CLAUDE_CONFIG_DIR", ".claude"),
        };
        let home = || surroundings::home().map(|home| home.join(usual));
        surroundings::folder(variable).or_else(home).context("there is no home folder")
    }
}

/// A program that is there.
#[derive(Clone, Debug)]
pub(super) struct Installed {
    /// Its file.
    pub(super) file: PathBuf,
    /// What it says of its version.
    pub(super) version: Option<String>,
}

/// Looks for a program.
pub(super) async fn find(client: AgentClient) -> Option<Installed> {
    let file = surroundings::program(Path::new(client.command()))?;
    let version = version(&file).await;
    Some(Installed { file, version })
}

async fn version(file: &Path) -> Option<String> {
    let mut command = tokio::process::Command::new(file);
    command.arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let said = tokio::time::timeout(VERSION_PATIENCE, command.output()).await.ok()?.ok()?;
    number(&String::from_utf8_lossy(&said.stdout))
}

/// The first word that is a version: `codex-cli 0.166.0`, `2.1.325 (Claude Code)`.
fn number(said: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || ".-+".contains(c))
    };
    said.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_each_program_says() {
        assert_eq!(number("codex-cli 0.166.0\n").as_deref(), Some("0.166.0"));
        assert_eq!(number("2.1.325 (Claude Code)\n").as_deref(), Some("2.1.325"));
        assert_eq!(number("command not found"), None);
    }
}
