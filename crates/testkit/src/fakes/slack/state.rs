//! What the fake workspace knows.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::super::trouble::Hiding;
use super::OWN_ID;
use super::socket::Command;

/// Everything of the fake that changes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) sockets_at: SocketAddr,
    pub(super) files_at: String,
    /// Acknowledgements of what people asked.
    pub(super) answers: Vec<Value>,
    pub(super) scopes: String,
    pub(super) users: Vec<Value>,
    pub(super) chats: Vec<Value>,
    /// By chat, in the order of their `ts`; replies among them.
    pub(super) messages: HashMap<String, Vec<Value>>,
    pub(super) files: Vec<(Value, Vec<u8>)>,
    pub(super) calls: Vec<(String, Vec<(String, String)>)>,
    /// By method: calls left, and the seconds to wait after them.
    pub(super) limits: HashMap<String, (u32, u64)>,
    pub(super) failures: HashMap<String, Value>,
    pub(super) page_max: usize,
    pub(super) cursors: HashMap<String, usize>,
    pub(super) cursors_made: u64,
    pub(super) tickets: Vec<String>,
    pub(super) tickets_made: u64,
    pub(super) sockets: Vec<Socket>,
    pub(super) sockets_opened: u64,
    pub(super) keeps_events: bool,
    /// By envelope id, what was sent and not acknowledged.
    pub(super) unacknowledged: BTreeMap<u64, Envelope>,
    pub(super) acknowledged: Vec<String>,
    pub(super) callbacks: HashMap<String, Value>,
    /// By `ts`, messages that no list shows yet.
    pub(super) hidden: HashMap<String, Hiding>,
    /// Whether metadata is shown to nobody.
    pub(super) withholds_metadata: bool,
    /// The views that were opened, with what opened them.
    pub(super) views: Vec<(String, Value)>,
    /// What opens a view, once.
    pub(super) triggers: BTreeSet<String>,
    envelopes_made: u64,
    events_made: u64,
    micros: i64,
}

/// An open socket.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) number: u64,
    pub(super) commands: mpsc::Sender<Command>,
}

/// An event under way.
#[derive(Clone, Debug)]
pub(super) struct Envelope {
    pub(super) callback: Value,
    pub(super) retry_attempt: u32,
    /// The socket it was sent on.
    pub(super) socket: Option<u64>,
}

/// 2026-02-17T12:00:00Z, in microseconds.
const BEGINNING_MICROS: i64 = 1_771_329_600_000_000;

impl State {
    pub(super) fn new(sockets_at: SocketAddr) -> Self {
        Self {
            sockets_at,
            files_at: String::new(),
            answers: Vec::new(),
            scopes: "channels:history,channels:read,groups:history,groups:read,im:history,im:read,\
                     mpim:history,mpim:read,users:read,users:read.email,reactions:read,files:read,\
                     chat:write,app_mentions:read,commands"
                .to_owned(),
            users: vec![
                user("U1", "anna", "Anna Müller"),
                user("U2", "bob", "Bob"),
                user(OWN_ID, "waystation", "Waystation"),
            ],
            chats: Vec::new(),
            messages: HashMap::new(),
            files: Vec::new(),
            calls: Vec::new(),
            limits: HashMap::new(),
            failures: HashMap::new(),
            page_max: 1_000,
            cursors: HashMap::new(),
            cursors_made: 0,
            tickets: Vec::new(),
            tickets_made: 0,
            sockets: Vec::new(),
            sockets_opened: 0,
            keeps_events: true,
            unacknowledged: BTreeMap::new(),
            acknowledged: Vec::new(),
            callbacks: HashMap::new(),
            hidden: HashMap::new(),
            withholds_metadata: false,
            views: Vec::new(),
            triggers: BTreeSet::new(),
            envelopes_made: 0,
            events_made: 0,
            micros: BEGINNING_MICROS,
        }
    }

    /// A `ts` after every one before.
    pub(super) fn next_ts(&mut self) -> String {
        self.micros += 1_000_001;
        format!("{}.{:06}", self.micros / 1_000_000, self.micros % 1_000_000)
    }

    /// Keeps what somebody says, and answers its `ts` and event.
    pub(super) fn say(
        &mut self,
        channel: &str,
        user: &str,
        text: &str,
        thread: Option<&str>,
    ) -> (String, Value) {
        let ts = self.next_ts();
        let mut message = json!({"type": "message", "user": user, "text": text, "ts": ts});
        if let Some(thread) = thread {
            put(&mut message, "thread_ts", json!(thread));
        }
        self.keep(channel, message.clone());
        let chat = self.chats.iter().find(|chat| chat["id"] == channel);
        let is = |name: &str| chat.is_some_and(|chat| chat[name] == true);
        let sort = match (is("is_im"), is("is_mpim"), is("is_private")) {
            (true, _, _) => "im",
            (_, true, _) => "mpim",
            (_, _, true) => "group",
            _ => "channel",
        };
        put(&mut message, "channel", json!(channel));
        put(&mut message, "channel_type", json!(sort));
        put(&mut message, "event_ts", json!(ts));
        (ts, message)
    }

    /// Puts a message where its `ts` belongs.
    pub(super) fn keep(&mut self, channel: &str, message: Value) {
        let messages = self.messages.entry(channel.to_owned()).or_default();
        let ts = text(&message, "ts").to_owned();
        let at = messages.partition_point(|one| text(one, "ts") < &*ts);
        messages.insert(at, message);
    }

    /// An event as Slack wraps it.
    pub(super) fn callback(&mut self, event: &Value) -> Value {
        self.events_made += 1;
        let event_id = format!("Ev{:08}", self.events_made);
        let callback = json!({
            "token": "unused", "team_id": "T1", "api_app_id": "A1", "type": "event_callback",
            "event": event, "event_id": event_id, "event_time": self.micros / 1_000_000,
            "authorizations": [{"team_id": "T1", "user_id": OWN_ID, "is_bot": true}],
        });
        self.callbacks.insert(event_id, callback.clone());
        callback
    }

    /// Sends an event on the newest socket, or keeps it until there is one.
    pub(super) fn deliver(&mut self, callback: Value, retry_attempt: u32) {
        if self.sockets.is_empty() && !self.keeps_events {
            return;
        }
        self.envelopes_made += 1;
        let envelope = Envelope { callback, retry_attempt, socket: None };
        self.unacknowledged.insert(self.envelopes_made, envelope);
        self.send_waiting();
    }

    /// Sends whatever waits for a socket.
    pub(super) fn send_waiting(&mut self) {
        let Some(socket) = self.sockets.last() else { return };
        for (number, envelope) in &mut self.unacknowledged {
            if envelope.socket.is_some() {
                continue;
            }
            let frame = json!({
                "envelope_id": envelope_id(*number), "type": "events_api",
                "accepts_response_payload": false, "payload": envelope.callback,
                "retry_attempt": envelope.retry_attempt,
                "retry_reason": if envelope.retry_attempt > 0 { "timeout" } else { "" },
            });
            if socket.commands.try_send(Command::Text(frame.to_string())).is_ok() {
                envelope.socket = Some(socket.number);
            }
        }
    }

    /// Sends again what was not acknowledged; the first sending may still be.
    pub(super) fn redeliver(&mut self) {
        let sent: Vec<Envelope> = self.unacknowledged.values().cloned().collect();
        for envelope in sent {
            self.deliver(envelope.callback, envelope.retry_attempt + 1);
        }
    }

    /// A socket is gone: what it was sent and did not acknowledge goes to another.
    pub(super) fn end_socket(&mut self, number: u64) {
        self.sockets.retain(|socket| socket.number != number);
        let keeps_events = self.keeps_events;
        self.unacknowledged.retain(|_, envelope| {
            if envelope.socket == Some(number) {
                envelope.socket = None;
                envelope.retry_attempt += 1;
                return keeps_events;
            }
            true
        });
        self.send_waiting();
    }

    pub(super) fn acknowledge(&mut self, id: &str) {
        let number = id.strip_prefix("envelope-").and_then(|number| number.parse().ok());
        let envelope = number.and_then(|number: u64| self.unacknowledged.remove(&number));
        if let Some(envelope) = envelope {
            self.acknowledged.push(text(&envelope.callback, "event_id").to_owned());
        }
    }
}

/// Puts a field into an object.
pub(super) fn put(object: &mut Value, name: &str, value: Value) {
    let fields = object.as_object_mut().expect("the fake makes objects");
    fields.insert(name.to_owned(), value);
}

/// A text in an object; empty where there is none.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn envelope_id(number: u64) -> String {
    format!("envelope-{number}")
}

fn user(id: &str, name: &str, real_name: &str) -> Value {
    json!({
        "id": id, "name": name, "real_name": real_name, "deleted": false,
        "profile": {
            "real_name": real_name, "display_name": "", "email": format!("{name}@acme.example"),
        },
    })
}
