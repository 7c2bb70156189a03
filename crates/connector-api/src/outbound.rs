//! What leaves for a service: texts in parts, each with a mark by which it is found again.

use protocol::chat::Facts;
use protocol::relay::Action;
use serde_json::{Map, Value};

/// Something to be done at a service.
#[derive(Clone, Debug, PartialEq)]
pub struct Posting {
    /// The id of its row in the outbox: every part carries it as a mark.
    pub mark: String,
    /// What is done.
    pub action: Action,
    /// Who stands behind it: `drafted by …, approved by …`.
    pub footer: Option<String>,
    /// A proposal that the text presents, with the buttons to decide about it.
    pub buttons: Option<Buttons>,
    /// The address of an earlier posting that this one takes the place of.
    pub replaces: Option<Map<String, Value>>,
}

/// The buttons of a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buttons {
    /// What each button carries; the hub binds it.
    pub token: String,
}

/// One part of a posting, rendered for its service. A connector makes as many as it needs, and the same
/// ones whenever it is asked again.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Which one, from 0.
    pub index: usize,
    /// What the service is sent.
    pub body: Value,
    /// The mark that stands in it.
    pub mark: String,
}

/// What arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Receipt {
    /// What the service calls it, spelled as [`Inbound::remote_id`](crate::Inbound::remote_id).
    pub remote_id: String,
    /// Where a person finds it.
    pub url: Option<String>,
    /// Where it stands, in the connector's own words, for changing it later.
    pub address: Map<String, Value>,
    /// What an archive of chats takes of it.
    pub facts: Facts,
}

/// A proposal, for an editor at a service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// What the editor carries back; the hub binds it.
    pub token: String,
    /// The text as it stands.
    pub text: String,
    /// Where it would go, for people.
    pub place: String,
    /// Whether a remark is asked for, instead of another text.
    pub is_remark: bool,
}

/// A limit of a service: so many in a time, for everything that shares the name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pace {
    /// What shares the limit: `github:installation:7`.
    pub destination: String,
    /// How many.
    pub count: u32,
    /// In how many milliseconds.
    pub per_ms: i64,
}
