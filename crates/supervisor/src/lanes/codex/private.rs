//! An app server of a session's own.
//!
//! On the shared one, tools and hooks run in the environment of whoever started it first, and so
//! with another agent's token. A private one has the session's environment, and all that happens on
//! its socket belongs to that session.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::bind::arguments;
use super::limits::{
    SERVER_END_TIME_MAX, SERVER_START_TIME_MAX, THREAD_UNLOAD_SECONDS, WATCH_INTERVAL,
};
use super::socket::Connection;
use crate::session::Process;

/// The name of its socket, beside that of the keeper.
pub const SOCKET_NAME: &str = "codex.sock";

/// Where the private socket of a session lies, given that of its keeper.
pub fn socket_beside(keeper: &Path) -> PathBuf {
    keeper.with_file_name(SOCKET_NAME)
}

/// The arguments of a terminal's Codex that make it use a private app server; `None` when the person
/// chose another one, or does not start a terminal at all.
pub fn client_args(args: &[OsString], socket: &Path) -> Option<Vec<OsString>> {
    let has = |names: &[&str]| args.iter().any(|word| names.iter().any(|name| word == name));
    if has(&["--remote", "--no-daemon", "--help", "-h", "--version", "-V"]) {
        return None;
    }
    let is_other = args.first().is_some_and(|first| {
        let first = first.to_string_lossy();
        !first.starts_with('-') && OTHER_COMMANDS.contains(&first.as_ref())
    });
    if is_other {
        return None;
    }
    let is_resuming = args.first().is_some_and(|first| first == "resume" || first == "fork");
    let (head, rest) = args.split_at_checked(usize::from(is_resuming))?;
    let mut address = OsString::from("unix://");
    address.push(socket);
    let ours = [OsString::from("--remote"), address];
    Some(head.iter().chain(&ours).chain(rest).cloned().collect())
}

/// Starts an app server and waits until it answers. `command` is a bare Codex that has the session's
/// environment and folder.
pub async fn start(command: Command, socket: &Path, log: &Path) -> std::io::Result<Server> {
    end_orphan(socket).await;
    Server::start(command, socket, log).await
}

/// Ends the app server that a keeper left behind at this path when it was killed: it has an old
/// environment, and would keep the place.
async fn end_orphan(socket: &Path) {
    let connect = async || {
        let goal = tokio::fs::canonicalize(socket).await.ok()?;
        let peer = UnixStream::connect(goal).await.ok()?.peer_cred().ok()?;
        peer.pid().filter(|_| peer.uid() == geteuid().as_raw())
    };
    let address = format!("unix://{}", socket.display());
    let is_ours = |pid: i32| {
        let words = u32::try_from(pid).map(arguments).unwrap_or_default();
        words.iter().any(|word| word == "app-server") && words.contains(&address)
    };
    let Some(orphan) = connect().await.filter(|pid| is_ours(*pid)).and_then(Pid::from_raw) else {
        return;
    };
    for signal in [Signal::TERM, Signal::KILL] {
        // One that is gone by now is what is wanted.
        kill_process(orphan, signal).ok();
        let gone = async {
            while connect().await.is_some() {
                sleep(WATCH_INTERVAL).await;
            }
        };
        if timeout(SERVER_END_TIME_MAX, gone).await.is_ok() {
            return;
        }
    }
}

/// A private app server that runs, with what it started itself.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// What Codex is installed as may be a script that only waits for the real program, so both are
    /// one group, and are ended as one.
    group: Option<Pid>,
}

impl Server {
    async fn start(mut command: Command, socket: &Path, log: &Path) -> std::io::Result<Self> {
        let open = || File::options().create(true).append(true).mode(0o600).open(log);
        let mut address = OsString::from("unix://");
        address.push(socket);
        command
            .args(["app-server", "-c"])
            .arg(format!("thread_unload_delay_secs={THREAD_UNLOAD_SECONDS}"))
            .args([OsString::from("--listen"), address])
            .stdin(Stdio::null())
            .stdout(open()?)
            .stderr(open()?)
            .process_group(0);
        let child = command.spawn()?;
        let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let mut server = Self { child, group };
        match timeout(SERVER_START_TIME_MAX, server.until_it_answers(socket)).await {
            Ok(true) => Ok(server),
            Ok(false) => Err(std::io::Error::other("Codex' app server ended at once; see its log")),
            Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
        }
    }

    async fn until_it_answers(&mut self, socket: &Path) -> bool {
        loop {
            if Connection::open(socket).await.is_ok() {
                return true;
            }
            if !matches!(self.child.try_wait(), Ok(None)) {
                return false;
            }
            sleep(WATCH_INTERVAL).await;
        }
    }

    /// The process that was started, for the record.
    pub fn process(&self) -> Option<Process> {
        self.child.id().and_then(Process::current_of)
    }

    /// Waits until it ends by itself.
    pub async fn ended(&mut self) {
        // Whether its end can be told or not, there is nothing more to wait for.
        drop(self.child.wait().await);
        self.kill();
    }

    /// Asks it to end, and waits a while for that.
    pub async fn end(mut self) {
        self.signal(Signal::TERM);
        drop(timeout(SERVER_END_TIME_MAX, self.child.wait()).await);
        self.kill();
    }

    /// Ends what is left of the group, once: later its number may be another's.
    fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        // A group that is gone already is what is wanted.
        self.group.map(|group| kill_process_group(group, signal).ok());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Commands of Codex that open no terminal, or manage app servers themselves.
const OTHER_COMMANDS: [&str; 27] = [
    "agents",
    "exec",
    "e",
    "review",
    "login",
    "logout",
    "mcp",
    "plugin",
    "app-server",
    "remote-control",
    "completion",
    "update",
    "doctor",
    "sandbox",
    "debug",
    "apply",
    "a",
    "queue",
    "archive",
    "delete",
    "migrate-rollouts",
    "migrate-nfs-db",
    "unarchive",
    "cloud",
    "exec-server",
    "features",
    "help",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn args(text: &str) -> Option<String> {
        let words: Vec<OsString> = text.split_ascii_whitespace().map(OsString::from).collect();
        let all = client_args(&words, Path::new("/run/s/codex.sock"))?;
        Some(all.join(std::ffi::OsStr::new(" ")).into_string().unwrap())
    }

    #[test]
    fn a_terminal_is_led_to_its_own_app_server() {
        assert_eq!(args("").unwrap(), "--remote unix:///run/s/codex.sock");
        assert_eq!(args("-m o3 fix").unwrap(), "--remote unix:///run/s/codex.sock -m o3 fix");
        assert_eq!(
            args("resume --last").unwrap(),
            "resume --remote unix:///run/s/codex.sock --last"
        );
        assert_eq!(args("exec hello"), None);
        assert_eq!(args("--no-daemon"), None);
        assert_eq!(args("--remote unix:///other"), None);
        let keeper = Path::new("/data/run/sess_1/keeper.sock");
        assert_eq!(socket_beside(keeper), Path::new("/data/run/sess_1/codex.sock"));
    }
}
