//! The newest messages of a thread, read once for everyone who waits in it.

use std::collections::HashSet;
use std::sync::Arc;

use protocol::{Message, limits};
use store::{ThreadAccess, ThreadRow, Tx};

use super::view;
use crate::error::Result;

/// A thread as it stood at one moment, with its last messages and everyone who may enter it.
pub(crate) struct Tail {
    thread: ThreadRow,
    members: HashSet<String>,
    /// It holds every message after this number.
    after: i64,
    messages: Vec<Arc<Message>>,
}

impl Tail {
    /// Reads it; nothing if the thread is gone.
    pub(crate) fn read(tx: &mut Tx<'_>, thread_row: i64) -> Result<Option<Self>> {
        let Some(ThreadAccess { thread, .. }) = tx.thread_by_row(thread_row, "")? else {
            return Ok(None);
        };
        let kept_max = i64::try_from(limits::TAIL_MESSAGES_MAX).unwrap_or(i64::MAX);
        let mut after = (thread.head_seq - kept_max).max(0);
        let mut rows = tx.messages_after(
            thread_row,
            after,
            limits::TAIL_MESSAGES_MAX,
            limits::PAGE_BYTES_MAX,
        )?;
        // A page that ended early does not reach the newest, and is of no use.
        if rows.last().is_some_and(|last| last.seq < thread.head_seq) {
            rows.clear();
            after = thread.head_seq;
        }
        let mut bytes: usize = rows.iter().map(store::MessageRow::bytes).sum();
        let mut messages = Vec::with_capacity(rows.len());
        for row in rows {
            if bytes > limits::TAIL_BYTES_MAX {
                bytes -= row.bytes();
                after = row.seq;
            } else {
                messages.push(Arc::new(view::message(thread.id, row)?));
            }
        }
        let members = tx.members(thread_row)?.into_iter().collect();
        Ok(Some(Self { thread, members, after, messages }))
    }

    /// The thread, and whether an agent may enter it by itself.
    pub(crate) fn access(&self, agent: &str) -> (&ThreadRow, bool) {
        (&self.thread, self.members.contains(agent))
    }

    /// The messages after a number, without those of whoever is left out; nothing when it does not
    /// reach back so far.
    pub(crate) fn after(&self, seq: i64, left_out: Option<&str>) -> Option<Vec<Arc<Message>>> {
        if seq < self.after {
            return None;
        }
        let after = self.messages.iter().filter(|message| message.seq > seq);
        let told = after.filter(|message| left_out != Some(message.sender_agent_id.as_str()));
        Some(told.map(Arc::clone).collect())
    }
}
