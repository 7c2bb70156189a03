//! What callers asked to be sent to chats, by the key they gave.

use protocol::{OutboxId, ProposalId, ThreadId, Timestamp};

use crate::error::{Result, StoreError};
use crate::tx::Tx;

/// What a caller asked to be sent to a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatSendRow {
    /// The digest of what was asked for.
    pub asked: Vec<u8>,
    /// The proposal it became.
    pub proposal: Option<ProposalId>,
    /// The action it became.
    pub outbox: Option<OutboxId>,
}

impl Tx<'_> {
    /// What a caller asked for with a key.
    pub fn chat_send(
        &mut self,
        workspace: &str,
        agent: &str,
        key: &str,
    ) -> Result<Option<ChatSendRow>> {
        const CORRUPT: StoreError = StoreError::Corrupt { what: "chat_send" };
        self.query_one(
            "SELECT asked, proposal, outbox FROM chat_send
             WHERE workspace = ?1 AND agent = ?2 AND key = ?3",
            &[workspace.into(), agent.into(), key.into()],
            |row| {
                let proposal = row.opt_blob(1)?;
                let outbox = row.opt_blob(2)?;
                Ok(ChatSendRow {
                    asked: row.blob(0)?,
                    proposal: proposal
                        .map(|id| ProposalId::from_bytes(&id).ok_or(CORRUPT))
                        .transpose()?,
                    outbox: outbox
                        .map(|id| OutboxId::from_bytes(&id).ok_or(CORRUPT))
                        .transpose()?,
                })
            },
        )
    }

    /// Keeps what a caller asked for with a key; `false` when somebody was faster.
    pub fn insert_chat_send(
        &mut self,
        (workspace, agent, key): (&str, &str, &str),
        send: &ChatSendRow,
        at: Timestamp,
    ) -> Result<bool> {
        let added = self.execute(
            "INSERT INTO chat_send (workspace, agent, key, asked, proposal, outbox, at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (workspace, agent, key) DO NOTHING",
            &[
                workspace.into(),
                agent.into(),
                key.into(),
                send.asked.as_slice().into(),
                send.proposal.as_ref().map(ProposalId::as_bytes).into(),
                send.outbox.as_ref().map(OutboxId::as_bytes).into(),
                at.as_ms().into(),
            ],
        )?;
        Ok(added > 0)
    }

    /// What services called the parts of an action that have arrived, and when that was known.
    pub fn posted_of(&mut self, outbox_row: i64) -> Result<Vec<(String, Timestamp)>> {
        self.query(
            "SELECT remote_id, at_ms FROM posted WHERE outbox = ?1 ORDER BY at_ms, remote_id",
            &[outbox_row.into()],
            |row| Ok((row.text(0)?, Timestamp::from_ms(row.int(1)?))),
        )
    }

    /// The id of a thread or chat.
    pub fn id_of_thread(&mut self, row: i64) -> Result<Option<ThreadId>> {
        let uid = self
            .query_one("SELECT uid FROM thread WHERE id = ?1", &[row.into()], |row| row.blob(0))?;
        Ok(uid.and_then(|uid| ThreadId::from_bytes(&uid)))
    }
}
