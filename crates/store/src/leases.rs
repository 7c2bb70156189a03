//! Leases: which of several hubs on one database runs a link, and how it says the link is doing.

use protocol::Timestamp;

use crate::error::Result;
use crate::tx::Tx;

/// The right to run a link, as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseRow {
    /// Which hub has it.
    pub owner: String,
    /// Until when.
    pub until: Timestamp,
    /// How the link is doing, as that hub wrote it.
    pub state: String,
}

impl Tx<'_> {
    /// Takes the right to run a link, or keeps it for longer; `false` while another hub has it.
    pub fn claim_lease(
        &mut self,
        link_row: i64,
        owner: &str,
        now: Timestamp,
        until: Timestamp,
        state: &str,
    ) -> Result<bool> {
        let claimed = self.execute(
            "INSERT INTO link_lease (link, owner, until_ms, state) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (link) DO UPDATE
             SET owner = excluded.owner, until_ms = excluded.until_ms, state = excluded.state
             WHERE link_lease.owner = excluded.owner OR link_lease.until_ms <= ?5",
            &[
                link_row.into(),
                owner.into(),
                until.as_ms().into(),
                state.into(),
                now.as_ms().into(),
            ],
        )?;
        Ok(claimed > 0)
    }

    /// Whether a hub has the right to run a link; nobody takes it until the commit.
    pub fn holds_lease(&mut self, link_row: i64, owner: &str) -> Result<bool> {
        let held = self.query_one(
            "SELECT 1 FROM link_lease WHERE link = ?1 AND owner = ?2 /*lock*/",
            &[link_row.into(), owner.into()],
            |_| Ok(()),
        )?;
        Ok(held.is_some())
    }

    /// Who has the right to run a link.
    pub fn lease(&mut self, link_row: i64) -> Result<Option<LeaseRow>> {
        self.query_one(
            "SELECT owner, until_ms, state FROM link_lease WHERE link = ?1",
            &[link_row.into()],
            |row| {
                Ok(LeaseRow {
                    owner: row.text(0)?,
                    until: Timestamp::from_ms(row.int(1)?),
                    state: row.text(2)?,
                })
            },
        )
    }

    /// Gives the right to run a link back.
    pub fn release_lease(&mut self, link_row: i64, owner: &str) -> Result<()> {
        self.execute(
            "DELETE FROM link_lease WHERE link = ?1 AND owner = ?2",
            &[link_row.into(), owner.into()],
        )?;
        Ok(())
    }
}
