//! Where things are.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use edge::local::Sockets;

use crate::cli::Global;
use crate::config::{Config, Environment};

/// A data folder and the configuration that goes with it.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The data folder.
    pub(crate) folder: PathBuf,
    /// The configuration file, if one was named.
    pub(crate) config_file: Option<PathBuf>,
    /// What the environment says.
    pub(crate) environment: Environment,
}

impl Place {
    /// Finds the data folder: the option, the variable, or `~/.waystation`.
    pub(crate) fn find(global: &Global) -> Result<Self> {
        let environment = Environment::read();
        let folder = match (&global.data, environment.get("data")) {
            (Some(folder), _) => folder.clone(),
            (None, Some(folder)) => PathBuf::from(folder),
            (None, None) => std::env::home_dir()
                .filter(|home| !home.as_os_str().is_empty())
                .context("there is no home folder; name a data folder with --data")?
                .join(".waystation"),
        };
        let folder = std::path::absolute(&folder)
            .with_context(|| format!("{} is not a usable path", folder.display()))?;
        let config_file = global.config.clone().or(environment.get("config").map(PathBuf::from));
        Ok(Self { folder, config_file, environment })
    }

    /// Makes the data folder, for its owner's eyes only.
    pub(crate) fn create(&self) -> Result<()> {
        let make = || {
            std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            std::fs::metadata(&self.folder)
        };
        let found = make().with_context(|| format!("cannot make {}", self.folder.display()))?;
        if found.permissions().mode() & 0o077 != 0 {
            std::fs::set_permissions(&self.folder, std::fs::Permissions::from_mode(0o700))
                .with_context(|| format!("cannot close {} to others", self.folder.display()))?;
        }
        Ok(())
    }

    /// Reads the configuration.
    pub(crate) fn config(&self) -> Result<Config> {
        match &self.config_file {
            Some(path) => Config::load(path, true, &self.environment),
            None => Config::load(&self.folder.join("config.toml"), false, &self.environment),
        }
    }

    /// The private sockets. Their paths must be short: the kernel allows about a hundred bytes.
    pub(crate) fn sockets(&self) -> Result<Sockets> {
        let sockets = Sockets::of(&self.folder);
        if sockets.hub.as_os_str().len() > 100 {
            bail!(
                "the path of the data folder is too long for a socket; choose one below 90 characters"
            );
        }
        Ok(sockets)
    }

    /// The lock that its owner holds.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.folder.join("owner.lock")
    }

    /// The keys that sign tokens.
    pub(crate) fn keys(&self) -> PathBuf {
        self.folder.join("keys")
    }

    /// Where an owner started on demand writes its log.
    pub(crate) fn owner_log(&self) -> PathBuf {
        self.folder.join("owner.log")
    }

    /// The database file.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join("waystation.db")
    }

    /// The folder as people see it.
    pub(crate) fn shown(&self) -> String {
        shown(&self.folder)
    }
}

/// A path as people see it: the home folder is `~`.
pub(crate) fn shown(path: &Path) -> String {
    match std::env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
