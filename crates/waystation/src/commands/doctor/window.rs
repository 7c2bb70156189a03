//! A window that nobody looks at: a program in a terminal of its own, and what it last said.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::pty::OpenptFlags;
use rustix::termios::Winsize;
use supervisor::screen::{Screen, Size};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Bytes that are read at once.
const READ_BYTES: usize = 4 * 1024;
/// Programs take an Enter that follows a key too soon for a part of a paste.
const ENTER_AFTER: Duration = Duration::from_millis(500);
/// Programs paint what follows an answer sooner than that; until then nothing is answered again.
const ANSWER_AFTER: Duration = Duration::from_secs(2);
const DOWN: &str = "\x1b[B";
/// A window of a usual size.
const SIZE: Size = Size { rows: 40, cols: 120 };

/// A program in a terminal of its own; it is ended with this.
pub(super) struct Window {
    terminal: OwnedFd,
    program: Child,
    screen: Screen,
    /// When a key was last pressed.
    pressed: Option<Instant>,
    /// Whether an Enter is to follow.
    owes_enter: bool,
}

impl Window {
    /// Starts a program in this folder.
    pub(super) fn open(program: &Path, args: &[&str], folder: &Path) -> Result<Self> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let open = || -> std::io::Result<(OwnedFd, OwnedFd)> {
            let terminal = rustix::pty::openpt(flags)?;
            rustix::pty::unlockpt(&terminal)?;
            let inside = rustix::pty::ioctl_tiocgptpeer(&terminal, flags)?;
            let Size { rows, cols } = SIZE;
            let size = Winsize { ws_row: rows, ws_col: cols, ws_xpixel: 0, ws_ypixel: 0 };
            rustix::termios::tcsetwinsize(&terminal, size)?;
            rustix::io::ioctl_fionbio(&terminal, true)?;
            Ok((terminal, inside))
        };
        let (terminal, inside) = open().context("there is no terminal to be had")?;
        let mut command = Command::new(program);
        command.args(args).current_dir(folder).kill_on_drop(true);
        command.env("TERM", "xterm-256color");
        command.stdin(inside.try_clone()?).stdout(inside.try_clone()?).stderr(inside);
        let program = command.spawn().context("it does not start")?;
        Ok(Self { terminal, program, screen: Screen::new(SIZE), pressed: None, owes_enter: false })
    }

    /// Reads what it says, so that it is never held up; answers whether it still runs.
    pub(super) fn look(&mut self) -> bool {
        let mut buffer = [0_u8; READ_BYTES];
        while let Ok(count @ 1..) = rustix::io::read(&self.terminal, &mut buffer) {
            self.screen.take(buffer.get(..count).unwrap_or_default());
        }
        self.screen.draw_all();
        matches!(self.program.try_wait(), Ok(None))
    }

    /// Answers what programs ask when they start: the folder is trusted, for it is ours and empty;
    /// hooks are not, for that is the person's to say.
    pub(super) fn answer(&mut self) {
        if self.owes_enter {
            if self.pressed.is_some_and(|at| at.elapsed() >= ENTER_AFTER) {
                self.owes_enter = false;
                self.press(b"\r");
            }
            return;
        }
        if self.pressed.is_some_and(|at| at.elapsed() < ANSWER_AFTER) {
            return;
        }
        match asked(&self.words()) {
            None => {}
            // Enter, and not Escape: what was typed before an Escape may still stand there.
            Some(Reply::Down(times)) => {
                self.press(DOWN.repeat(times).as_bytes());
                self.owes_enter = true;
            }
        }
    }

    fn press(&mut self, keys: &[u8]) {
        // A window that is gone is noticed by the next look.
        rustix::io::write(&self.terminal, keys).ok();
        self.pressed = Some(Instant::now());
    }

    /// How long ago a key was pressed; `None` when none was.
    pub(super) fn since_key(&self) -> Option<Duration> {
        self.pressed.map(|at| at.elapsed())
    }

    /// The last line that it shows.
    pub(super) fn last_line(&self) -> String {
        let words = self.words();
        let line = words.lines().rev().find(|line| line.chars().any(char::is_alphanumeric));
        line.unwrap_or_default().trim().chars().take(200).collect()
    }

    fn words(&self) -> String {
        self.screen.rows().join("\n")
    }
}

/// What to press.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reply {
    /// So many answers down from the one that is chosen, then Enter.
    Down(usize),
}

/// The answer to what a program asks when it starts.
fn asked(words: &str) -> Option<Reply> {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.contains("Hooks need review") && words.contains("3. Continue without trusting") {
        return Some(Reply::Down(2));
    }
    let is_trust = words.to_lowercase().contains("trust") && words.contains("Enter to confirm");
    let chosen = words.rsplit(['❯', '›']).next().filter(|_| is_trust)?;
    let chosen = chosen.trim_start_matches(|c: char| !c.is_alphabetic());
    if chosen.starts_with("Yes") {
        return Some(Reply::Down(0));
    }
    chosen.starts_with("No").then_some(Reply::Down(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_our_own_is_trusted_and_hooks_are_not() {
        let question = "Is this a project you trust?";
        let no_first =
            format!("{question}\n❯ No, exit\n  Yes, I trust this folder\n Enter to confirm");
        assert_eq!(asked(&no_first), Some(Reply::Down(1)));
        let yes_first = format!("{question}\n❯ 1. Yes, proceed\n  2. No, exit\n Enter to confirm");
        assert_eq!(asked(&yes_first), Some(Reply::Down(0)));
        let hooks =
            "Hooks need review\n› 1. Review hooks\n  2. Trust all\n  3. Continue without trusting";
        assert_eq!(asked(hooks), Some(Reply::Down(2)));
        assert_eq!(asked("❯ Try \"fix the tests\""), None);
    }

    #[tokio::test]
    async fn a_window_hears_and_is_answered() {
        let script = "printf 'trust this?\n> Yes\nEnter to confirm\n› Yes'; read answer; echo said yes; \
                      exec sleep 60";
        let mut window =
            Window::open(Path::new("/bin/sh"), &["-c", script], Path::new("/")).unwrap();
        while !window.last_line().contains("said yes") {
            assert!(window.look());
            window.answer();
            tokio::task::yield_now().await;
        }
        assert!(window.since_key().is_some());
    }
}
