//! Threads as the writer left them, so that it need not read again what it wrote itself.
//!
//! Only the one thread that writes a SQLite database has this, and nobody else changes threads there.

use std::collections::HashMap;

use protocol::{ThreadId, limits};

use crate::threads::{ThreadAccess, ThreadRow};

/// Threads as they stand, uncommitted changes included, each with some who may enter it.
#[derive(Default)]
pub(crate) struct KnownThreads {
    threads: HashMap<ThreadId, Known>,
    ids: HashMap<i64, ThreadId>,
}

struct Known {
    thread: ThreadRow,
    members: Vec<String>,
}

impl KnownThreads {
    /// The thread for a member; nothing where either is not known.
    pub(crate) fn enter(&self, id: ThreadId, agent: &str) -> Option<ThreadAccess> {
        let known = self.threads.get(&id)?;
        let is_member = known.members.iter().any(|member| member == agent);
        is_member.then(|| ThreadAccess { thread: known.thread.clone(), is_member })
    }

    /// Remembers what was read for an agent.
    pub(crate) fn learn(&mut self, access: &ThreadAccess, agent: &str) {
        if !access.is_member {
            return;
        }
        if self.threads.len() >= limits::THREADS_KNOWN_MAX {
            self.forget_all();
        }
        let ThreadAccess { thread, .. } = access;
        self.ids.insert(thread.row, thread.id);
        let known = self
            .threads
            .entry(thread.id)
            .or_insert_with(|| Known { thread: thread.clone(), members: Vec::new() });
        known.thread.clone_from(thread);
        if !known.members.iter().any(|member| member == agent) {
            known.members.push(agent.to_owned());
        }
    }

    /// A thread was written.
    pub(crate) fn update(&mut self, thread: &ThreadRow) {
        if let Some(known) = self.threads.get_mut(&thread.id) {
            known.thread.clone_from(thread);
        }
    }

    /// Who may enter a thread was changed.
    pub(crate) fn forget(&mut self, thread_row: i64) {
        if let Some(id) = self.ids.remove(&thread_row) {
            self.threads.remove(&id);
        }
    }

    /// Something was rolled back.
    pub(crate) fn forget_all(&mut self) {
        self.threads.clear();
        self.ids.clear();
    }
}
