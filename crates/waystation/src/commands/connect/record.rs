//! What `connect` remembers, so that `--undo` takes out exactly what it put in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// What was done to each file.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Record {
    files: BTreeMap<PathBuf, Changes>,
}

/// What was done to a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Changes {
    /// Places that were not there before; `""` is the file itself.
    pub(super) made: BTreeSet<String>,
    /// What stood in our place before, as text.
    pub(super) replaced: BTreeMap<String, String>,
}

impl Changes {
    /// Adds what a later run did. What stood there first is what is put back.
    pub(super) fn merge(&mut self, later: Self) {
        self.made.extend(later.made);
        for (place, text) in later.replaced {
            self.replaced.entry(place).or_insert(text);
        }
    }
}

impl Record {
    /// Reads what is remembered in the data folder.
    pub(super) fn load(folder: &Path) -> Result<Self> {
        let path = file(folder);
        match std::fs::read_to_string(&path) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is not what connect wrote", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// What was done to a file; `None` when nobody remembers.
    pub(super) fn of(&self, file: &Path) -> Option<&Changes> {
        self.files.get(file)
    }

    /// Remembers more of a file.
    pub(super) fn add(&mut self, file: &Path, changes: Changes) {
        self.files.entry(file.to_owned()).or_default().merge(changes);
    }

    /// Forgets a file.
    pub(super) fn remove(&mut self, file: &Path) {
        self.files.remove(file);
    }

    /// Writes it down.
    pub(super) fn save(&self, folder: &Path) -> Result<()> {
        super::files::write(&file(folder), &serde_json::to_string_pretty(self)?)
    }
}

fn file(folder: &Path) -> PathBuf {
    folder.join("connected.json")
}
