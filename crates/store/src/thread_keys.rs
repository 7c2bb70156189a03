//! The keys with which callers opened threads, so that a retry opens no second one.

use protocol::{ThreadId, Timestamp};

use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// Whose key it is: a workspace, an agent of it, and the key.
pub type ThreadKey<'a> = (&'a str, &'a str, &'a str);

/// What was opened with a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyedThread {
    /// The thread.
    pub id: ThreadId,
    /// The digest of what was asked for.
    pub asked: Vec<u8>,
    /// When it was opened.
    pub created: Timestamp,
}

impl Tx<'_> {
    /// Takes a key for a thread that is about to be opened, and answers whether it was free. Whoever is
    /// opening a thread with it at this moment is waited for; a key from before a moment is free again.
    pub fn take_thread_key(
        &mut self,
        (workspace, agent, key): ThreadKey<'_>,
        thread: &KeyedThread,
        free_before: Option<Timestamp>,
    ) -> Result<bool> {
        let taken = self.execute(
            "INSERT INTO thread_key (workspace, agent, key, asked, thread, created_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (workspace, agent, key) DO UPDATE SET asked = excluded.asked,
                 thread = excluded.thread, created_ms = excluded.created_ms
             WHERE thread_key.created_ms < ?7",
            &[
                workspace.into(),
                agent.into(),
                key.into(),
                thread.asked.as_slice().into(),
                thread.id.as_bytes().into(),
                thread.created.as_ms().into(),
                free_before.map_or(i64::MIN, Timestamp::as_ms).into(),
            ],
        )?;
        Ok(taken > 0)
    }

    /// What an agent opened with a key.
    pub fn thread_by_key(
        &mut self,
        (workspace, agent, key): ThreadKey<'_>,
    ) -> Result<Option<KeyedThread>> {
        const CORRUPT: StoreError = StoreError::Corrupt { what: "thread_key" };
        self.query_one(
            "SELECT thread, asked, created_ms FROM thread_key
             WHERE workspace = ?1 AND agent = ?2 AND key = ?3",
            &[workspace.into(), agent.into(), key.into()],
            |row| {
                Ok(KeyedThread {
                    id: ThreadId::from_bytes(&row.blob(0)?).ok_or(CORRUPT)?,
                    asked: row.blob(1)?,
                    created: Timestamp::from_ms(row.int(2)?),
                })
            },
        )
    }
}
