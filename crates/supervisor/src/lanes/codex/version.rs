//! Which Codex is installed, and what it can do.

use std::process::Stdio;

use tokio::process::Command;
use tokio::time::timeout;

use super::limits::COMMAND_TIME_MAX;

/// A version of Codex.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Its three numbers.
    pub numbers: (u32, u32, u32),
}

impl Version {
    /// From here on whoever writes to a thread holds its lock; these are the versions it was seen of.
    pub const HOLDS_LOCKS: Self = Self { numbers: (0, 166, 0) };

    /// Reads `0.166.0`, with whatever stands before it and follows it: `codex-cli 0.166.0-alpha.1`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_ascii_whitespace().last()?;
        let word = word.split(['-', '+']).next()?;
        let mut numbers = word.split('.').map(str::parse::<u32>);
        let mut next = || numbers.next()?.ok();
        Some(Self { numbers: (next()?, next()?, next()?) })
    }
}

/// What an installed Codex can do, as it says itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Its version, as it was printed.
    pub version: String,
    /// Whether it knows `codex queue`.
    pub has_queue: bool,
    /// Whether it knows `codex exec resume`.
    pub has_resume: bool,
    /// Whether it knows `codex app-server --listen`.
    pub has_server: bool,
}

/// Asks a program; `make` gives the bare command, ready for arguments.
pub(super) async fn ask(make: impl Fn() -> Command) -> Result<Abilities, String> {
    let version = run(make(), &["--version"]).await?;
    let version = version.lines().next().unwrap_or_default().trim().to_owned();
    if Version::parse(&version).is_none() {
        return Err("it does not say its version as Codex does".to_owned());
    }
    let knows = |args: &'static [&'static str], word: &'static str| {
        let command = make();
        async move { run(command, args).await.is_ok_and(|help| help.contains(word)) }
    };
    let (has_queue, has_resume, has_server) = tokio::join!(
        knows(&["queue", "--help"], "--thread"),
        knows(&["exec", "resume", "--help"], "SESSION_ID"),
        knows(&["app-server", "--help"], "--listen"),
    );
    Ok(Abilities { version, has_queue, has_resume, has_server })
}

async fn run(mut command: Command, args: &[&str]) -> Result<String, String> {
    command.args(args).stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = timeout(COMMAND_TIME_MAX, command.output())
        .await
        .map_err(|_| "it did not answer in time".to_owned())?
        .map_err(|error| format!("it cannot be started ({error})"))?;
    if !output.status.success() {
        return Err(format!("it ended with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_as_codex_prints_it() {
        let numbers = |text| Version::parse(text).map(|version| version.numbers);
        assert_eq!(numbers("codex-cli 0.166.0"), Some((0, 166, 0)));
        assert_eq!(numbers("0.167.0-alpha.3"), Some((0, 167, 0)));
        assert_eq!(numbers("codex-cli"), None);
        assert_eq!(numbers(""), None);
        assert_eq!(numbers("1.2"), None);
        assert!(Version::parse("0.99.9") < Some(Version::HOLDS_LOCKS));
    }
}
