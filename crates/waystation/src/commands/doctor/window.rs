//! A window that nobody looks at: a program in a terminal of its own, and what it last said.

use std::os::fd::OwnedFd;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use tokio::process::{Child, Command};

/// Bytes of its output that are kept.
const KEPT_BYTES_MAX: usize = 16 * 1024;
/// Bytes that are read at once.
const READ_BYTES: usize = 4 * 1024;
/// A window of a usual size.
const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

/// A program in a terminal of its own; it is ended with this.
pub(super) struct Window {
    terminal: OwnedFd,
    program: Child,
    said: Vec<u8>,
    has_answered: bool,
}

impl Window {
    /// Starts a program in this folder.
    pub(super) fn open(program: &Path, args: &[&str], folder: &Path) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let open = || -> std::io::Result<(OwnedFd, OwnedFd)> {
            let terminal = rustix::pty::openpt(flags)?;
            rustix::pty::unlockpt(&terminal)?;
            let inside = rustix::pty::ioctl_tiocgptpeer(&terminal, flags)?;
            rustix::termios::tcsetwinsize(&terminal, SIZE)?;
            rustix::io::ioctl_fionbio(&terminal, true)?;
            Ok((terminal, inside))
        };
        let (terminal, inside) = open().context("there is no terminal to be had")?;
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).kill_on_drop(true);
        command.env("TERM", "xterm-256color");
        command.stdin(inside.try_clone()?).stdout(inside.try_clone()?).stderr(inside);
        let program = command.spawn().context("it does not start")?;
        Ok(Self { terminal, program, said: Vec::new(), has_answered: false })
    }

    /// Reads what it says, so that it is never held up; answers whether it still runs.
    pub(super) fn look(&mut self) -> bool {
        let mut buffer = [0_u8; READ_BYTES];
        while let Ok(count @ 1..) = rustix::io::read(&self.terminal, &mut buffer) {
            self.said.extend(buffer.get(..count).unwrap_or_default());
            let over = self.said.len().saturating_sub(KEPT_BYTES_MAX);
            self.said.drain(..over);
        }
        matches!(self.program.try_wait(), Ok(None))
    }

    /// Says yes, once, to whoever asks whether the folder is trusted: it is ours, and empty.
    pub(super) fn trust_folder(&mut self) {
        if self.has_answered || !self.words().to_lowercase().contains("trust") {
            return;
        }
        self.has_answered = rustix::io::write(&self.terminal, b"\r").is_ok();
    }

    /// The last line it said, without the signs that are for terminals.
    pub(super) fn last_line(&self) -> String {
        let words = self.words();
        let line = words.lines().rev().find(|line| line.chars().any(char::is_alphanumeric));
        line.unwrap_or_default().trim().chars().take(200).collect()
    }

    fn words(&self) -> String {
        plain(&String::from_utf8_lossy(&self.said))
    }
}

/// Text without escape sequences. Moving the cursor is how terminals write spaces.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            if !c.is_control() || c == '\n' {
                plain.push(c);
            }
            continue;
        }
        match chars.next() {
            Some('[') => {
                let end = chars.find(|c| ('\x40'..='\x7e').contains(c));
                plain.push(if matches!(end, Some('H' | 'E' | 'B')) { '\n' } else { ' ' });
            }
            Some(']' | 'P') => {
                while let Some(c) = chars.next() {
                    if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_window_says_is_read_without_its_signs() {
        let said = "\x1b]0;title\x07\x1b[2J\x1b[1;1HDo you\x1b[1Ctrust\x1b[0m this?\r\n\x1b(B";
        assert!(plain(said).contains("Do you trust"), "{:?}", plain(said));
        assert!(!plain(said).contains("title"));
    }

    #[tokio::test]
    async fn a_window_hears_and_is_answered() {
        let script =
            "printf 'Do you trust this folder? '; read answer; echo said yes; exec sleep 60";
        let mut window =
            Window::open(Path::new("/bin/sh"), &["-c", script], Path::new("/")).unwrap();
        while !window.last_line().contains("said yes") {
            assert!(window.look());
            window.trust_folder();
            tokio::task::yield_now().await;
        }
    }
}
