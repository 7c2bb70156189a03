//! A PostgreSQL server that lives as long as the tests that use it.
//!
//! It listens on a Unix socket in a temporary folder and, unless asked to, on no port, so any number
//! of test programs can run beside each other and beside a server of the machine. It is the real server,
//! and a machine without one fails the test: what was never run on PostgreSQL does not work there.

mod account;
mod binaries;

use std::fs::{File, Permissions};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use postgres::{Client, Config, NoTls};
use tempfile::TempDir;

use account::Account;

use crate::watchdog;

/// How often a starting server is asked whether it accepts; with the pause, 30 seconds.
const START_ATTEMPTS_MAX: u32 = 1_500;
/// The pause between two such questions.
const START_PAUSE: Duration = Duration::from_millis(20);
/// The only account of the server.
const USER: &str = "postgres";

/// The port that names the socket, and the network's where there is one.
const PORT: u16 = 5432;

/// Settings of a server whose data nobody will miss.
const SETTINGS: [&str; 7] = [
    "unix_socket_permissions=0777",
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "shared_buffers=32MB",
    // Every test of a program runs at once, each with a pool of its own.
    "max_connections=300",
    "log_min_messages=warning",
];

/// A running server. Dropping it stops the server and removes its data.
#[derive(Debug)]
pub struct ThrowawayPostgres {
    server: Option<Child>,
    databases: AtomicU32,
    binaries: PathBuf,
    account: Account,
    port: u16,
    settings: Vec<String>,
    folder: TempDir,
}

/// A server's certificate and its key, both PEM.
#[derive(Clone, Debug)]
pub struct ServerTls {
    /// The certificate.
    pub certificate: String,
    /// Its private key.
    pub key: String,
}

/// Where a server listens.
#[derive(Clone, Copy)]
enum Listening<'a> {
    OnSocket,
    OnTcp(Option<&'a ServerTls>),
}

/// How a server is stopped under those who use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Killed, as by the kernel when memory runs out: nobody is told anything.
    Kill,
    /// `pg_ctl stop -m immediate`: clients are told, nothing is finished.
    Immediate,
}

/// A new, empty database on the server that all tests of this program share; returns its URL.
pub fn fresh_database() -> String {
    ThrowawayPostgres::shared().fresh_database()
}

impl ThrowawayPostgres {
    /// Starts a server and waits until it accepts connections.
    ///
    /// # Panics
    /// When the machine has no PostgreSQL server or it does not start.
    #[expect(clippy::panic, reason = "a test without its database fails, it is never skipped")]
    pub fn start() -> Self {
        Self::try_start(Listening::OnSocket)
            .unwrap_or_else(|why| panic!("no throw-away PostgreSQL: {why:#}"))
    }

    /// Starts a server that also listens on a free port of 127.0.0.1; with a certificate it takes
    /// nothing in the clear there.
    ///
    /// # Panics
    /// When the machine has no PostgreSQL server or it does not start.
    #[expect(clippy::panic, reason = "a test without its database fails, it is never skipped")]
    pub fn start_on_tcp(tls: Option<&ServerTls>) -> Self {
        Self::try_start(Listening::OnTcp(tls))
            .unwrap_or_else(|why| panic!("no throw-away PostgreSQL: {why:#}"))
    }

    /// The port of a server that listens on one.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The server that all tests of this program share, started by the first that asks.
    pub fn shared() -> &'static Self {
        // Rust never drops a static; the watchdog stops this server when the program ends.
        static SHARED: OnceLock<ThrowawayPostgres> = OnceLock::new();
        SHARED.get_or_init(Self::start)
    }

    /// The URL of the database that every server begins with.
    pub fn url(&self) -> String {
        self.database_url(USER)
    }

    /// Creates a new, empty database and returns its URL.
    ///
    /// # Panics
    /// When the server refuses.
    pub fn fresh_database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut client = self.connect().expect("a server that has started accepts");
        client
            .batch_execute(&format!("CREATE DATABASE {name}"))
            .expect("the name is new, and its letters need no quotes");
        self.database_url(&name)
    }

    fn try_start(listening: Listening<'_>) -> anyhow::Result<Self> {
        let binaries = binaries::find()?;
        let folder = tempfile::Builder::new().prefix("waystation-pg-").tempdir()?;
        let account = Account::for_server(folder.path())?;
        account.take(folder.path())?;
        let (databases, port) = (AtomicU32::new(1), PORT);
        let settings = vec!["listen_addresses=".to_owned()];
        let mut started =
            Self { server: None, databases, binaries, account, port, settings, folder };
        started.runner().create_cluster()?;
        match listening {
            Listening::OnSocket => {}
            Listening::OnTcp(tls) => started.listen(tls)?,
        }
        started.spawn_and_wait()?;
        Ok(started)
    }

    fn listen(&mut self, tls: Option<&ServerTls>) -> anyhow::Result<()> {
        self.port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        self.settings = vec!["listen_addresses=127.0.0.1".into(), format!("port={}", self.port)];
        let Some(tls) = tls else { return Ok(()) };
        let data = self.folder.path().join("data");
        let access = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        let files =
            [("server.crt", &*tls.certificate), ("server.key", &*tls.key), ("pg_hba.conf", access)];
        for (name, text) in files {
            std::fs::write(data.join(name), text)?;
            std::fs::set_permissions(data.join(name), Permissions::from_mode(0o600))?;
            self.account.take(&data.join(name))?;
        }
        self.settings.push("ssl=on".into());
        Ok(())
    }

    /// Stops the server; its data stays.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn stop(&mut self, how: Stop) {
        let Some(mut server) = self.server.take() else { return };
        let dismissed = server.stdin.take().map(|mut pipe| pipe.write_all(watchdog::DISMISS));
        dismissed.transpose().expect("the watchdog lives as long as its server");
        let backends = children(server.id());
        match how {
            Stop::Kill => server.kill().expect("a child can be killed"),
            Stop::Immediate => {
                let mut command = self.runner().command(&self.binaries.join("pg_ctl"));
                command.args(["stop", "--no-wait", "-m", "immediate", "-D"]);
                let ran = command.arg(self.folder.path().join("data")).output();
                assert!(ran.expect("pg_ctl runs").status.success(), "pg_ctl stops the server");
            }
        }
        server.wait().expect("a child can be waited for");
        // Those who serve its clients notice a moment later, and answer until then.
        let is_over = (0..START_ATTEMPTS_MAX).any(|_| {
            std::thread::sleep(START_PAUSE);
            !backends.iter().any(|backend| is_alive(backend))
        });
        assert!(is_over, "the server's processes end with it");
    }

    /// Starts the server again, at the same address and on the same data.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&mut self) {
        assert!(self.server.is_none(), "the server runs already");
        // Those who served the old server's clients may still be on their way out.
        let mut attempt = 0;
        while let Err(why) = self.spawn_and_wait() {
            attempt += 1;
            assert!(attempt < START_ATTEMPTS_MAX, "PostgreSQL does not start again: {why:#}");
            std::thread::sleep(START_PAUSE);
        }
    }

    fn runner(&self) -> Runner<'_> {
        let (binaries, settings) = (&self.binaries, &self.settings);
        Runner { binaries, folder: self.folder.path(), account: self.account, settings }
    }

    fn spawn_and_wait(&mut self) -> anyhow::Result<()> {
        let mut server = self.runner().spawn_server()?;
        let accepting = self.wait_until_accepting(&mut server);
        self.server = accepting.is_ok().then_some(server);
        accepting
    }

    fn wait_until_accepting(&self, server: &mut Child) -> anyhow::Result<()> {
        for _ in 0..START_ATTEMPTS_MAX {
            if let Some(status) = server.try_wait()? {
                // Nobody is left to guard, and the data may be needed again.
                server
                    .stdin
                    .take()
                    .map(|mut pipe| pipe.write_all(watchdog::DISMISS))
                    .transpose()?;
                bail!("the server ended with {status}:\n{}", self.log());
            }
            if self.connect().is_ok() {
                return Ok(());
            }
            std::thread::sleep(START_PAUSE);
        }
        bail!("the server does not accept connections:\n{}", self.log())
    }

    fn connect(&self) -> Result<Client, postgres::Error> {
        Config::new()
            .host_path(self.folder.path())
            .port(self.port)
            .user(USER)
            .dbname(USER)
            .connect_timeout(Duration::from_secs(10))
            .connect(NoTls)
    }

    fn database_url(&self, name: &str) -> String {
        let folder = self.folder.path().display();
        match self.port {
            PORT => format!("postgresql://{USER}@/{name}?host={folder}"),
            port => format!("postgresql://{USER}@/{name}?port={port}&host={folder}"),
        }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("server.log")).unwrap_or_default()
    }
}

impl Drop for ThrowawayPostgres {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            drop(server.stdin.take());
            // Waiting fails only when there is nothing left to wait for.
            server.wait().ok();
        }
    }
}

/// How the server's programs are run: from where, in which folder, as whom.
struct Runner<'a> {
    binaries: &'a Path,
    folder: &'a Path,
    account: Account,
    settings: &'a [String],
}

impl Runner<'_> {
    fn create_cluster(&self) -> anyhow::Result<()> {
        let output = self
            .command(&self.binaries.join("initdb"))
            .args(["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"])
            .args(["--username", USER, "--pgdata"])
            .arg(self.folder.join("data"))
            .output()
            .context("cannot run initdb")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "initdb failed: {complaint}");
        Ok(())
    }

    fn spawn_server(&self) -> anyhow::Result<Child> {
        let log = File::options().create(true).append(true).open(self.folder.join("server.log"))?;
        let mut command = self.command(Path::new("sh"));
        command.args(["-c", watchdog::SCRIPT, "sh"]).arg(self.folder);
        command.arg(self.binaries.join("postgres")).arg("-D").arg(self.folder.join("data"));
        command.arg("-k").arg(self.folder);
        for setting in SETTINGS.into_iter().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        watchdog::guard(&mut command);
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        command.spawn().context("cannot start the server")
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        // The developer's PGDATA, PGPORT or locale must not reach the server.
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", search_path).env("LC_ALL", "C.UTF-8");
        command.current_dir(self.folder).stdin(Stdio::null());
        self.account.run_as(&mut command);
        command
    }
}

/// The processes that serve a server's clients, where the system tells.
fn children(server: u32) -> Vec<String> {
    let listed = std::fs::read_to_string(format!("/proc/{server}/task/{server}/children"));
    listed.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn is_alive(process: &str) -> bool {
    // One that has ended may wait to be noticed.
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.contains(") Z "))
}
