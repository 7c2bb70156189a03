//! A message as the fold sees it.

use protocol::{MessageId, MessageKind};

/// One message of a thread, borrowed from wherever it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its number in the thread.
    pub seq: i64,
    /// The message.
    pub message_id: MessageId,
    /// Who sent it, from verified claims.
    pub sender: &'a str,
    /// Talk, a typed event, or the hub's own word.
    pub kind: MessageKind,
    /// The text: data from its sender.
    pub body: &'a str,
    /// The text of a JSON object. Anything else counts as no metadata.
    pub metadata: Option<&'a str>,
    /// The message this one answers.
    pub in_reply_to: Option<MessageId>,
}
