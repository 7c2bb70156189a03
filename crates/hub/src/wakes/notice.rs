//! What a woken agent is told: a fixed template with ids and counts, never the text of a message.

use protocol::{ThreadId, WakeId};
use schemars::JsonSchema;
use serde::Serialize;

/// What a notice speaks of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoticeFacts<'a> {
    /// The wake.
    pub(crate) wake: WakeId,
    /// The thread.
    pub(crate) thread: ThreadId,
    /// The agent.
    pub(crate) agent: &'a str,
    /// Messages of others it has not acknowledged.
    pub(crate) unread: i64,
    /// How far it has acknowledged.
    pub(crate) since_seq: i64,
    /// Who asked: the role, the agent, and its own words.
    pub(crate) asked_by: Option<(&'a str, &'a str, &'a str)>,
}

/// The notice of a wake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Notice {
    /// For lanes that carry text: the template, and what whoever asked adds.
    pub(crate) native: String,
    /// For the keyboard: the template alone, one line of plain letters.
    pub(crate) typed: String,
}

/// The notice of a wake.
pub(crate) fn notice(facts: &NoticeFacts<'_>) -> Notice {
    let NoticeFacts { wake, thread, agent, unread, since_seq, asked_by } = facts;
    let typed = format!(
        "[waystation wake {wake}] Thread {thread} has {unread} unread message(s) for you (agent \
         {agent}). Read them with read_messages (thread_id {thread}, since_seq {since_seq}), act, \
         acknowledge with ack_read, and answer in the thread."
    );
    let native = match asked_by {
        Some((role, by, prompt)) => format!("{typed}\n{role} {by} adds: “{prompt}”"),
        None => typed.clone(),
    };
    Notice { native, typed }
}
