//! A program in a terminal, as its keeper sees it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, kill_process_group};

use super::program::{Pace, Plan};
use super::protocol::Refusal;
use crate::human::{Draft, Tracker};
use crate::limits::{ECHO_OF_KEY, FLOOD_BYTES, FLOOD_PATIENCE, FLOOD_WINDOW, NUDGE};
use crate::modes::Modes;
use crate::pty::{Manner, Pty};
use crate::screen::{Line, Screen, Size};
use crate::session::{Activity, Process};

/// A program in a terminal.
pub(super) struct Terminal {
    pty: Pty,
    group: Pid,
    process: Option<Process>,
    size: Size,
    pub(super) modes: Modes,
    pub(super) screen: Screen,
    keys: VecDeque<u8>,
    last_output: Instant,
    /// The last output that was no echo of a key.
    last_work: Instant,
    nudged: Option<Instant>,
    is_silent: bool,
    /// What it was doing when it was looked at last, and which output had been the last then.
    waiting: Activity,
    looked_at: Option<Instant>,
    flood: Flood,
    pub(super) pace: Pace,
}

/// How much is being printed. The kernel hands out a page at a time; in a flood several are waited
/// for, so that those who watch are not woken for each.
#[derive(Clone, Copy, Debug, Default)]
struct Flood {
    since: Option<Instant>,
    bytes: usize,
    is_on: bool,
}

impl Flood {
    fn count(&mut self, bytes: usize, now: Instant) {
        let since = *self.since.get_or_insert(now);
        self.bytes += bytes;
        if now.saturating_duration_since(since) >= FLOOD_WINDOW {
            self.is_on = self.bytes >= FLOOD_BYTES;
            self.bytes = 0;
            self.since = Some(now);
        }
    }

    /// How long the next page is waited for; `None` when it is not.
    fn patience(&self, now: Instant) -> Option<Duration> {
        let since = self.since?;
        let is_fresh = now.saturating_duration_since(since) < FLOOD_WINDOW * 2;
        (self.is_on && is_fresh).then_some(FLOOD_PATIENCE)
    }
}

/// What reading a terminal brought.
pub(super) enum Read {
    /// So many bytes.
    Bytes(usize),
    /// Nothing for now.
    Nothing,
    /// The end.
    End,
}

impl Terminal {
    /// Opens a terminal and starts the program in it.
    pub(super) fn start(plan: &Plan, size: Size, manner: Manner, now: Instant) -> io::Result<Self> {
        let pty = Pty::open(size, manner)?;
        let child = pty.start(plan.command())?;
        Ok(Self {
            pty,
            group: Pid::from_child(&child),
            process: Process::current_of(child.id()),
            size,
            modes: Modes::default(),
            screen: Screen::new(size),
            keys: VecDeque::new(),
            last_output: now,
            last_work: now,
            nudged: None,
            is_silent: false,
            waiting: Activity::Idle,
            looked_at: None,
            flood: Flood::default(),
            pace: plan.pace,
        })
    }

    pub(super) fn pid(&self) -> Pid {
        self.group
    }

    pub(super) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.pty.master()
    }

    /// Whether nothing more will be printed.
    pub(super) fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Reads what the program printed, as much as there is and fits.
    pub(super) fn read(&mut self, buffer: &mut [u8], tracker: &Tracker, now: Instant) -> Read {
        let mut filled = 0;
        let patience = self.flood.patience(now);
        let ended = loop {
            let Some(room) = buffer.get_mut(filled..).filter(|room| !room.is_empty()) else {
                break false;
            };
            match rustix::io::read(self.pty.master(), room) {
                Ok(0) => break true,
                Ok(count) => filled += count,
                Err(rustix::io::Errno::AGAIN) if filled > 0 && self.comes_more(patience) => {}
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => break false,
                Err(_) => break true,
            }
        };
        self.flood.count(filled, now);
        self.is_silent |= ended;
        if filled == 0 {
            return if ended { Read::End } else { Read::Nothing };
        }
        let bytes = buffer.get(..filled).unwrap_or_default();
        self.last_output = now;
        if tracker.quiet_for(now).is_none_or(|quiet| quiet > ECHO_OF_KEY) {
            self.last_work = now;
        }
        self.modes.take(bytes);
        self.screen.take(bytes);
        Read::Bytes(filled)
    }

    /// Sends keys to the program, now or when it reads.
    pub(super) fn type_keys(&mut self, bytes: &[u8]) {
        self.keys.extend(bytes);
        self.flush();
    }

    /// Sends keys that wait.
    pub(super) fn flush(&mut self) {
        while !self.keys.is_empty() {
            let (first, _) = self.keys.as_slices();
            match rustix::io::write(self.pty.master(), first) {
                Ok(count) => drop(self.keys.drain(..count)),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => return self.keys.clear(),
            }
        }
    }

    /// Keys that wait until the program reads.
    pub(super) fn waiting_keys(&self) -> usize {
        self.keys.len()
    }

    /// Whether keys were sent that the program has not read.
    pub(super) fn has_unread_keys(&self) -> bool {
        self.waiting_keys() > 0 || self.pty.has_unread_keys()
    }

    /// Says that there will be no more keys.
    pub(super) fn end_keys(&mut self, ended_a_line: bool) {
        const END_OF_FILE: u8 = 4;
        if self.pty.reads_lines() {
            let times = if ended_a_line { 1 } else { 2 };
            self.type_keys([END_OF_FILE; 2].get(..times).unwrap_or_default());
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        if size == self.size || size.rows == 0 || size.cols == 0 {
            return;
        }
        self.size = size;
        self.screen.resize(size);
        self.set_window(size);
    }

    /// Makes the program paint its screen anew, by another size for a moment.
    pub(super) fn nudge(&mut self, now: Instant) {
        let rows = if self.size.rows > 2 { self.size.rows - 1 } else { self.size.rows + 1 };
        self.set_window(Size { rows, ..self.size });
        self.nudged = Some(now);
    }

    /// Ends a nudge in time, and asks for a new painting where one is needed.
    pub(super) fn tick(&mut self, now: Instant) {
        if self.nudged.is_some_and(|since| now.saturating_duration_since(since) >= NUDGE) {
            self.nudged = None;
            self.set_window(self.size);
        }
        if self.screen.wants_repaint(self.last_output, self.pace.still, now) {
            self.nudge(now);
        }
    }

    /// Whether something is under way that needs a look soon.
    pub(super) fn is_restless(&self) -> bool {
        self.nudged.is_some()
    }

    /// How long nothing was printed.
    pub(super) fn is_still_for(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.last_output)
    }

    /// Whether something was printed since then.
    pub(super) fn has_printed_since(&self, then: Instant) -> bool {
        self.last_output > then
    }

    /// Whether the program asks something.
    pub(super) fn shows_dialog(&mut self) -> bool {
        self.screen.draw_all();
        self.screen.shows_dialog() || self.pty.hides_keys()
    }

    /// What the program is doing. While a human types it is what it was before: reading the screen
    /// takes longer than a key may.
    pub(super) fn activity(&mut self, now: Instant) -> Activity {
        if now.saturating_duration_since(self.last_work) < self.pace.still || !self.is_in_front() {
            self.waiting = Activity::Idle;
            return Activity::Busy;
        }
        if !self.screen.is_known() {
            return Activity::Unknown;
        }
        if self.is_still_for(now) >= self.pace.still && self.looked_at != Some(self.last_output) {
            let asks = self.shows_dialog();
            self.waiting = if asks { Activity::Dialog } else { Activity::Idle };
            self.looked_at = Some(self.last_output);
        }
        self.waiting
    }

    /// Whether something is half typed, by the keys and by the screen.
    pub(super) fn draft(&mut self, tracker: &mut Tracker, now: Instant) -> bool {
        match tracker.draft(now) {
            Draft::Yes => true,
            Draft::No => false,
            Draft::Perhaps => {
                self.screen.draw_all();
                !self.screen.is_known() || self.screen.line() != Line::Clear
            }
        }
    }

    /// Whether a notice may be typed now.
    pub(super) fn gate(&mut self, tracker: &mut Tracker, now: Instant) -> Result<(), Refusal> {
        if self.draft(tracker, now) {
            return Err(Refusal::HumanInputBusy);
        }
        if self.is_still_for(now) < self.pace.still
            || self.waiting_keys() > 0
            || !self.is_in_front()
        {
            return Err(Refusal::TurnRunning);
        }
        if !self.screen.is_known() {
            return Err(Refusal::ScreenUnknown);
        }
        if self.shows_dialog() {
            return Err(Refusal::DialogOpen);
        }
        if self.screen.line() == Line::Filled {
            return Err(Refusal::HumanInputBusy);
        }
        Ok(())
    }

    /// What shows all this to somebody who begins to watch.
    pub(super) fn painted(&mut self) -> Vec<u8> {
        let mut bytes = self.modes.again();
        bytes.extend(self.screen.painted());
        // Painting shows or hides the cursor; the program's own word comes last.
        bytes
    }

    /// Sends a signal to the program and whatever it has in front.
    pub(super) fn signal(&self, signal: Signal) {
        let in_front = self.pty.in_front().filter(|group| *group != self.group);
        for group in in_front.into_iter().chain([self.group]) {
            if let Err(error) = kill_process_group(group, signal) {
                tracing::debug!(%error, "a program could not be signalled");
            }
        }
    }

    /// The program has ended: what it printed last is still to be read.
    pub(super) fn has_ended(&mut self) {
        self.pty.close_program_end();
    }

    /// Whether more is printed within this time.
    fn comes_more(&self, patience: Option<Duration>) -> bool {
        let Some(patience) = patience.and_then(|patience| Timespec::try_from(patience).ok()) else {
            return false;
        };
        let mut fds = [PollFd::from_borrowed_fd(self.pty.master(), PollFlags::IN)];
        rustix::event::poll(&mut fds, Some(&patience)).is_ok_and(|count| count > 0)
    }

    fn is_in_front(&self) -> bool {
        self.pty.in_front() == Some(self.group)
    }

    fn set_window(&self, size: Size) {
        if let Err(error) = self.pty.resize(size) {
            tracing::debug!(%error, "a window could not be resized");
        }
    }
}
