//! What a bridge must know to bring a new owner to where the old one was.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use bytes::BytesMut;
use serde_json::{Value, json};

use super::questions::Questions;
use crate::mcp;

/// How often a request is sent before it is blamed for what became of the owners.
const TRIES_MAX: u32 = 3;

const LOOK_FIRST: &str = "look before you send it again, or use an idempotency_key";

const SUBSCRIPTION_ID: &str = "/params/_meta/io.modelcontextprotocol~1subscriptionId";

/// What a client has asked, and what of it an owner has not answered.
#[derive(Default)]
pub(super) struct Memory {
    initialize: Option<Handshake>,
    initialized: Option<Vec<u8>>,
    subscribed: BTreeMap<String, Handshake>,
    waiting: HashMap<String, Waiting>,
    /// Ids that the client has an answer for: what was played again, and the thread if it was a
    /// subscription.
    played: HashMap<String, Option<String>>,
    questions: Questions,
    asked: u64,
    input_ended: bool,
}

struct Handshake {
    id: String,
    line: Vec<u8>,
}

struct Waiting {
    /// Requests are asked again in the order they came in.
    order: u64,
    line: Vec<u8>,
    tries: u32,
    /// The client knows that its `subscriptions/listen` is listened to.
    acknowledged: bool,
}

impl Waiting {
    /// An owner listens for the client: it did not go because of that. Whether the client hears it anew.
    fn acknowledge(&mut self) -> bool {
        self.tries = 0;
        !std::mem::replace(&mut self.acknowledged, true)
    }
}

impl Memory {
    /// A line from the client goes to the owner, unless it answers one that is gone.
    pub(super) fn pass_in(&mut self, line: Vec<u8>, to_owner: &mut BytesMut) {
        let Ok(mut message) = serde_json::from_slice::<Value>(&line) else {
            return to_owner.extend_from_slice(&line);
        };
        if is_answer(&message) {
            if let Some(id) = message.get_mut("id")
                && let Some(asked) = self.questions.answer(id)
            {
                *id = asked;
                to_owner.extend_from_slice(&mcp::framed(&message));
            }
            return;
        }
        to_owner.extend_from_slice(&line);
        self.note_request(&message, line);
    }

    fn note_request(&mut self, message: &Value, line: Vec<u8>) {
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
        let id = message.get("id").map(Value::to_string);
        let uri = || message.pointer("/params/uri").and_then(Value::as_str).unwrap_or_default();
        match (method, &id) {
            ("initialize", Some(id)) => {
                self.initialize = Some(Handshake { id: id.clone(), line: line.clone() });
            }
            ("notifications/initialized", _) => self.initialized = Some(line.clone()),
            ("resources/subscribe", Some(id)) => {
                let handshake = Handshake { id: id.clone(), line: line.clone() };
                self.subscribed.insert(uri().to_owned(), handshake);
            }
            ("resources/unsubscribe", _) => {
                self.subscribed.remove(uri());
            }
            ("notifications/cancelled", _) => {
                if let Some(id) = message.pointer("/params/requestId") {
                    self.waiting.remove(&id.to_string());
                }
            }
            _ => {}
        }
        if let (Some(id), false) = (id, method.is_empty()) {
            self.asked += 1;
            let waiting = Waiting { order: self.asked, line, tries: 1, acknowledged: false };
            self.waiting.insert(id, waiting);
        }
    }

    /// The client says nothing more.
    pub(super) fn note_end(&mut self) {
        self.input_ended = true;
    }

    /// A line from the owner goes to the client, unless the client has heard it before.
    pub(super) fn pass_out(&mut self, line: &[u8], to_client: &mut BytesMut) {
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else {
            return to_client.extend_from_slice(line);
        };
        let method = message.get("method").cloned();
        if let Some(id) = message.get_mut("id").filter(|_| method.is_some()) {
            *id = self.questions.ask(id.take());
            to_client.extend_from_slice(&mcp::framed(&message));
        } else if method.is_some_and(|method| method == "notifications/cancelled") {
            self.pass_withdrawal(message, to_client);
        } else if self.note(&message, to_client) {
            to_client.extend_from_slice(line);
        }
    }

    /// The owner takes back what it asked, unless that has been answered.
    fn pass_withdrawal(&mut self, mut message: Value, to_client: &mut BytesMut) {
        let Some(id) = message.pointer_mut("/params/requestId") else { return };
        if let Some(own) = self.questions.withdraw(id) {
            *id = own;
            to_client.extend_from_slice(&mcp::framed(&message));
        }
    }

    fn note(&mut self, message: &Value, to_client: &mut BytesMut) -> bool {
        if let Some(method) = message.get("method") {
            if method != "notifications/subscriptions/acknowledged" {
                return true;
            }
            let id = message.pointer(SUBSCRIPTION_ID).map(Value::to_string);
            let listen = id.and_then(|id| self.waiting.get_mut(&id));
            let is_new = listen.is_none_or(Waiting::acknowledge);
            if !is_new {
                look_at_chats(message, to_client);
            }
            return is_new;
        }
        let Some(id) = message.get("id").map(Value::to_string) else { return true };
        let Some(played) = self.played.remove(&id) else {
            // Only a client that gives up or a connection that ends cancels a request. This client still
            // waits, so the connection ends: the next owner is asked. After the client's end there is none.
            if !self.input_ended && is_cancelled(message) && self.waiting.contains_key(&id) {
                return false;
            }
            self.waiting.remove(&id);
            if message.get("error").is_some() {
                self.subscribed.retain(|_, subscribe| subscribe.id != id);
            }
            return true;
        };
        // Nobody can say what happened between the old owner's end and this: the client looks.
        if let Some(uri) = played.filter(|_| message.get("result").is_some()) {
            let updated = json!({
                "jsonrpc": "2.0", "method": "notifications/resources/updated",
                "params": { "uri": uri },
            });
            to_client.extend_from_slice(&mcp::framed(&updated));
        }
        false
    }

    /// Brings a new owner to where the one before was.
    pub(super) fn resume(&mut self, to_owner: &mut BytesMut, to_client: &mut BytesMut) {
        // Answers to what was played to the owner before this one will not come any more.
        self.played.clear();
        for cancelled in self.questions.withdraw_all() {
            to_client.extend_from_slice(&mcp::framed(&cancelled));
        }
        if let Some(Handshake { id, line }) = &self.initialize
            && !self.waiting.contains_key(id)
        {
            self.played.insert(id.clone(), None);
            to_owner.extend_from_slice(line);
            to_owner.extend_from_slice(self.initialized.as_deref().unwrap_or_default());
        }
        for (uri, Handshake { id, line }) in &self.subscribed {
            if !self.waiting.contains_key(id) {
                self.played.insert(id.clone(), Some(uri.clone()));
                to_owner.extend_from_slice(line);
            }
        }
        let mut unanswered: Vec<_> = std::mem::take(&mut self.waiting).into_iter().collect();
        unanswered.sort_by_key(|(_, waiting)| waiting.order);
        for (id, mut waiting) in unanswered {
            let may_repeat = may_repeat(&waiting.line);
            if may_repeat && waiting.tries < TRIES_MAX {
                waiting.tries += 1;
                to_owner.extend_from_slice(&waiting.line);
                self.waiting.insert(id, waiting);
            } else {
                to_client.extend_from_slice(&lost(&id, may_repeat));
            }
        }
    }

    /// Answers everything that waits, because nobody else will.
    pub(super) fn give_up(&mut self, reason: &str, to_client: &mut BytesMut) {
        let mut unanswered: Vec<_> = std::mem::take(&mut self.waiting).into_iter().collect();
        unanswered.sort_by_key(|(_, waiting)| waiting.order);
        for (id, waiting) in unanswered {
            to_client.extend_from_slice(&given_up(&id, reason, may_repeat(&waiting.line)));
        }
    }
}

/// Whether a message of the client answers a question.
fn is_answer(message: &Value) -> bool {
    let is_call = message.get("method").is_some_and(Value::is_string);
    !is_call && (message.get("result").is_some() || message.get("error").is_some())
}

/// An owner tells of each thread as soon as it is listened to, and of chats only what arrives from
/// then on: what arrived while there was no owner is for the client to look up.
fn look_at_chats(acknowledged: &Value, to_client: &mut BytesMut) {
    let uris = acknowledged.pointer("/params/notifications/resourceSubscriptions");
    let uris = uris.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    for uri in uris.filter(|uri| mcp::is_address_of_chats(uri)) {
        let updated = json!({
            "jsonrpc": "2.0", "method": "notifications/resources/updated",
            "params": { "uri": uri, "_meta": acknowledged.pointer("/params/_meta") },
        });
        to_client.extend_from_slice(&mcp::framed(&updated));
    }
}

/// Whether a request was broken off before it was done.
fn is_cancelled(answer: &Value) -> bool {
    let code = answer
        .pointer("/result/structuredContent/error/code")
        .or_else(|| answer.pointer("/error/data/code"));
    code.and_then(Value::as_str) == Some(protocol::ErrorCode::Cancelled.name())
}

/// What a client hears of a request that is not sent again.
fn lost(id: &str, may_repeat: bool) -> Vec<u8> {
    if may_repeat {
        let message = "the hub went away each time it was asked this";
        let hint = "its log says why; ask something else, or again when it is mended";
        return unavailable(id, message, hint, may_repeat);
    }
    let message = "the hub restarted before it answered; whether the change was made is not known";
    unavailable(id, message, LOOK_FIRST, may_repeat)
}

/// What a client hears of a request that waits when there will be no owner any more.
fn given_up(id: &str, reason: &str, may_repeat: bool) -> Vec<u8> {
    if may_repeat {
        let message = format!("the hub is out of reach: {reason}");
        return unavailable(id, &message, "ask again when it is mended", may_repeat);
    }
    let message =
        format!("the hub is out of reach, and whether the change was made is not known: {reason}");
    unavailable(id, &message, LOOK_FIRST, may_repeat)
}

/// A program may ask again by itself only what is the same when it is done twice.
fn unavailable(id: &str, message: &str, hint: &str, may_repeat: bool) -> Vec<u8> {
    let id: Value = serde_json::from_str(id).unwrap_or(Value::Null);
    let error = json!({
        "jsonrpc": "2.0",
        "id": id,
        "error": {
            "code": protocol::ErrorCode::Unavailable.json_rpc_code(),
            "message": message,
            "data": { "code": "UNAVAILABLE", "retryable": may_repeat, "hint": hint },
        },
    });
    mcp::framed(&error)
}

/// Whether doing a request twice is the same as doing it once.
fn may_repeat(line: &[u8]) -> bool {
    static REPEATABLE: LazyLock<HashSet<String>> = LazyLock::new(mcp::repeatable);
    let Ok(request) = serde_json::from_slice::<Value>(line) else { return false };
    if request.get("method").and_then(Value::as_str) != Some("tools/call") {
        return true;
    }
    let tool = request.pointer("/params/name").and_then(Value::as_str).unwrap_or_default();
    let key = request.pointer("/params/arguments/idempotency_key");
    key.is_some_and(Value::is_string) || REPEATABLE.contains(tool)
}
