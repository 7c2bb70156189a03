//! Waiting for whatever can be read or written, and serving it.

use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use super::super::frame::{self, Mark};
use super::super::peer::Role;
use super::{Body, Keeper, News};
use crate::screen::Size;

/// What is ready.
#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Bell,
    Listener,
    /// The program has something to read, or takes keys again.
    Program {
        readable: bool,
        writable: bool,
    },
    Peer {
        id: u64,
        readable: bool,
        writable: bool,
    },
}

impl Keeper {
    pub(super) fn poll(&self, may_read: bool, patience: Duration) -> io::Result<Vec<Source>> {
        let mut fds = vec![
            PollFd::new(&*self.orders.bell, PollFlags::IN),
            PollFd::new(&self.listener, PollFlags::IN),
        ];
        let when = |wanted: bool, flag: PollFlags| if wanted { flag } else { PollFlags::empty() };
        let mut sources = vec![Source::Bell, Source::Listener];
        let program = Source::Program { readable: false, writable: false };
        match &self.body {
            Body::Terminal(terminal) if !terminal.is_silent() => {
                let wanted = when(may_read, PollFlags::IN)
                    | when(terminal.waiting_keys() > 0, PollFlags::OUT);
                fds.push(PollFd::from_borrowed_fd(terminal.fd(), wanted));
                sources.push(program);
            }
            Body::Stream(stream) if !stream.is_silent() => {
                fds.push(PollFd::from_borrowed_fd(stream.stdout(), PollFlags::IN));
                sources.push(program);
                if stream.has_unsent() {
                    fds.push(PollFd::from_borrowed_fd(stream.stdin(), PollFlags::OUT));
                    sources.push(program);
                }
            }
            _ => {}
        }
        let may_type = !self.has_many_keys();
        for peer in &self.peers {
            let wanted = when(may_type || peer.role == Role::Asking, PollFlags::IN)
                | when(peer.has_more(), PollFlags::OUT);
            fds.push(PollFd::from_borrowed_fd(peer.stream.as_fd(), wanted));
            sources.push(Source::Peer { id: peer.id, readable: false, writable: false });
        }
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        match rustix::event::poll(&mut fds, Some(&patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = fds.iter().zip(sources).filter_map(|(fd, source)| {
            let found = fd.revents();
            // A closed end is read from, which says that it is closed.
            let readable = found.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR);
            let writable = found.contains(PollFlags::OUT);
            (readable || writable).then_some(match source {
                Source::Program { .. } => Source::Program { readable, writable },
                Source::Peer { id, .. } => Source::Peer { id, readable, writable },
                other => other,
            })
        });
        Ok(ready.collect())
    }

    pub(super) fn serve(&mut self, source: Source, now: Instant) {
        match source {
            Source::Bell => self.hear_news(now),
            Source::Listener => self.accept(),
            Source::Program { readable, writable } => {
                if writable {
                    match &mut self.body {
                        Body::Terminal(terminal) => terminal.flush(),
                        Body::Stream(stream) => stream.flush(),
                        Body::Waiting(_) => {}
                    }
                }
                if readable {
                    self.read_program(now);
                }
            }
            Source::Peer { id, readable, writable } => self.serve_peer(id, readable, writable, now),
        }
    }

    fn hear_news(&mut self, now: Instant) {
        let mut count = [0; 8];
        if let Err(error) = rustix::io::read(&*self.orders.bell, &mut count) {
            tracing::debug!(%error, "the keeper's bell is broken");
        }
        while let Ok(news) = self.news.try_recv() {
            match news {
                News::Program { start, change } if start == self.starts => {
                    self.program_changed(change, now);
                }
                News::Program { .. } => {}
                News::Stop => self.end_program(false, now),
            }
        }
    }

    fn serve_peer(&mut self, id: u64, readable: bool, writable: bool, now: Instant) {
        let Some(peer) = self.peer(id) else { return };
        if writable {
            peer.flush();
        }
        if peer.caught_up() {
            peer.role = Role::Watching;
            self.show(id, now);
        }
        let Some(peer) = self.peer(id) else { return };
        if !readable {
            return;
        }
        peer.read();
        loop {
            let Some(peer) = self.peer(id) else { return };
            if peer.role == Role::Asking {
                let Some(line) = peer.next_line() else { return };
                self.answer_line(id, &line, now);
            } else {
                let Some((mark, body)) = peer.next_frame() else { return };
                self.take_frame(id, mark, &body, now);
            }
        }
    }

    fn take_frame(&mut self, id: u64, mark: Mark, body: &[u8], now: Instant) {
        match mark {
            Mark::Keys => self.take_keys(body, now),
            Mark::Window => {
                if let Some(size) = frame::to_size(body) {
                    self.resize(size);
                }
            }
            Mark::NoMoreKeys => {
                if let Body::Terminal(terminal) = &mut self.body {
                    terminal.end_keys(body == b"\n");
                }
            }
            Mark::GoOn => {
                self.go_on();
                self.show(id, now);
            }
            Mark::Leave => self.let_go(id),
            Mark::Output | Mark::Ended | Mark::Stopped => {
                if let Some(peer) = self.peer(id) {
                    peer.is_gone = true;
                }
            }
        }
    }

    /// Passes keys on, or holds them back until a notice is through.
    pub(super) fn take_keys(&mut self, keys: &[u8], now: Instant) {
        self.facts_are_old = true;
        if let Some(typing) = &mut self.typing {
            typing.held.extend_from_slice(keys);
            return;
        }
        self.tracker.take(keys, now);
        if let Body::Terminal(terminal) = &mut self.body {
            terminal.type_keys(keys);
        }
    }

    pub(super) fn resize(&mut self, size: Size) {
        self.size = size;
        if let Body::Terminal(terminal) = &mut self.body {
            terminal.resize(size);
        }
    }

    /// Shows the whole screen to one who watches.
    pub(super) fn show(&mut self, id: u64, now: Instant) {
        let Body::Terminal(terminal) = &mut self.body else { return };
        let painted = frame::frame(Mark::Output, &terminal.painted());
        terminal.nudge(now);
        if let Some(peer) = self.peer(id) {
            peer.send(&painted);
        }
    }

    /// Says goodbye to one who leaves, with the terminal as it was found.
    fn let_go(&mut self, id: u64) {
        let undo = self.undo();
        if let Some(peer) = self.peer(id) {
            peer.send(&frame::frame(Mark::Output, &undo));
            peer.send(&frame::frame(Mark::Leave, b""));
        }
    }

    /// What puts a watcher's terminal back.
    pub(super) fn undo(&self) -> Vec<u8> {
        match &self.body {
            Body::Terminal(terminal) => terminal.modes.undo(),
            _ => Vec::new(),
        }
    }
}
