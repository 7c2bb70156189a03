//! A program's life: started, stopped, continued, ended, started anew.

use std::time::Instant;

use rustix::process::{Pid, Signal};

use super::super::facts::Standing;
use super::super::frame::Mark;
use super::super::program::Kind;
use super::super::protocol::Answer;
use super::super::records::Typed;
use super::super::stream::Stream;
use super::super::terminal::Terminal;
use super::super::typing::{Entered, Next, Typing};
use super::{Body, Ending, Keeper, News};
use crate::limits::{END_PATIENCE, FAREWELL_PATIENCE, FIRST_WATCHER_PATIENCE, LAST_WORDS_PATIENCE};
use crate::pty::{self, Change};

/// The exit code of a program that could not be started, as shells have it.
const NOT_STARTED: i32 = 127;

impl Keeper {
    /// Starts the program.
    pub(super) fn start(&mut self, now: Instant) {
        self.starts += 1;
        self.ended_at = None;
        self.ending = None;
        self.tracker.forget();
        let started = match self.plan.kind {
            Kind::Terminal => Terminal::start(&self.plan, self.size, self.manner, now)
                .map(|terminal| (terminal.pid(), Body::Terminal(Box::new(terminal)))),
            Kind::Stream => Stream::start(&self.plan)
                .map(|stream| (stream.pid(), Body::Stream(Box::new(stream)))),
        };
        self.facts_are_old = true;
        match started {
            Ok((pid, body)) => {
                self.body = body;
                self.standing = Standing::Running;
                self.watch(pid);
            }
            Err(error) => {
                tracing::error!(%error, "the program could not be started");
                let text = format!("waystation: the program could not be started: {error}\r\n");
                self.tell_watchers(Mark::Output, text.as_bytes());
                self.program_ended(NOT_STARTED, now);
            }
        }
    }

    /// Waits in a thread of its own for what becomes of the program: the kernel tells of stops only
    /// to those who wait.
    fn watch(&self, pid: Pid) {
        let (orders, start) = (self.orders.clone(), self.starts);
        std::thread::spawn(move || {
            loop {
                let change = pty::wait(pid).unwrap_or(Change::Ended(1));
                orders.tell(News::Program { start, change });
                if change != Change::Stopped {
                    return;
                }
            }
        });
    }

    pub(super) fn program_changed(&mut self, change: Change, now: Instant) {
        self.facts_are_old = true;
        match change {
            Change::Stopped => {
                self.standing = Standing::Stopped;
                let undo = self.undo();
                self.tell_watchers(Mark::Output, &undo);
                self.tell_watchers(Mark::Stopped, b"");
                if self.watchers() == 0 || self.ending.is_some() {
                    // Nobody could continue it.
                    self.go_on();
                }
            }
            Change::Ended(code) => self.program_ended(code, now),
        }
    }

    fn program_ended(&mut self, code: i32, now: Instant) {
        self.standing = Standing::Ended(code);
        self.ended_at = Some(now);
        if let Some(entered) = self.entered.take() {
            // One that ends when it is told something has been told.
            let has_read = matches!(&self.body, Body::Terminal(it) if !it.has_unread_keys());
            let answer = if has_read { self.taken(&entered.wake_id) } else { ended() };
            self.answer_all(entered.peers, &answer);
        }
        if let Body::Terminal(terminal) = &mut self.body {
            terminal.has_ended();
        }
        if let Some(typing) = self.typing.take() {
            self.answer_all(typing.peers, &ended());
        }
    }

    /// Continues a program that is stopped.
    pub(super) fn go_on(&mut self) {
        if self.standing == Standing::Stopped {
            self.standing = Standing::Running;
            self.facts_are_old = true;
            self.signal(Signal::CONT);
        }
    }

    /// Tells the program to end.
    pub(super) fn end_program(&mut self, again: bool, now: Instant) {
        if let Standing::Ended(_) | Standing::Waiting = self.standing {
            if self.standing == Standing::Waiting {
                self.program_ended(0, now);
            }
            return;
        }
        self.ending = Some(Ending { since: now, was_killed: false, again });
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        match &self.body {
            Body::Terminal(terminal) => terminal.signal(signal),
            Body::Stream(stream) => stream.signal(signal),
            Body::Waiting(_) => {}
        }
    }

    /// Does what is due.
    pub(super) fn tick(&mut self, now: Instant) {
        let waited = match &self.body {
            Body::Waiting(since) => now.saturating_duration_since(*since),
            _ => std::time::Duration::ZERO,
        };
        if waited >= FIRST_WATCHER_PATIENCE && self.standing == Standing::Waiting {
            self.start(now);
        }
        if let Body::Terminal(terminal) = &mut self.body {
            terminal.tick(now);
        }
        self.type_on(now);
        self.answer_awaited(now);
        if let Some(ending) = &mut self.ending
            && !ending.was_killed
            && now.saturating_duration_since(ending.since) >= END_PATIENCE
        {
            ending.was_killed = true;
            self.signal(Signal::KILL);
        }
        if self.facts_are_old {
            // Whether the program is at work shows only later: then it is looked at again.
            self.facts_are_old = match &self.body {
                Body::Terminal(terminal) => terminal.is_still_for(now) < crate::limits::STILL * 2,
                _ => false,
            };
            if self
                .facts_were_told
                .is_none_or(|then| now.saturating_duration_since(then) >= crate::limits::TICK_AWAKE)
            {
                self.facts_were_told = Some(now);
                self.publish(now);
            } else {
                self.facts_are_old = true;
            }
        }
    }

    /// Presses Enter when it is time, and lets go of what humans typed meanwhile; says so when the
    /// program has taken it.
    fn type_on(&mut self, now: Instant) {
        let Body::Terminal(terminal) = &mut self.body else { return };
        if let Some(entered) = self.entered.take_if(|entered| entered.is_taken(terminal, now)) {
            let answer = self.taken(&entered.wake_id);
            return self.answer_all(entered.peers, &answer);
        }
        let Some(typing) = &self.typing else { return };
        let next = typing.next(terminal, now);
        if next == Next::Wait {
            return;
        }
        let Some(Typing { wake_id, peers, held, .. }) = self.typing.take() else { return };
        if next == Next::GiveUp {
            // The line is not empty now, and no human knows why: nothing more is typed into it.
            self.tracker.suspect();
            let answer = Answer::Unsure("a dialog opened before Enter".to_owned());
            self.answer_all(peers, &answer);
        } else if let Err(error) = self.records.write(&wake_id, Typed::Entering) {
            self.answer_all(peers, &Answer::Unsure(error.to_string()));
        } else {
            terminal.type_keys(b"\r");
            self.entered = Some(Entered { wake_id, peers, since: now });
        }
        self.take_keys(&held, now);
    }

    /// The program has taken a notice: writes it down before anybody is told.
    fn taken(&mut self, wake_id: &str) -> Answer {
        match self.records.write(wake_id, Typed::Done) {
            Ok(()) => Answer::Done,
            Err(error) => Answer::Unsure(error.to_string()),
        }
    }

    fn answer_all(&mut self, peers: Vec<u64>, answer: &Answer) {
        for peer in peers {
            self.answer(peer, answer);
        }
    }

    /// The exit code, once the program has ended, said its last words, and everybody knows.
    pub(super) fn farewell(&mut self, now: Instant) -> Option<i32> {
        let (Standing::Ended(code), Some(ended)) = (self.standing, self.ended_at) else {
            return None;
        };
        let passed = now.saturating_duration_since(ended);
        let is_silent = match &self.body {
            Body::Terminal(terminal) => terminal.is_silent(),
            Body::Stream(stream) => stream.is_silent(),
            Body::Waiting(_) => true,
        };
        if !is_silent && passed < LAST_WORDS_PATIENCE {
            return None;
        }
        if self.ending.as_ref().is_some_and(|ending| ending.again) {
            let undo = self.undo();
            self.tell_watchers(Mark::Output, &undo);
            self.start(now);
            return None;
        }
        if !self.was_told {
            self.was_told = true;
            self.publish(now);
            let undo = self.undo();
            self.tell_watchers(Mark::Output, &undo);
            self.tell_watchers(Mark::Ended, &code.to_be_bytes());
        }
        let all_read = self.peers.iter().all(|peer| !peer.has_more());
        (all_read || passed >= FAREWELL_PATIENCE).then_some(code)
    }
}

fn ended() -> Answer {
    Answer::Unsure("the program ended".to_owned())
}
