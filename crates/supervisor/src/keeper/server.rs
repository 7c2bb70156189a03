//! The keeper's loop: keys in, output out, questions answered, notices typed.

mod answers;
mod life;
mod ready;

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use rustix::event::EventfdFlags;
use tokio::sync::watch;

use super::facts::{Facts, Standing};
use super::frame::{self, Mark};
use super::peer::{self, Peer, Role};
use super::program::Plan;
use super::records::Records;
use super::stream::Stream;
use super::terminal::{Read, Terminal};
use super::typing::{Entered, Typing};
use crate::clock;
use crate::human::Tracker;
use crate::limits::{
    DRAW_AFTER, INPUT_BYTES_MAX, OUTPUT_BATCH_BYTES, PEERS_MAX, STILL, TICK_ASLEEP, TICK_AWAKE,
    TICK_BUSY,
};
use crate::pty::{Change, Manner};
use crate::screen::Size;
use crate::session::Activity;

/// News that other threads may wait to deliver.
const NEWS_MAX: usize = 16;

/// What other threads tell the loop.
enum News {
    /// Something became of the program that was started as this one.
    Program { start: u64, change: Change },
    /// End the program.
    Stop,
}

/// The way to tell it.
#[derive(Clone)]
pub struct Orders {
    news: SyncSender<News>,
    bell: Arc<OwnedFd>,
}

impl Orders {
    /// Ends the program, and with it the keeper.
    pub fn stop(&self) {
        self.tell(News::Stop);
    }

    fn tell(&self, news: News) {
        // Only a loop that has ended takes no more.
        if self.news.send(news).is_ok()
            && let Err(error) = rustix::io::write(&self.bell, &1_u64.to_ne_bytes())
        {
            tracing::debug!(%error, "the keeper's bell is broken");
        }
    }
}

/// The program, as far as it is there.
enum Body {
    /// It has not started.
    Waiting(Instant),
    Terminal(Box<Terminal>),
    Stream(Box<Stream>),
}

/// A wake whose turn is waited for.
struct Awaited {
    peer: u64,
    wake_id: String,
    until: Instant,
}

/// How a program is being ended.
struct Ending {
    since: Instant,
    was_killed: bool,
    /// Whether it starts anew afterwards.
    again: bool,
}

/// The process's one keeper.
pub struct Keeper {
    plan: Plan,
    listener: UnixListener,
    news: Receiver<News>,
    orders: Orders,
    facts: watch::Sender<Facts>,
    body: Body,
    /// How often the program was started.
    starts: u64,
    standing: Standing,
    ended_at: Option<Instant>,
    ending: Option<Ending>,
    peers: Vec<Peer>,
    next_peer: u64,
    tracker: Tracker,
    typing: Option<Typing>,
    entered: Option<Entered>,
    records: Records,
    turns: Vec<String>,
    awaited: Vec<Awaited>,
    /// Notices said to a program that has not answered yet.
    said: Vec<String>,
    buffer: Vec<u8>,
    facts_are_old: bool,
    facts_were_told: Option<Instant>,
    /// Whether the watchers know that the program has ended.
    was_told: bool,
    size: Size,
    manner: Manner,
}

impl Keeper {
    /// A keeper whose program starts with the first watcher. The process must lead its session.
    pub fn new(
        plan: Plan,
        listener: UnixListener,
        facts: watch::Sender<Facts>,
    ) -> io::Result<(Self, Orders)> {
        let (sender, news) = std::sync::mpsc::sync_channel(NEWS_MAX);
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let orders = Orders { news: sender, bell: Arc::new(bell) };
        let keeper = Self {
            records: Records::of(&plan.folder),
            plan,
            listener,
            news,
            orders: orders.clone(),
            facts,
            body: Body::Waiting(clock::now()),
            starts: 0,
            standing: Standing::Waiting,
            ended_at: None,
            ending: None,
            peers: Vec::new(),
            next_peer: 0,
            tracker: Tracker::default(),
            typing: None,
            entered: None,
            turns: Vec::new(),
            awaited: Vec::new(),
            said: Vec::new(),
            buffer: peer::output_buffer(),
            facts_are_old: true,
            facts_were_told: None,
            was_told: false,
            size: Size::default(),
            manner: Manner::Terminal,
        };
        Ok((keeper, orders))
    }

    /// Keeps the program until it has ended and everybody knows; answers its exit code.
    pub fn run(mut self) -> io::Result<i32> {
        if !self.plan.awaits_watcher {
            self.start(clock::now());
        }
        loop {
            let now = clock::now();
            self.tick(now);
            if let Some(code) = self.farewell(now) {
                return Ok(code);
            }
            let may_read = !self.is_held_up(now);
            let draws = self.wants_drawing();
            let patience = if draws { DRAW_AFTER } else { self.patience(now) };
            let ready = self.poll(may_read, patience)?;
            let now = clock::now();
            if ready.is_empty() && draws {
                self.draw();
            }
            for source in ready {
                self.serve(source, now);
            }
            self.peers.retain(|peer| !peer.is_gone);
        }
    }

    fn draw(&mut self) {
        if let Body::Terminal(terminal) = &mut self.body {
            terminal.screen.draw();
        }
    }

    fn wants_drawing(&self) -> bool {
        matches!(&self.body, Body::Terminal(terminal) if terminal.screen.wants_drawing())
    }

    /// How long nothing needs a look.
    fn patience(&self, now: Instant) -> Duration {
        let restless = matches!(&self.body, Body::Terminal(terminal) if terminal.is_restless());
        let recent = match &self.body {
            Body::Terminal(terminal) => terminal.is_still_for(now) < STILL * 4,
            Body::Waiting(_) => true,
            Body::Stream(_) => false,
        };
        if self.typing.is_some() || restless || self.ended_at.is_some() {
            TICK_BUSY
        } else if recent
            || self.facts_are_old
            || self.entered.is_some()
            || self.ending.is_some()
            || !self.awaited.is_empty()
        {
            TICK_AWAKE
        } else {
            TICK_ASLEEP
        }
    }

    /// Whether a watcher is so slow that the program has to wait.
    fn is_held_up(&mut self, now: Instant) -> bool {
        // All are asked: each keeps its own time.
        self.peers.iter_mut().filter_map(|peer| peer.holds_up(now).then_some(())).count() > 0
    }

    /// Whether those who type have to wait.
    fn has_many_keys(&self) -> bool {
        let held = self.typing.as_ref().map_or(0, |typing| typing.held.len());
        let waiting = match &self.body {
            Body::Terminal(terminal) => terminal.waiting_keys(),
            _ => 0,
        };
        held + waiting >= INPUT_BYTES_MAX
    }

    /// Reads what the program printed and shows it to those who watch.
    fn read_program(&mut self, now: Instant) {
        self.facts_are_old = true;
        let Some((head, room)) = self.buffer.split_at_mut_checked(frame::HEAD_BYTES) else {
            return;
        };
        match &mut self.body {
            Body::Terminal(terminal) => {
                if let Read::Bytes(count) = terminal.read(room, &self.tracker, now) {
                    head.copy_from_slice(&frame::head(Mark::Output, count));
                    let whole = self.buffer.get(..frame::HEAD_BYTES + count).unwrap_or_default();
                    for peer in self.peers.iter_mut().filter(|peer| peer.watches()) {
                        peer.send(whole);
                    }
                }
            }
            Body::Stream(stream) => {
                let heard = stream.read(room.get_mut(..OUTPUT_BATCH_BYTES).unwrap_or_default());
                if heard.contains(&super::stream::Heard::Working) {
                    for wake_id in std::mem::take(&mut self.said) {
                        self.turn_began(wake_id);
                    }
                }
            }
            Body::Waiting(_) => {}
        }
    }

    /// Sends something to everybody who watches.
    fn tell_watchers(&mut self, mark: Mark, body: &[u8]) {
        let bytes = frame::frame(mark, body);
        for peer in self.peers.iter_mut().filter(|peer| peer.watches()) {
            peer.send(&bytes);
        }
    }

    /// Tells those who report what is known.
    fn publish(&mut self, now: Instant) {
        let (activity, draft, process) = match &mut self.body {
            Body::Terminal(terminal) => (
                terminal.activity(now),
                terminal.draft(&mut self.tracker, now),
                terminal.process().cloned(),
            ),
            Body::Stream(stream) => (stream.activity(), false, stream.process().cloned()),
            Body::Waiting(_) => (Activity::Unknown, false, None),
        };
        let facts = Facts {
            standing: self.standing,
            process,
            activity,
            draft,
            last_key: self.tracker.last_key(),
        };
        self.facts.send_if_modified(|known| {
            let is_new = *known != facts;
            *known = facts;
            is_new
        });
    }

    fn accept(&mut self) {
        while let Ok((stream, _)) = self.listener.accept() {
            if self.peers.len() >= PEERS_MAX || !super::socket::is_own(&stream) {
                continue;
            }
            if let Ok(peer) = Peer::new(self.next_peer, stream) {
                self.next_peer += 1;
                self.peers.push(peer);
            }
        }
    }

    fn peer(&mut self, id: u64) -> Option<&mut Peer> {
        self.peers.iter_mut().find(|peer| peer.id == id)
    }

    fn watchers(&self) -> usize {
        self.peers.iter().filter(|peer| peer.role != Role::Asking).count()
    }
}
