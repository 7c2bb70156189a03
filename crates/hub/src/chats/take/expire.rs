//! A message's time is up: its words, its versions and what hung on it go.

use protocol::Timestamp;
use store::{ChangeKind, NewChange, Tx};

use crate::chats::details::Details;
use crate::error::Result;

/// Forgets what a message said; `false` when there is nothing left to forget.
pub(crate) fn expire(tx: &mut Tx<'_>, thread_row: i64, seq: i64, at: Timestamp) -> Result<bool> {
    let Some(known) = tx.chat_message_at(thread_row, seq)? else { return Ok(false) };
    let mut details = Details::from_text(known.details.as_deref())?;
    if details.is_gone() {
        return Ok(false);
    }
    details.expire(at);
    let change =
        NewChange { before: &known, kind: ChangeKind::Expired, at, by: None, is_kept: false };
    tx.change_chat_message(&change, "", details.to_text()?.as_deref())?;
    Ok(true)
}
