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
    /// What was pressed then.
    last: Option<Key>,
}

/// A key that answers something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    /// Towards the next answer.
    Down,
    /// That one.
    Enter,
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
        Ok(Self { terminal, program, screen: Screen::new(SIZE), pressed: None, last: None })
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
    ///
    /// A program that is busy loses keys, so Enter is pressed only where the answer is seen to be chosen.
    pub(super) fn answer(&mut self) {
        let Some(steps) = steps_to_answer(&self.words()) else { return };
        let patience = match self.last {
            Some(Key::Down) if steps == 0 => ENTER_AFTER,
            Some(_) => ANSWER_AFTER,
            None => Duration::ZERO,
        };
        if self.pressed.is_some_and(|at| at.elapsed() < patience) {
            return;
        }
        if steps == 0 {
            // Enter, and not Escape: what was typed before an Escape may still stand there.
            self.press(Key::Enter, "\r");
        } else {
            self.press(Key::Down, &DOWN.repeat(steps));
        }
    }

    fn press(&mut self, key: Key, bytes: &str) {
        // A window that is gone is noticed by the next look.
        rustix::io::write(&self.terminal, bytes.as_bytes()).ok();
        self.pressed = Some(Instant::now());
        self.last = Some(key);
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

/// How many answers below the chosen one the right one stands; `None` when nothing is asked.
fn steps_to_answer(words: &str) -> Option<usize> {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let chosen = words.rsplit(['❯', '›']).next()?;
    if words.contains("Hooks need review") && words.contains("3. Continue without trusting") {
        let number = chosen.trim_start().chars().next()?.to_digit(10)?;
        return 3_usize.checked_sub(usize::try_from(number).ok()?);
    }
    if !words.to_lowercase().contains("trust") || !words.contains("Enter to confirm") {
        return None;
    }
    let chosen = chosen.trim_start_matches(|c: char| !c.is_alphabetic());
    if chosen.starts_with("Yes") {
        return Some(0);
    }
    chosen.starts_with("No").then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_our_own_is_trusted_and_hooks_are_not() {
        let question = "Is this a project you trust?";
        let no_first =
            format!("{question}\n❯ No, exit\n  Yes, I trust this folder\n Enter to confirm");
        assert_eq!(steps_to_answer(&no_first), Some(1));
        let yes_first = format!("{question}\n❯ 1. Yes, proceed\n  2. No, exit\n Enter to confirm");
        assert_eq!(steps_to_answer(&yes_first), Some(0));
        let hooks =
            "Hooks need review\n› 1. Review hooks\n  2. Trust all\n  3. Continue without trusting";
        assert_eq!(steps_to_answer(hooks), Some(2));
        let last = hooks.replace('›', " ").replace("  3.", "› 3.");
        assert_eq!(steps_to_answer(&last), Some(0));
        assert_eq!(steps_to_answer("❯ Try \"fix the tests\""), None);
    }

    /// A program that hears the first key of a person as little as a busy one does.
    const HARD_OF_HEARING: &str = r#"
        stty -echo -icanon
        show() { printf '\033[2J\033[Htrust this?\r\n%s No\r\n%s Yes\r\nEnter to confirm' "$1" "$2"; }
        show '❯' ' '
        dd bs=3 count=1 >/dev/null 2>&1
        dd bs=3 count=1 >/dev/null 2>&1
        show ' ' '❯'
        dd bs=1 count=1 >/dev/null 2>&1
        printf '\033[2J\033[Hsaid yes'
        exec sleep 60"#;

    #[tokio::test]
    async fn a_key_that_was_lost_is_pressed_again_before_enter() {
        let mut window =
            Window::open(Path::new("/bin/sh"), &["-c", HARD_OF_HEARING], Path::new("/")).unwrap();
        while !window.last_line().contains("said yes") {
            assert!(window.look());
            window.answer();
            tokio::task::yield_now().await;
        }
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
