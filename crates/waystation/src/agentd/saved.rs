//! What agentd was last started with, so that whoever needs it can start it again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::cli::AgentdArgs;
use crate::paths::Place;

/// Where the hub is, and how it is spoken to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Saved {
    /// The hub's address.
    pub(crate) hub: String,
    /// The file that holds agentd's token.
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates of authorities to trust beside the system's.
    pub(crate) ca: Option<PathBuf>,
}

impl Saved {
    /// What was asked for, else what was asked for the last time; written down for the next.
    pub(super) fn settle(place: &Place, args: &AgentdArgs) -> Result<Self> {
        let path = place.agentd_file();
        let absolute =
            |path: &Option<PathBuf>| path.as_deref().map(std::path::absolute).transpose();
        let saved = match &args.hub {
            Some(hub) => Self {
                hub: hub.trim_end_matches('/').to_owned(),
                token_file: absolute(&args.token_file)?,
                ca: absolute(&args.ca)?,
            },
            None => Self::read(&path).context("say where the hub is: --hub https://…")?,
        };
        std::fs::write(&path, serde_json::to_vec_pretty(&saved)?)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(saved)
    }

    fn read(path: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}
