//! Between an envelope and the message it lies in.
//!
//! The content is the message's text; everything else of the envelope lies in `metadata.relay`, as it was
//! given. What the hub knows itself (thread, message, sender, trust) is never taken from there.

use std::borrow::Cow;
use std::collections::BTreeMap;

pub use protocol::relay::schema::MCP_VERSION;
use protocol::relay::{Envelope, channel, envelope_role};
use protocol::{ThreadId, Trust};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::MessageRow;

use super::append::HUB_SENDER;

/// The field of a message's metadata in which the rest of its envelope lies.
const FIELD: &str = "relay";

/// The envelope that a message is. Any message is one: without the relay's metadata it was said inside
/// the hub, by whoever its trust says.
pub fn from_message(row: &MessageRow, thread: &ThreadId) -> Envelope {
    let mut envelope = stored(row);
    without_claims(&mut envelope, row.trust, &row.sender);
    envelope.content.clone_from(&row.body);
    let message_id = row.id().ok();
    if envelope.id.is_empty() {
        envelope.id = message_id.map_or_else(String::new, |id| id.0.to_uuid());
    }
    if envelope.timestamp.is_empty() {
        envelope.timestamp = row.created.to_string();
    }
    let meta = &mut envelope.meta;
    meta.entry("mcp_version").or_insert_with(|| MCP_VERSION.into());
    meta.insert("thread_id".to_owned(), thread.to_string().into());
    meta.insert("message_id".to_owned(), json!(message_id));
    meta.insert("seq".to_owned(), row.seq.into());
    meta.insert("sender".to_owned(), row.sender.as_str().into());
    meta.insert("trust".to_owned(), json!(row.trust));
    if let Ok(Some(answered)) = row.reply_id() {
        meta.insert("in_reply_to".to_owned(), json!(answered));
    }
    envelope
}

/// The documents that a message was given.
pub(crate) fn refs_of(row: &MessageRow) -> Vec<String> {
    stored(row).retrieval_refs
}

/// Nobody is more than the hub knows: what an envelope claims to be counts only where whoever said it can
/// be that. Decisions are the hub's to tell, and only the hub answers for tools.
pub(crate) fn without_claims(envelope: &mut Envelope, trust: Trust, sender: &str) {
    let role = envelope.role.as_str();
    let is_claimed = match trust {
        Trust::Hub | Trust::Operator => return,
        Trust::Agent => is_reserved(role),
        Trust::External => role != envelope_role::USER && (role, sender) != ANSWER,
    };
    if is_claimed {
        role_of(trust).clone_into(&mut envelope.role);
    }
    envelope.meta.remove("proposal");
}

/// The role and the sender of what a tool brought in.
const ANSWER: (&str, &str) = (envelope_role::TOOL, HUB_SENDER);

/// Whether only the hub and people with authority speak like this.
pub(crate) fn is_reserved(role: &str) -> bool {
    [envelope_role::SYSTEM, envelope_role::TOOL, envelope_role::HUMAN].contains(&role)
}

/// What a message keeps of its envelope.
fn stored(row: &MessageRow) -> Envelope {
    let metadata: Option<Map<String, Value>> =
        row.metadata.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let mut kept = match metadata.and_then(|mut metadata| metadata.remove(FIELD)) {
        Some(Value::Object(kept)) => kept,
        _ => Map::new(),
    };
    // What every envelope must have is not all kept: some of it is the message itself.
    for field in ["id", "timestamp", "content"] {
        kept.entry(field).or_insert_with(|| "".into());
    }
    kept.entry("channel").or_insert_with(|| channel::INTERNAL.into());
    kept.entry("role").or_insert_with(|| role_of(row.trust).into());
    serde_json::from_value(Value::Object(kept)).unwrap_or_else(|_| Envelope {
        channel: channel::INTERNAL.to_owned(),
        role: role_of(row.trust).to_owned(),
        ..Envelope::default()
    })
}

/// Who speaks in a message that says no more about itself.
fn role_of(trust: Trust) -> &'static str {
    match trust {
        Trust::Operator => envelope_role::HUMAN,
        Trust::Agent => envelope_role::ASSISTANT,
        Trust::External => envelope_role::USER,
        Trust::Hub => envelope_role::SYSTEM,
    }
}

/// What a message knows itself is not kept of its envelope's `meta`.
const OWN_FIELDS: [&str; 6] = ["thread_id", "message_id", "seq", "sender", "trust", "in_reply_to"];

/// A field of an envelope, as it is kept.
#[derive(Serialize)]
#[serde(untagged)]
enum Kept<'a> {
    Text(&'a str),
    Texts(&'a [String]),
    Meta(BTreeMap<&'a str, &'a Value>),
    Value(Cow<'a, Value>),
}

/// The metadata of the message that an envelope becomes, in its one spelling: every object's fields in
/// the order of their names. An empty id or timestamp was not given: the message has its own.
pub(crate) fn to_metadata(envelope: &Envelope) -> String {
    let mut kept = BTreeMap::from([
        ("channel", Kept::Text(&envelope.channel)),
        ("role", Kept::Text(&envelope.role)),
    ]);
    for (name, text) in [("id", &envelope.id), ("timestamp", &envelope.timestamp)] {
        if !text.is_empty() {
            kept.insert(name, Kept::Text(text));
        }
    }
    for (name, part) in [
        ("context", envelope.context.as_ref().map(serde_json::to_value)),
        ("tool_call", envelope.tool_call.as_ref().map(serde_json::to_value)),
        ("memory_update", envelope.memory_update.as_ref().map(serde_json::to_value)),
    ] {
        if let Some(Ok(value)) = part {
            kept.insert(name, Kept::Value(Cow::Owned(value)));
        }
    }
    if !envelope.retrieval_refs.is_empty() {
        kept.insert("retrieval_refs", Kept::Texts(&envelope.retrieval_refs));
    }
    if !envelope.meta.is_empty() {
        let fields = envelope.meta.iter().map(|(name, value)| (name.as_str(), value));
        let fields = fields.filter(|(name, _)| !OWN_FIELDS.contains(name));
        kept.insert("meta", Kept::Meta(fields.collect()));
    }
    let other = envelope.other.iter().filter(|(name, _)| *name != "content");
    kept.extend(other.map(|(name, value)| (name.as_str(), Kept::Value(Cow::Borrowed(value)))));
    serde_json::to_string(&BTreeMap::from([(FIELD, kept)])).expect("texts print as JSON")
}
