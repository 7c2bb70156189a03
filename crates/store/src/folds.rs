//! Folded summaries: one row a thread, brought forward when somebody asks.

use crate::error::Result;
use crate::tx::Tx;

/// A thread's fold as it was last stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoldRow {
    /// Messages up to here are in it.
    pub through_seq: i64,
    /// The hub's own JSON.
    pub state: String,
}

impl Tx<'_> {
    /// The stored fold of a thread.
    pub fn fold(&mut self, thread_row: i64) -> Result<Option<FoldRow>> {
        self.query_one(
            "SELECT through_seq, state FROM thread_fold WHERE thread = ?1",
            &[thread_row.into()],
            |row| Ok(FoldRow { through_seq: row.int(0)?, state: row.text(1)? }),
        )
    }

    /// Stores a fold unless one that goes further is there. One that goes as far is replaced: whoever
    /// made another of the same messages could not read it.
    pub fn set_fold(&mut self, thread_row: i64, fold: &FoldRow) -> Result<()> {
        self.execute(
            "INSERT INTO thread_fold (thread, through_seq, state) VALUES (?1, ?2, ?3)
             ON CONFLICT (thread) DO UPDATE SET through_seq = excluded.through_seq,
                 state = excluded.state
             WHERE thread_fold.through_seq <= excluded.through_seq",
            &[thread_row.into(), fold.through_seq.into(), fold.state.as_str().into()],
        )?;
        Ok(())
    }
}
