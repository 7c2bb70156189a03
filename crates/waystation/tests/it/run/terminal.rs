//! A person's terminal: a window with a program in it, keys that are pressed and words that appear.

use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// How long anything may take on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_mins(1);

/// A window with a program in it.
pub(super) struct Terminal {
    master: Option<Arc<std::fs::File>>,
    slave: OwnedFd,
    child: Child,
    news: Receiver<Vec<u8>>,
    /// What was printed and not yet looked for.
    unread: Vec<u8>,
}

impl Terminal {
    /// Runs a command in a window of 24 rows and 80 columns, as a session of its own.
    pub(super) fn open(command: &Command) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        let end = || slave.try_clone().unwrap();
        let mut session = Command::new("setsid");
        session.arg("--ctty").arg(command.get_program()).args(command.get_args());
        session
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        session.env("TERM", "xterm-256color").current_dir(command.get_current_dir().unwrap());
        set_size(&slave, 24, 80);
        let child = session.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap();
        let master = Arc::new(std::fs::File::from(master));
        let reader = Arc::downgrade(&master);
        let (sender, news) = sync_channel(1024);
        std::thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            // The window is open for as long as somebody else holds it.
            while let Some(master) = reader.upgrade() {
                if !is_readable(&master) {
                    continue;
                }
                let Ok(count @ 1..) = (&*master).read(&mut buffer) else { return };
                if sender.send(buffer[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self { master: Some(master), slave, child, news, unread: Vec::new() }
    }

    /// Presses keys.
    pub(super) fn press(&self, keys: &[u8]) {
        use std::io::Write;
        let mut master = &**self.master.as_ref().unwrap();
        master.write_all(keys).unwrap();
    }

    /// Waits for words to appear, and answers everything up to and with them.
    pub(super) fn wait_for(&mut self, words: &str) -> String {
        let until = deadline();
        let mut looked = 0;
        loop {
            let from = looked;
            let fresh = &self.unread[from..];
            let at = fresh.windows(words.len()).position(|window| window == words.as_bytes());
            if let Some(at) = at {
                let seen = self.unread.drain(..from + at + words.len()).collect::<Vec<u8>>();
                return String::from_utf8_lossy(&seen).into_owned();
            }
            looked = self.unread.len().saturating_sub(words.len());
            let patience = until.saturating_duration_since(now());
            let Ok(more) = self.news.recv_timeout(patience) else {
                let tail = &self.unread[self.unread.len().saturating_sub(4_000)..];
                panic!("{words:?} did not appear: {:?}", String::from_utf8_lossy(tail))
            };
            self.unread.extend(more);
        }
    }

    /// Gives the window another size.
    pub(super) fn resize(&self, rows: u16, cols: u16) {
        set_size(&self.slave, rows, cols);
    }

    /// Whether the terminal passes every key on.
    pub(super) fn is_raw(&self) -> bool {
        let modes = tcgetattr(&self.slave).unwrap();
        !modes.local_modes.contains(rustix::termios::LocalModes::ICANON)
    }

    /// Closes the window.
    pub(super) fn close(mut self) -> Child {
        self.master = None;
        let Self { slave, child, news, .. } = self;
        // The reader lets go of its own end when nobody listens any more.
        drop(slave);
        drop(news);
        child
    }

    /// Waits until the program has ended, and answers its exit code.
    pub(super) fn wait(&mut self) -> i32 {
        eventually("the program ends", || self.child.try_wait().unwrap()).code().unwrap_or(-1)
    }
}

fn is_readable(master: &std::fs::File) -> bool {
    let mut fds = [PollFd::new(master, PollFlags::IN)];
    let soon = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
    poll(&mut fds, Some(&soon)).is_ok_and(|count| count > 0)
}

fn set_size(slave: &OwnedFd, rows: u16, cols: u16) {
    let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(slave, size).unwrap();
}

fn deadline() -> Instant {
    now() + PATIENCE
}

#[expect(clippy::disallowed_methods, reason = "terminals live in real time")]
fn now() -> Instant {
    Instant::now()
}

/// Does nothing for at least so long. A parked thread alone may go on early: whoever wakes it may
/// have meant an earlier wait, as a channel does whose receiver was still looking.
pub(super) fn pause(length: Duration) {
    let until = now() + length;
    while now() < until {
        std::thread::park_timeout(until.saturating_duration_since(now()));
    }
}

/// Waits until something is so.
pub(super) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let until = deadline();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(now() < until, "never: {what}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
