//! The variables: settings that override the file, and who calls.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

/// How our variables begin.
pub(super) const PREFIX: &str = "WAYSTATION_";

/// Variables that are not settings: who calls, and where things are.
pub(crate) const NOT_SETTINGS: [(&str, &str); 12] = [
    ("data", "The data folder, as `--data` names it."),
    ("config", "The configuration file, as `--config` names it."),
    ("token", "The token that a command or a stdio server calls with."),
    (
        "token_file",
        "A file that holds that token, and always a fresh one; it comes before the token.",
    ),
    ("wake_id", "The wake for which the host started this program."),
    ("agent", "The agent that calls, where there is no token."),
    ("workspace_id", "The workspace of that agent."),
    ("session", "The session of that agent."),
    ("role", "What that agent may do: `worker` or `observer`."),
    ("codex_token", "The token of Codex, as `waystation token issue --for codex` exports it."),
    (
        "claude_token",
        "The token of Claude Code, as `waystation token issue --for claude` exports it.",
    ),
    ("url", "Where programs of yours find the hub, such as the agent in `examples`."),
];

/// What the environment says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Environment(BTreeMap<String, String>);

impl Environment {
    /// These variables, for tests.
    #[cfg(test)]
    pub(crate) fn of(variables: &[(String, String)]) -> Self {
        Self(variables.iter().cloned().collect())
    }

    /// Reads every `WAYSTATION_*` variable, once. What stands in anybody else's is none of ours.
    pub(crate) fn read() -> Result<Self> {
        let mut ours = BTreeMap::new();
        for (name, value) in std::env::vars_os() {
            let Some(short) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else {
                continue;
            };
            let Ok(value) = value.into_string() else { bail!("{PREFIX}{short} is not UTF-8 text") };
            ours.insert(short.to_ascii_lowercase(), value);
        }
        Ok(Self(ours))
    }

    /// The variables that are settings: `limits__posts_burst` is `posts_burst` in the table `limits`.
    pub(super) fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()));
        all.filter(|(name, _)| NOT_SETTINGS.iter().all(|(other, _)| other != name))
    }

    /// A variable that is set to something.
    pub(crate) fn get(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    /// The token to call with: what the file holds now, else the one that was given. Whoever names a
    /// file and cannot be given its token is not let in as somebody else.
    pub(crate) fn token(&self) -> Result<Option<String>> {
        let Some(path) = self.get("token_file") else { return Ok(self.get("token")) };
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read the token in {path} ({PREFIX}TOKEN_FILE)"))?;
        let token = text.trim();
        if token.is_empty() {
            bail!(
                "{path} ({PREFIX}TOKEN_FILE) holds no token: put one there, or unset the variable"
            );
        }
        Ok(Some(token.to_owned()))
    }
}
