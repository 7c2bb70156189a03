//! A pseudo-terminal and the program in it.
//!
//! The process that calls [`Pty::open`] leads its own session, and the terminal becomes that session's.
//! The program runs in a process group of its own, as a shell runs a job: so it can be stopped with
//! Ctrl-Z, which the kernel does not allow to a group that nobody in its session looks after.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitOptions};
use rustix::pty::OpenptFlags;
use rustix::termios::{self, LocalModes, OptionalActions, OutputModes, Winsize};

use serde::{Deserialize, Serialize};

use crate::screen::Size;

/// How the program's terminal begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Manner {
    /// For people: echo, and line ends as terminals want them.
    Terminal,
    /// For pipes: no echo, and bytes as they are.
    Plain,
}

/// A terminal whose other end we hold.
pub struct Pty {
    master: OwnedFd,
    /// Held, so that the terminal lives even while no program has it open.
    slave: Option<OwnedFd>,
    manner: Manner,
}

/// What became of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stopped, and can be continued.
    Stopped,
    /// It ended with this code; 128 and more for a signal.
    Ended(i32),
}

impl Pty {
    /// Opens a terminal and makes it this session's own, in place of the one before.
    pub fn open(size: Size, manner: Manner) -> io::Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = rustix::pty::openpt(flags)?;
        rustix::pty::unlockpt(&master)?;
        let slave = rustix::pty::ioctl_tiocgptpeer(&master, flags)?;
        let flags = rustix::fs::fcntl_getfl(&master)?;
        rustix::fs::fcntl_setfl(&master, flags | OFlags::NONBLOCK)?;
        if manner == Manner::Plain {
            let mut modes = termios::tcgetattr(&slave)?;
            modes.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
            modes.output_modes.remove(OutputModes::OPOST);
            termios::tcsetattr(&slave, OptionalActions::Now, &modes)?;
        }
        let pty = Self { master, slave: Some(slave), manner };
        pty.resize(size)?;
        leave_terminal();
        rustix::process::ioctl_tiocsctty(pty.slave()?)?;
        Ok(pty)
    }

    /// Starts a program in this terminal, in front.
    pub fn start(&self, mut command: Command) -> io::Result<Child> {
        let slave = self.slave()?;
        command.stdin(slave.try_clone_to_owned()?);
        command.stdout(slave.try_clone_to_owned()?);
        command.stderr(slave.try_clone_to_owned()?);
        let child = command.process_group(0).spawn()?;
        let group = Pid::from_child(&child);
        termios::tcsetpgrp(slave, group)?;
        // Whoever asked for a key before it was in front was stopped for it.
        rustix::process::kill_process_group(group, Signal::CONT)?;
        Ok(child)
    }

    /// The end that we read and write.
    pub fn master(&self) -> BorrowedFd<'_> {
        self.master.as_fd()
    }

    /// Changes the size of the window; the program is told.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let Size { rows, cols } = size;
        let window = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(termios::tcsetwinsize(&self.master, window)?)
    }

    /// Lets go of the program's end, so that reading ends with the last program that has it.
    pub fn close_program_end(&mut self) {
        self.slave = None;
    }

    /// The process group in front.
    pub fn in_front(&self) -> Option<Pid> {
        termios::tcgetpgrp(&self.master).ok()
    }

    /// Whether keys are read in whole lines and not shown: somebody asks for a password.
    pub fn hides_keys(&self) -> bool {
        self.manner == Manner::Terminal
            && termios::tcgetattr(&self.master).is_ok_and(|modes| {
                modes.local_modes.contains(LocalModes::ICANON)
                    && !modes.local_modes.contains(LocalModes::ECHO)
            })
    }

    /// Whether keys are read in whole lines.
    pub fn reads_lines(&self) -> bool {
        termios::tcgetattr(&self.master)
            .is_ok_and(|modes| modes.local_modes.contains(LocalModes::ICANON))
    }

    /// Whether keys wait in the kernel until the program reads them.
    pub fn has_unread_keys(&self) -> bool {
        self.slave().is_ok_and(|slave| rustix::io::ioctl_fionread(slave).is_ok_and(|n| n > 0))
    }

    fn slave(&self) -> io::Result<BorrowedFd<'_>> {
        let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "the terminal is closed");
        self.slave.as_ref().map(AsFd::as_fd).ok_or_else(closed)
    }
}

/// Waits until something becomes of a program.
pub fn wait(pid: Pid) -> io::Result<Change> {
    loop {
        let waited = rustix::io::retry_on_intr(|| {
            rustix::process::waitpid(Some(pid), WaitOptions::UNTRACED)
        })?;
        let Some((_, status)) = waited else { continue };
        if status.stopped() {
            return Ok(Change::Stopped);
        }
        if let Some(code) = status.exit_status() {
            return Ok(Change::Ended(code));
        }
        if let Some(signal) = status.terminating_signal() {
            return Ok(Change::Ended(128 + signal));
        }
    }
}

/// Gives up the terminal of this session, if it has one: what still runs there is hung up on.
#[expect(unsafe_code, reason = "the kernel's request has no safe name")]
fn leave_terminal() {
    const TIOCNOTTY: rustix::ioctl::Opcode = 0x5422;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let Ok(terminal) = rustix::fs::open("/dev/tty", flags, rustix::fs::Mode::empty()) else {
        return;
    };
    // SAFETY: TIOCNOTTY takes no argument and touches no memory of this process.
    let left = unsafe { rustix::ioctl::ioctl(&terminal, rustix::ioctl::NoArg::<TIOCNOTTY>::new()) };
    if let Err(error) = left {
        tracing::debug!(%error, "the terminal before could not be left");
    }
}
