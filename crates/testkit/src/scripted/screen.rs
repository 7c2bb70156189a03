//! What a scripted program draws: what it was told, a status, and the composer at the bottom.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::Duration;

use rustix::stdio;
use rustix::termios::tcgetwinsize;

use super::composer::Composer;
use super::options::Options;

const REMEMBERED: usize = 6;
const SPINNER: [char; 4] = ['|', '/', '-', '\\'];

/// What it draws.
pub(super) struct Screen {
    told: VecDeque<String>,
    slow: Duration,
    frame: usize,
    was_busy: bool,
}

impl Screen {
    pub(super) fn new(options: &Options) -> Self {
        Self { told: VecDeque::new(), slow: options.slow, frame: 0, was_busy: false }
    }

    pub(super) fn remember(&mut self, line: &str) {
        self.told.push_back(line.chars().take(60).collect());
        if self.told.len() > REMEMBERED {
            self.told.pop_front();
        }
    }

    pub(super) fn was_busy(&self) -> bool {
        self.was_busy
    }

    pub(super) fn draw(&mut self, composer: &Composer, dialog: bool, busy: bool) -> io::Result<()> {
        self.was_busy = busy;
        let rows = tcgetwinsize(stdio::stdout()).map_or(24, |size| size.ws_row.max(12));
        let mut text = String::from("\x1b[H\x1b[2J");
        for line in &self.told {
            text.push_str("\x1b[2m* ");
            text.push_str(line);
            text.push_str("\x1b[0m\r\n");
        }
        if busy {
            self.frame += 1;
            let sign = SPINNER.get(self.frame % SPINNER.len()).copied().unwrap_or('|');
            let working = format!("{sign} working {}\r\n", self.frame);
            text.push_str(&working);
        }
        let (head, tail) = text.split_at(text.len().min(7));
        print(head)?;
        if !self.slow.is_zero() {
            // Half a screen, and then nothing for a while.
            std::thread::sleep(self.slow);
        }
        print(tail)?;
        if dialog {
            print(&format!("\x1b[{};1HMay I?\r\n❯ 1. Yes\r\n  2. No", rows - 3))
        } else {
            print(&format!("\x1b[{rows};1H> {}", composer.text()))
        }
    }
}

/// Prints at once.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
