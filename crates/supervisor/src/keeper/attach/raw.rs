//! This process's own terminal: raw while somebody watches, and afterwards as it was.

use std::io;

use rustix::event::{PollFd, PollFlags};
use rustix::stdio;
use rustix::termios::{self, OptionalActions, Termios};

use crate::screen::Size;

/// Whether keys come from a terminal.
pub(super) fn is_terminal() -> bool {
    termios::isatty(stdio::stdin())
}

/// The size of the window that shows the output, or takes the keys.
pub(super) fn size() -> Option<Size> {
    let window =
        termios::tcgetwinsize(stdio::stdout()).or_else(|_| termios::tcgetwinsize(stdio::stdin()));
    let window = window.ok()?;
    let size = Size { rows: window.ws_row, cols: window.ws_col };
    (size.rows > 0 && size.cols > 0).then_some(size)
}

/// Waits until the terminal takes more.
pub(super) fn wait_for_room() -> io::Result<()> {
    let mut fds = [PollFd::from_borrowed_fd(stdio::stdout(), PollFlags::OUT)];
    match rustix::event::poll(&mut fds, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A terminal that passes every key on; it is as before when this is dropped, also by a panic.
pub(super) struct Raw {
    before: Option<Termios>,
}

impl Raw {
    pub(super) fn enter() -> io::Result<Self> {
        let before = if is_terminal() { Some(termios::tcgetattr(stdio::stdin())?) } else { None };
        let raw = Self { before };
        raw.enter_again();
        Ok(raw)
    }

    pub(super) fn enter_again(&self) {
        if let Some(before) = &self.before {
            let mut modes = before.clone();
            modes.make_raw();
            set(&modes);
        }
    }

    pub(super) fn leave(&self) {
        if let Some(before) = &self.before {
            set(before);
        }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.leave();
    }
}

fn set(modes: &Termios) {
    let set = rustix::io::retry_on_intr(|| {
        termios::tcsetattr(stdio::stdin(), OptionalActions::Drain, modes)
    });
    if let Err(error) = set {
        // It was hung up on; there is nothing left to restore.
        tracing::debug!(%error, "the terminal's modes could not be set");
    }
}
