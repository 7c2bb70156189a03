//! Finding: volume by volume, newest first, by whichever way is cheaper.
//!
//! A volume is searched in one of two ways.
//! *Walking* goes through the hits of the words and looks up the thread of each; a hit costs little,
//! so it is best when hits are few or when the caller sees much.
//! *Narrowing* puts the visible threads into the expression; each thread costs a look-up in the
//! dictionary before the first hit, after which hidden hits cost next to nothing.

use std::time::Duration;

use protocol::{Timestamp, limits};
use rusqlite::{Connection, params};

use super::expression::{Expression, scope_word};
use super::request::{SearchHit, SearchPage, SearchQuery};
use super::schema;
use super::sight::{self, Sight};
use crate::error::Result;
use crate::work;

/// So few threads are named at once.
const NARROW_AT_ONCE_MAX: usize = 8;
/// A walk that saw so many hits has cost as much as naming the threads would have.
const WALK_HITS_MIN: usize = 500;
/// After so many hits without a visible one, ask which of many threads speak in older volumes.
const VAIN_HITS_MIN: usize = 100;
/// How long a search may keep a processor busy before it answers with what it has.
const WORK_MAX: Duration = Duration::from_millis(20);
/// The time is looked at once in so many hits.
const TIME_CHECK_HITS: usize = 256;

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The volume has no older hit.
    Volume,
    /// The page is full, and the next one begins.
    Page,
    /// As many hits as were to be looked at.
    Hits,
    /// The search has worked long enough.
    Time,
}

struct Search<'a> {
    tx: &'a Connection,
    expression: &'a Expression,
    workspace: i64,
    sender: Option<i64>,
    sight: Sight,
    /// The work of this thread before the search began.
    work_before: Duration,
    /// How many to find: one more than the page holds, which says whether there is a next one.
    wanted: usize,
    /// How many hits the last walk met.
    hits: usize,
    /// Walking has met many hits and did not fill the page.
    is_sparse: bool,
    /// Rows from here on have been looked at.
    before: i64,
    found: Vec<i64>,
}

/// One page of hits.
pub(super) fn search(
    tx: &Connection,
    query: &SearchQuery,
    expression: &Expression,
) -> Result<SearchPage> {
    let Some(sight) = Sight::of(query) else { return Ok(SearchPage::default()) };
    let Some(workspace) = schema::name_id(tx, &query.workspace)? else {
        return Ok(SearchPage::default());
    };
    let sender = match &query.sender {
        None => None,
        Some(name) => match schema::name_id(tx, name)? {
            None => return Ok(SearchPage::default()),
            known => known,
        },
    };
    let limit = query.limit.clamp(1, limits::PAGE_MAX);
    let mut search = Search {
        tx,
        expression,
        workspace,
        sender,
        sight,
        work_before: work::of_this_thread(),
        wanted: limit + 1,
        hits: 0,
        is_sparse: false,
        before: query.before.unwrap_or(i64::MAX).max(0),
        found: Vec::with_capacity(limit + 1),
    };
    let end = search.run()?;
    let mut found = search.found;
    let next = match end {
        End::Volume => None,
        End::Page => {
            found.truncate(limit);
            found.last().copied()
        }
        End::Hits | End::Time => Some(search.before),
    };
    let truncated = end == End::Time && found.len() < limit;
    Ok(SearchPage { hits: hits(tx, &found)?, next, truncated })
}

impl Search<'_> {
    fn run(&mut self) -> Result<End> {
        let mut newest =
            self.tx.prepare_cached("SELECT max(volume) FROM volume WHERE volume <= ?1")?;
        loop {
            let from = schema::volume_of(self.before.saturating_sub(1));
            let volume: Option<i64> = newest.query_row([from], |row| row.get(0))?;
            let Some(volume) = volume else { return Ok(End::Volume) };
            match self.search_volume(volume)? {
                End::Volume | End::Hits => self.before = schema::first_row(volume),
                end => return Ok(end),
            }
            if self.is_late() {
                return Ok(End::Time);
            }
        }
    }

    fn search_volume(&mut self, volume: i64) -> Result<End> {
        let named = match &self.sight {
            Sight::Workspace => {
                let everything = vec![scope_word('w', self.workspace)];
                return self.walk(volume, Some(everything), usize::MAX);
            }
            Sight::Few(threads) => {
                let present = sight::present_of_few(self.tx, volume, threads)?;
                if present.len() <= NARROW_AT_ONCE_MAX {
                    return self.narrow(volume, &present);
                }
                Some(present)
            }
            Sight::Many(threads) if self.is_sparse => {
                sight::present_of_many(self.tx, volume, threads)?
            }
            Sight::Many(_) => None,
        };
        if !self.is_sparse {
            return self.walk_first(volume);
        }
        match named {
            Some(threads) => self.narrow(volume, &threads),
            None => self.walk(volume, None, usize::MAX),
        }
    }

    /// Walks as far as naming the threads would cost, and names them then.
    ///
    /// Older volumes will hardly differ, so they are not walked first.
    fn walk_first(&mut self, volume: i64) -> Result<End> {
        let found_before = self.found.len();
        match self.walk(volume, None, WALK_HITS_MIN)? {
            End::Hits => {
                self.is_sparse = true;
                self.search_volume(volume)
            }
            End::Volume => {
                let is_in_vain = self.hits >= VAIN_HITS_MIN && self.found.len() == found_before;
                self.is_sparse = is_in_vain && matches!(self.sight, Sight::Many(_));
                Ok(End::Volume)
            }
            end => Ok(end),
        }
    }

    /// Looks only at these threads.
    fn narrow(&mut self, volume: i64, threads: &[i64]) -> Result<End> {
        if threads.is_empty() {
            return Ok(End::Volume);
        }
        let words = threads.iter().map(|thread| scope_word('t', *thread)).collect();
        self.walk(volume, Some(words), usize::MAX)
    }

    /// Goes through the hits of a volume, at most so many, and keeps those that may be seen.
    fn walk(&mut self, volume: i64, scope: Option<Vec<String>>, hits_max: usize) -> Result<End> {
        let mut groups: Vec<Vec<String>> = scope.into_iter().collect();
        groups.extend(self.sender.map(|sender| vec![scope_word('s', sender)]));
        let matching = self.expression.within(&groups);
        let mut select = self.tx.prepare_cached(&format!(
            "SELECT d.row, d.thread, d.workspace
             FROM words_{volume} AS w CROSS JOIN doc AS d ON d.row = w.rowid
             WHERE w.words_{volume} MATCH ?1 AND w.rowid < ?2 ORDER BY w.rowid DESC"
        ))?;
        let mut rows = select.query(params![matching, self.before])?;
        self.hits = 0;
        while let Some(row) = rows.next()? {
            self.before = row.get(0)?;
            // The workspace is looked at again even where it is in the expression: it costs
            // nothing, and threads may be named that stand elsewhere.
            if self.sight.includes(row.get(1)?) && row.get::<_, i64>(2)? == self.workspace {
                self.found.push(self.before);
                if self.found.len() == self.wanted {
                    return Ok(End::Page);
                }
            }
            self.hits += 1;
            if self.hits == hits_max {
                return Ok(End::Hits);
            }
            if self.hits.is_multiple_of(TIME_CHECK_HITS) && self.is_late() {
                return Ok(End::Time);
            }
        }
        Ok(End::Volume)
    }

    fn is_late(&self) -> bool {
        work::of_this_thread().saturating_sub(self.work_before) > WORK_MAX
    }
}

fn hits(tx: &Connection, rows: &[i64]) -> Result<Vec<SearchHit>> {
    let mut select = tx.prepare_cached(
        "SELECT d.thread, d.seq, n.name, d.kind, d.created_ms
         FROM doc AS d CROSS JOIN name AS n ON n.id = d.sender WHERE d.row = ?1",
    )?;
    let hit = |row: &i64| {
        Ok(select.query_row([row], |columns| {
            Ok(SearchHit {
                row: *row,
                thread_row: columns.get(0)?,
                seq: columns.get(1)?,
                sender: columns.get(2)?,
                kind: columns.get(3)?,
                created: Timestamp::from_ms(columns.get(4)?),
            })
        })?)
    };
    rows.iter().map(hit).collect()
}
