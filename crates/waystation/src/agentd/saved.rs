//! What agentd was last started with, so that whoever needs it can start it again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::cli::AgentdArgs;
use crate::host::write_whole;
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
    /// What was asked for, else what was asked for the last time.
    pub(super) fn settle(place: &Place, args: &AgentdArgs) -> Result<Self> {
        let absolute = |path: Option<PathBuf>| path.map(std::path::absolute).transpose();
        // One that is started on demand does not get this one's environment.
        let named = || place.environment.get("token_file").map(PathBuf::from);
        match &args.hub {
            Some(hub) => Ok(Self {
                hub: hub.trim_end_matches('/').to_owned(),
                token_file: absolute(args.token_file.clone().or_else(named))?,
                ca: absolute(args.ca.clone())?,
            }),
            None => {
                Self::read(&place.agentd_file()).context("say where the hub is: --hub https://…")
            }
        }
    }

    /// Writes it down for the next.
    pub(super) fn keep(&self, place: &Place) -> Result<()> {
        write_whole(&place.agentd_file(), &serde_json::to_vec_pretty(self)?)
    }

    fn read(path: &Path) -> Result<Self> {
        let bytes =
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}
