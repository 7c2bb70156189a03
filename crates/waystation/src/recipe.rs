//! How each agent was last started on this machine, by the person here: the only command that is ever
//! run for one. What the hub remembers of it is for people to read.

use std::fmt::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::paths::Place;

/// The longest name of a file.
const FILE_NAME_BYTES_MAX: usize = 255;

/// How an agent is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Recipe {
    /// The agent.
    pub(crate) agent: String,
    /// What it may do.
    pub(crate) role: String,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Its folder.
    pub(crate) cwd: PathBuf,
}

impl Recipe {
    /// Remembers it.
    pub(crate) fn keep(&self, place: &Place) -> Result<()> {
        let path = path_of(place, &self.agent).context("the agent's name is too long")?;
        if let Some(folder) = path.parent() {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        crate::host::write_whole(&path, &serde_json::to_vec_pretty(self)?)
    }

    /// The one of an agent; `None` when it was never started here, or what is there cannot be read.
    pub(crate) fn of(place: &Place, agent: &str) -> Option<Self> {
        let text = std::fs::read(path_of(place, agent)?).ok()?;
        let recipe: Self = serde_json::from_slice(&text).ok()?;
        (recipe.agent == agent && !recipe.command.is_empty()).then_some(recipe)
    }
}

/// A name of a file for every name of an agent, and no two alike.
fn path_of(place: &Place, agent: &str) -> Option<PathBuf> {
    let mut name = String::new();
    for byte in agent.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') {
            name.push(char::from(byte));
        } else {
            write!(name, "%{byte:02X}").ok()?;
        }
    }
    name.push_str(".json");
    (name.len() <= FILE_NAME_BYTES_MAX).then(|| place.recipes_folder().join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    #[test]
    fn an_agent_is_started_as_it_was_started_last_and_by_its_own_name_alone() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place {
            folder: folder.path().to_owned(),
            config_file: None,
            environment: Environment::default(),
        };
        let recipe = |agent: &str, program: &str| Recipe {
            agent: agent.to_owned(),
            role: "worker".to_owned(),
            command: vec![program.to_owned()],
            cwd: PathBuf::from("/"),
        };
        assert_eq!(Recipe::of(&place, "coder"), None);
        for (agent, program) in [("coder", "/a"), ("../coder", "/b"), ("team/ä", "/c")] {
            recipe(agent, program).keep(&place).unwrap();
        }
        recipe("coder", "/newer").keep(&place).unwrap();
        assert_eq!(Recipe::of(&place, "coder"), Some(recipe("coder", "/newer")));
        assert_eq!(Recipe::of(&place, "../coder"), Some(recipe("../coder", "/b")));
        assert_eq!(Recipe::of(&place, "team/ä"), Some(recipe("team/ä", "/c")));
        assert_eq!(Recipe::of(&place, "team"), None);
        let here = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(here, 1, "nothing is written elsewhere");
    }
}
