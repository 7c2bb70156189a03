//! What the daemon knows, and who listens to it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use super::FakeSignal;

/// Events a daemon keeps for listeners that come back.
const KEPT_MAX: usize = 1_000;
/// Pieces that may wait for a listener.
const PIECES_MAX: usize = 65_536;

/// What goes to a listener.
#[derive(Debug)]
pub(super) enum Piece {
    /// Bytes, as they stand.
    Bytes(Vec<u8>),
    /// The connection breaks, in the middle of whatever was being said.
    HangUp,
}

/// How a listener hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hearing {
    /// An event stream.
    Events,
    /// Lines, subscribed or not.
    Lines { subscription: Option<u64> },
}

#[derive(Debug)]
struct Listener {
    number: u64,
    hearing: Hearing,
    out: mpsc::Sender<Piece>,
}

/// What the daemon knows, shared by its connections.
#[derive(Debug, Default)]
pub(super) struct State {
    inner: Mutex<Inner>,
    pub(super) called: Notify,
}

impl State {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the daemon knows.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
pub(super) struct Inner {
    pub(super) keeps_events: bool,
    pub(super) piece_bytes: usize,
    pub(super) receives_unasked: bool,
    pub(super) serves_several: bool,
    pub(super) is_silent: bool,
    pub(super) accounts: Vec<Value>,
    pub(super) groups: Value,
    pub(super) contacts: Value,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) failures: VecDeque<Value>,
    pub(super) sent: Vec<Value>,
    pub(super) calls: Vec<String>,
    run: u64,
    next_event: u64,
    next_listener: u64,
    kept: VecDeque<(u64, Value)>,
    waiting_at_server: VecDeque<Value>,
    listeners: Vec<Listener>,
}

impl Default for Inner {
    fn default() -> Self {
        let own = json!({ "number": FakeSignal::ACCOUNT, "aci": FakeSignal::OWN_UUID });
        Self {
            keeps_events: false,
            piece_bytes: usize::MAX,
            receives_unasked: false,
            serves_several: true,
            is_silent: false,
            accounts: vec![own],
            groups: json!([]),
            contacts: json!([]),
            files: BTreeMap::new(),
            failures: VecDeque::new(),
            sent: Vec::new(),
            calls: Vec::new(),
            run: 1_700_000_000_000,
            next_event: 1,
            next_listener: 1,
            kept: VecDeque::new(),
            waiting_at_server: VecDeque::new(),
            listeners: Vec::new(),
        }
    }
}

impl Inner {
    pub(super) fn listeners(&mut self) -> usize {
        self.listeners.retain(|listener| !listener.out.is_closed());
        self.listeners.len()
    }

    pub(super) fn restart(&mut self) {
        self.hang_up();
        self.kept.clear();
        self.run += 1;
        self.next_event = 1;
    }

    pub(super) fn hang_up(&mut self) {
        for listener in self.listeners.drain(..) {
            listener.out.try_send(Piece::HangUp).ok();
        }
    }

    /// Somebody listens: first what was kept for them, then what waited at the server.
    pub(super) fn listen(
        &mut self,
        hearing: Hearing,
        last_event: Option<&str>,
    ) -> (u64, mpsc::Receiver<Piece>) {
        let (out, pieces) = mpsc::channel(PIECES_MAX);
        let number = self.next_listener;
        self.next_listener += 1;
        self.listeners.push(Listener { number, hearing, out });
        if let Some(last_event) = last_event.filter(|_| self.keeps_events) {
            let prefix = format!("{}-", self.run);
            let after = last_event.strip_prefix(&prefix).and_then(|text| text.parse().ok());
            let missed: Vec<(u64, Value)> = self
                .kept
                .iter()
                .filter(|(event, _)| *event > after.unwrap_or(0))
                .cloned()
                .collect();
            for (event, what) in missed {
                self.say_to(number, Some(event), &what);
            }
        }
        self.fetch_waiting();
        (number, pieces)
    }

    /// A listener by the line subscribes.
    pub(super) fn subscribe(&mut self, number: u64) {
        for listener in &mut self.listeners {
            if listener.number == number {
                listener.hearing = Hearing::Lines { subscription: Some(number) };
            }
        }
        self.fetch_waiting();
    }

    fn fetch_waiting(&mut self) {
        if self.hears().is_empty() {
            return;
        }
        for what in std::mem::take(&mut self.waiting_at_server) {
            self.receive(what);
        }
    }

    /// Who hears what is received.
    fn hears(&mut self) -> Vec<u64> {
        let unasked = self.receives_unasked;
        self.listeners.retain(|listener| !listener.out.is_closed());
        let does_hear = |listener: &&Listener| match listener.hearing {
            Hearing::Events => true,
            Hearing::Lines { subscription } => subscription.is_some() || unasked,
        };
        self.listeners.iter().filter(does_hear).map(|listener| listener.number).collect()
    }

    pub(super) fn receive(&mut self, what: Value) {
        let hears = self.hears();
        if hears.is_empty() {
            self.waiting_at_server.push_back(what);
            return;
        }
        let event = self.keep(&what);
        for number in hears {
            self.say_to(number, event, &what);
        }
    }

    pub(super) fn receive_torn(&mut self, what: &Value) {
        let hears = self.hears();
        let event = self.keep(what);
        for number in hears {
            let Some(listener) = self.listeners.iter().find(|one| one.number == number) else {
                continue;
            };
            let mut text = self.written(listener.hearing, event, what);
            text.truncate(text.len() / 2);
            listener.out.try_send(Piece::Bytes(text.into_bytes())).ok();
        }
        self.hang_up();
    }

    fn keep(&mut self, what: &Value) -> Option<u64> {
        if !self.keeps_events {
            return None;
        }
        let event = self.next_event;
        self.next_event += 1;
        self.kept.push_back((event, what.clone()));
        if self.kept.len() > KEPT_MAX {
            self.kept.pop_front();
        }
        Some(event)
    }

    /// As the listener hears it.
    fn written(&self, hearing: Hearing, event: Option<u64>, what: &Value) -> String {
        let plain = json!({ "jsonrpc": "2.0", "method": "receive", "params": what });
        match hearing {
            Hearing::Events => {
                let id =
                    event.map_or_else(String::new, |event| format!("id:{}-{event}\n", self.run));
                format!("{id}event:receive\ndata:{what}\n\n")
            }
            Hearing::Lines { subscription: None } => format!("{plain}\n"),
            Hearing::Lines { subscription: Some(number) } => {
                let params = json!({ "subscription": number, "result": what });
                let nested = json!({ "jsonrpc": "2.0", "method": "receive", "params": params });
                if self.receives_unasked {
                    format!("{plain}\n{nested}\n")
                } else {
                    format!("{nested}\n")
                }
            }
        }
    }

    fn say_to(&self, number: u64, event: Option<u64>, what: &Value) {
        let Some(listener) = self.listeners.iter().find(|one| one.number == number) else { return };
        if self.is_silent {
            return;
        }
        let text = self.written(listener.hearing, event, what);
        for piece in text.as_bytes().chunks(self.piece_bytes) {
            listener.out.try_send(Piece::Bytes(piece.to_vec())).ok();
        }
    }

    /// The same bytes to every event stream.
    pub(super) fn say_raw(&self, text: &str) {
        for listener in self.listeners.iter().filter(|one| one.hearing == Hearing::Events) {
            listener.out.try_send(Piece::Bytes(text.as_bytes().to_vec())).ok();
        }
    }
}
