//! Up to when a service has been asked what it did not manage to say.

use protocol::Timestamp;

use crate::error::Result;
use crate::tx::Tx;

/// How far a link has been reconciled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReconcileRow {
    /// Everything before then was asked for.
    pub through: Timestamp,
    /// While pages are read: when that began.
    pub began: Option<Timestamp>,
    /// The next page; `None` at the first.
    pub next: Option<String>,
}

impl Tx<'_> {
    /// How far a link has been reconciled; `None` before it ever was up.
    pub fn reconcile(&mut self, link_row: i64) -> Result<Option<ReconcileRow>> {
        self.query_one(
            "SELECT through_ms, began_ms, next FROM link_reconcile WHERE link = ?1",
            &[link_row.into()],
            |row| {
                Ok(ReconcileRow {
                    through: Timestamp::from_ms(row.int(0)?),
                    began: row.opt_int(1)?.map(Timestamp::from_ms),
                    next: row.opt_text(2)?,
                })
            },
        )
    }

    /// Remembers how far a link has been reconciled.
    pub fn set_reconcile(&mut self, link_row: i64, to: &ReconcileRow) -> Result<()> {
        self.execute(
            "INSERT INTO link_reconcile (link, through_ms, began_ms, next) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (link) DO UPDATE SET through_ms = excluded.through_ms,
                 began_ms = excluded.began_ms, next = excluded.next",
            &[
                link_row.into(),
                to.through.as_ms().into(),
                to.began.map(Timestamp::as_ms).into(),
                to.next.as_deref().into(),
            ],
        )?;
        Ok(())
    }

    /// Forgets how far a link has been reconciled.
    pub fn forget_reconcile(&mut self, link_row: i64) -> Result<()> {
        self.execute("DELETE FROM link_reconcile WHERE link = ?1", &[link_row.into()])?;
        Ok(())
    }
}
