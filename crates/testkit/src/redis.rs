//! A Redis server that lives as long as the test that uses it, and a plain client that looks into it.
//!
//! It is the real server, on a free port of 127.0.0.1; a machine without one fails the test.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use tempfile::TempDir;

use crate::postgres::ServerTls;
use crate::watchdog;

/// How often a starting server is asked whether it answers; with the pause, 30 seconds.
const START_ATTEMPTS_MAX: u32 = 1_500;
/// The pause between two such questions.
const START_PAUSE: Duration = Duration::from_millis(20);
/// How long one answer may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// A running server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct ThrowawayRedis {
    server: Option<Child>,
    port: u16,
    /// The port on which it speaks TLS, if it does.
    tls_port: Option<u16>,
    password: Option<String>,
    folder: TempDir,
}

/// What a Redis answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// There is nothing.
    Nothing,
    /// A number.
    Number(i64),
    /// A text, or a word such as `OK`.
    Text(String),
    /// Why it refused.
    Error(String),
}

impl ThrowawayRedis {
    /// Starts a server and waits until it answers.
    ///
    /// # Panics
    /// When the machine has no Redis server or it does not start.
    pub fn start() -> Self {
        Self::begin(None, None)
    }

    /// Starts one that wants a password.
    ///
    /// # Panics
    /// When the machine has no Redis server or it does not start.
    pub fn start_with_password(password: &str) -> Self {
        Self::begin(Some(password), None)
    }

    /// Starts one that wants a password and also speaks TLS, on a port of its own.
    ///
    /// # Panics
    /// When the machine has no Redis server or it does not start.
    pub fn start_with_tls(password: &str, tls: &ServerTls) -> Self {
        Self::begin(Some(password), Some(tls))
    }

    #[expect(clippy::panic, reason = "a test without its server fails, it is never skipped")]
    fn begin(password: Option<&str>, tls: Option<&ServerTls>) -> Self {
        let folder = tempfile::Builder::new().prefix("waystation-redis-").tempdir();
        let folder = folder.expect("a temporary folder can be made");
        let port = free_port().expect("a port is free");
        let tls_port = tls.map(|tls| {
            for (name, text) in [("server.crt", &tls.certificate), ("server.key", &tls.key)] {
                std::fs::write(folder.path().join(name), text).expect("a file can be written");
            }
            free_port().expect("a port is free")
        });
        let password = password.map(str::to_owned);
        let mut redis = Self { server: None, port, tls_port, password, folder };
        match redis.spawn_and_wait() {
            Ok(()) => redis,
            Err(why) => panic!("no throw-away Redis: {why:#}"),
        }
    }

    /// The URL by which a hub reaches it.
    pub fn url(&self) -> String {
        let password = self.password.as_ref().map(|word| format!(":{word}@")).unwrap_or_default();
        match self.tls_port {
            Some(port) => format!("rediss://{password}localhost:{port}/0"),
            None => format!("redis://{password}127.0.0.1:{}/0", self.port),
        }
    }

    /// Kills the server; nobody is told anything, and nothing is kept.
    ///
    /// # Panics
    /// When it cannot be killed.
    pub fn kill(&mut self) {
        let Some(mut server) = self.server.take() else { return };
        let dismissed = server.stdin.take().map(|mut pipe| pipe.write_all(watchdog::DISMISS));
        dismissed.transpose().expect("the watchdog lives as long as its server");
        server.kill().expect("a child can be killed");
        server.wait().expect("a child can be waited for");
    }

    /// Starts it again at the same address, empty.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&mut self) {
        assert!(self.server.is_none(), "the server runs already");
        self.spawn_and_wait().expect("a server that has run runs again");
    }

    /// Asks the server something, as any client would.
    ///
    /// # Panics
    /// When it does not answer.
    pub fn ask(&self, words: &[&str]) -> Answer {
        self.try_ask(words).expect("a running server answers")
    }

    fn spawn_and_wait(&mut self) -> anyhow::Result<()> {
        let log = File::options().create(true).append(true).open(self.log_path())?;
        let mut command = Command::new("sh");
        command.args(["-c", watchdog::SCRIPT, "sh"]).arg(self.folder.path());
        command.args(["redis-server", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        command.args(["--port", &self.port.to_string(), "--dir"]).arg(self.folder.path());
        // DEBUG SLEEP is how a test makes it slow.
        command.args(["--enable-debug-command", "yes"]);
        if let Some(password) = &self.password {
            // The password of a throw-away server is no secret.
            command.args(["--requirepass", password]);
        }
        if let Some(port) = self.tls_port {
            command.args(["--tls-port", &port.to_string(), "--tls-auth-clients", "no"]);
            command.arg("--tls-cert-file").arg(self.folder.path().join("server.crt"));
            command.arg("--tls-key-file").arg(self.folder.path().join("server.key"));
        }
        watchdog::guard(&mut command);
        command.stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log);
        let mut server = command.spawn().context("cannot run redis-server")?;
        for _ in 0..START_ATTEMPTS_MAX {
            if let Some(status) = server.try_wait()? {
                bail!("redis-server ended with {status}:\n{}", read(&self.log_path()));
            }
            if self.try_ask(&["PING"]).is_ok() {
                self.server = Some(server);
                return Ok(());
            }
            std::thread::sleep(START_PAUSE);
        }
        bail!("redis-server does not answer:\n{}", read(&self.log_path()))
    }

    fn log_path(&self) -> std::path::PathBuf {
        self.folder.path().join("server.log")
    }

    fn try_ask(&self, words: &[&str]) -> anyhow::Result<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        let mut reader = BufReader::new(stream.try_clone()?);
        if let Some(password) = &self.password {
            stream.write_all(&spell(&["AUTH", password]))?;
            answer(&mut reader)?;
        }
        stream.write_all(&spell(words))?;
        answer(&mut reader)
    }
}

impl Drop for ThrowawayRedis {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            // It keeps nothing, so it need not end well. This fails only when it is gone already.
            server.kill().ok();
            drop(server.stdin.take());
            server.wait().ok();
        }
    }
}

fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// A question in Redis' own protocol.
fn spell(words: &[&str]) -> Vec<u8> {
    let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    let count = words.len();
    format!("*{count}\r\n{}", words.collect::<String>()).into_bytes()
}

fn answer(reader: &mut impl BufRead) -> anyhow::Result<Answer> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let line = line.trim_end();
    let rest = line.get(1..).unwrap_or_default();
    match line.as_bytes().first() {
        Some(b'+') => Ok(Answer::Text(rest.to_owned())),
        Some(b'-') => Ok(Answer::Error(rest.to_owned())),
        Some(b':') => Ok(Answer::Number(rest.parse()?)),
        Some(b'$') if rest == "-1" => Ok(Answer::Nothing),
        Some(b'$') => {
            let mut bytes = vec![0; rest.parse::<usize>()? + 2];
            reader.read_exact(&mut bytes)?;
            bytes.truncate(bytes.len() - 2);
            Ok(Answer::Text(String::from_utf8(bytes)?))
        }
        _ => bail!("an answer of a kind that no test asks for: {line}"),
    }
}
