//! Where reading goes on: written in the transaction that takes what was read.

use protocol::chat::Facts;
use store::{GapRow, HeldRow, LinkRow, ReconcileRow, Tx};

use crate::chats::take::source_id;
use crate::error::Result;

/// Where reading goes on after some facts.
#[derive(Clone, Debug, Default)]
pub(super) enum Mark {
    /// Nothing to remember.
    #[default]
    None,
    /// The stream goes on here.
    Stream(String),
    /// A chat's past goes on here; `None` when it has been read to its beginning.
    Past {
        /// The chat.
        chat_id: String,
        /// Where the next page begins.
        next: Option<String>,
    },
    /// The filling of a gap goes on here.
    Gap {
        /// The gap.
        gap: GapRow,
        /// Where the next page begins.
        next: Option<String>,
    },
    /// What a service could not say is known up to here.
    Reconciled(ReconcileRow),
}

impl Mark {
    /// Writes the mark, after the facts were taken.
    pub(super) fn write(&self, tx: &mut Tx<'_>, link: &LinkRow, facts: &Facts) -> Result<()> {
        match self {
            Self::None => {}
            Self::Stream(cursor) => tx.set_stream_cursor(link.row, cursor)?,
            Self::Past { chat_id, next } => past(tx, link, facts, chat_id, next.as_deref())?,
            Self::Gap { gap, next } => fill(tx, facts, gap, next.as_deref())?,
            Self::Reconciled(at) => tx.set_reconcile(link.row, at)?,
        }
        Ok(())
    }
}

fn past(
    tx: &mut Tx<'_>,
    link: &LinkRow,
    facts: &Facts,
    chat_id: &str,
    next: Option<&str>,
) -> Result<()> {
    let Some(chat) = tx.chat_by_remote(link.row, &source_id(chat_id))? else { return Ok(()) };
    // What an import holds from the beginning on need not be read again.
    let meets_the_beginning = claims(tx, facts, chat.thread_row, &chat.remote_id)?
        .iter()
        .any(|row| row.from_ms == HeldRow::BEGINNING);
    let is_done = next.is_none() || meets_the_beginning;
    tx.set_history(chat.thread_row, next.filter(|_| !is_done), is_done)?;
    Ok(())
}

fn fill(tx: &mut Tx<'_>, facts: &Facts, gap: &GapRow, next: Option<&str>) -> Result<()> {
    let claims = claims(tx, facts, gap.thread_row, &gap.remote_id)?;
    let until_ms = gap.until.as_ms();
    let meets = if claims.is_empty() {
        // A source that claims nothing has at least shown something as old.
        facts.messages.iter().any(|message| message.sent_at.as_ms() <= until_ms)
    } else {
        claims.iter().any(|row| row.from_ms <= until_ms)
    };
    match next {
        Some(next) if !meets => tx.set_gap_cursor(gap.thread_row, next)?,
        Some(_) => tx.close_gap(gap.thread_row)?,
        None => {
            // The last page of a chat is its beginning: nothing of it is left to read.
            tx.close_gap(gap.thread_row)?;
            tx.set_history(gap.thread_row, None, true)?;
        }
    }
    Ok(())
}

/// What is held now where facts call a stretch of a chat whole.
fn claims(
    tx: &mut Tx<'_>,
    facts: &Facts,
    thread_row: i64,
    remote_id: &str,
) -> Result<Vec<HeldRow>> {
    let mut claims = Vec::new();
    for held in &facts.held {
        if held.chat_id.as_deref().is_none_or(|id| source_id(id) == remote_id) {
            claims.extend(tx.held_at(thread_row, held.to.as_ms())?);
        }
    }
    Ok(claims)
}
