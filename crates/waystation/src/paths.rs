//! Where things are.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use edge::local::Sockets;
use hub::{Clock, Entropy, SystemClock, SystemEntropy};
use protocol::id::Uid;

use crate::cli::Global;
use crate::config::{Config, Environment};

/// The folder of logs, among those of sessions.
pub(crate) const LOGS: &str = "logs";

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
        let environment = Environment::read()?;
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
        let config_file = config_file.map(std::path::absolute).transpose();
        let config_file = config_file.context("the configuration has no usable path")?;
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
            if !self.may_be_closed()? {
                bail!("{} holds other things; name a folder of its own with --data", self.shown());
            }
            std::fs::set_permissions(&self.folder, std::fs::Permissions::from_mode(0o700))
                .with_context(|| format!("cannot close {} to others", self.folder.display()))?;
        }
        Ok(())
    }

    /// Whether the folder is this program's already, or nobody's: closing it locks nobody out.
    fn may_be_closed(&self) -> Result<bool> {
        let sockets = Sockets::of(&self.folder);
        let own = [
            self.lock_file(),
            self.database(),
            self.config_in_folder(),
            self.agentd_file(),
            sockets.hub,
            sockets.mcp,
        ];
        if own.iter().any(|file| file.exists()) {
            return Ok(true);
        }
        let mut entries = std::fs::read_dir(&self.folder)
            .with_context(|| format!("cannot look into {}", self.folder.display()))?;
        // A disk that was just made holds this, and is empty.
        Ok(entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == "lost+found")))
    }

    /// Reads the configuration.
    pub(crate) fn config(&self) -> Result<Config> {
        match &self.config_file {
            Some(path) => Config::load(path, true, &self.environment),
            None => Config::load(&self.config_in_folder(), false, &self.environment),
        }
    }

    /// The variables by which programs that are started here find the same.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let config = self.config_file.as_ref().map(|file| ("WAYSTATION_CONFIG", file));
        let paths = std::iter::once(("WAYSTATION_DATA", &self.folder)).chain(config);
        paths.map(|(name, path)| (name, path.to_string_lossy().into_owned()))
    }

    fn config_in_folder(&self) -> PathBuf {
        self.folder.join("config.toml")
    }

    fn host_id_file(&self) -> PathBuf {
        self.folder.join("host.id")
    }

    /// Where the hub's own authority and certificate are.
    pub(crate) fn tls_folder(&self) -> PathBuf {
        self.folder.join("tls")
    }

    /// Where it is written how each agent is started.
    pub(crate) fn recipes_folder(&self) -> PathBuf {
        self.folder.join("agents")
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

    /// Held by whoever is about to take the data folder.
    pub(crate) fn next_lock_file(&self) -> PathBuf {
        self.folder.join("next-owner.lock")
    }

    /// The name of this folder's machine side; it is made up once, and never changes.
    pub(crate) fn host_id(&self) -> Result<String> {
        let path = self.host_id_file();
        let read = || {
            let text = std::fs::read_to_string(&path)
                .with_context(|| format!("cannot read {}", path.display()))?;
            let id = text.trim();
            protocol::validate::name(id)
                .with_context(|| format!("{} holds no name", path.display()))?;
            Ok::<_, anyhow::Error>(id.to_owned())
        };
        if path.exists() {
            return read();
        }
        let mut random = [0; 10];
        SystemEntropy.fill(&mut random);
        let id = format!("host_{}", Uid::new(SystemClock.now(), random));
        // Written whole and then linked, so that whoever finds the file finds all of it.
        let draft = self.folder.join(format!("host.id.{}", std::process::id()));
        std::fs::write(&draft, format!("{id}\n"))
            .with_context(|| format!("cannot write {}", draft.display()))?;
        let linked = std::fs::hard_link(&draft, &path);
        std::fs::remove_file(&draft).context("cannot remove a draft of host.id")?;
        match linked {
            Ok(()) => Ok(id),
            // Another process was faster; its name counts.
            Err(_) => read(),
        }
    }

    /// What belongs to one running session.
    pub(crate) fn run_folder(&self, session: &str) -> PathBuf {
        self.run_folders().join(session)
    }

    /// Where the folders of running sessions are.
    pub(crate) fn run_folders(&self) -> PathBuf {
        self.folder.join("run")
    }

    /// Where processes that the host starts write to.
    pub(crate) fn logs_folder(&self) -> PathBuf {
        self.run_folders().join(LOGS)
    }

    /// What agentd was last started with; the folder is its own where this is there.
    pub(crate) fn agentd_file(&self) -> PathBuf {
        self.folder.join("agentd.json")
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

/// What the hub reads and writes in a data folder, there or not; a folder stands for all that is in it.
pub(crate) fn own_files(folder: &Path) -> Vec<PathBuf> {
    let place =
        Place { folder: folder.to_owned(), config_file: None, environment: Environment::default() };
    let sockets = Sockets::of(folder);
    let mut files = store::own_files(folder);
    files.extend([
        place.config_in_folder(),
        place.lock_file(),
        place.next_lock_file(),
        place.host_id_file(),
        place.run_folders(),
        place.agentd_file(),
        place.keys(),
        place.owner_log(),
        place.tls_folder(),
        place.recipes_folder(),
        sockets.hub,
        sockets.mcp,
    ]);
    files
}

/// A path as people see it: the home folder is `~`.
pub(crate) fn shown(path: &Path) -> String {
    match std::env::home_dir().and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned)) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
