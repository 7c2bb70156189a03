//! Where a run keeps things: all of it below `target/bench`, on one file system.

use std::net::TcpListener;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// Where a run keeps things, and how long it may take.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The repository.
    pub(crate) root: PathBuf,
    /// How many interleaved rounds.
    pub(crate) rounds: usize,
    /// How long one measurement of a round takes, in seconds.
    pub(crate) seconds: f64,
    /// Whether the large databases are made small.
    pub(crate) quick: bool,
}

impl Place {
    /// What survives a run.
    pub(crate) fn kept(&self) -> Result<PathBuf> {
        let folder = self.root.join("target/bench");
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A folder that is gone after the measurement.
    pub(crate) fn throw_away(&self) -> Result<tempfile::TempDir> {
        let folder = tempfile::Builder::new().prefix("t").tempdir_in(self.kept()?)?;
        Ok(folder)
    }

    /// The program as it is released.
    pub(crate) fn program(&self) -> Result<PathBuf> {
        let path = self.root.join("target/release/waystation");
        path.is_file().then_some(path).context("build the program first: make bench does")
    }
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
