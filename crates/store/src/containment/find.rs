//! One page of messages that contain a text, newest first.

use protocol::{Timestamp, fold, limits};
use rusqlite::Connection;

use super::block::View;
use super::collect::{Hit, Newest};
use super::directory::Directories;
use super::filter::Filter;
use super::needle::{Needle, check_length};
use super::request::{ContainmentHit, ContainmentPage, ContainmentQuery, Place};
use super::scan::scan;
use super::schema;
use super::shape::ContainmentShape;
use super::walk::{Task, Walk};
use crate::error::{Result, StoreError};

/// What is kept of a message that was found.
pub(super) struct Origin {
    pub(super) thread: i64,
    sender: u32,
    content_type: u16,
}

impl Origin {
    /// Of a message in a block of a thread.
    pub(super) fn new(thread: i64, view: &View<'_>, index: usize) -> Self {
        Self {
            thread,
            sender: view.sender(index).unwrap_or_default(),
            content_type: view.content_type(index).unwrap_or_default(),
        }
    }

    /// As callers see it.
    pub(super) fn into_hit(self, tx: &Connection, key: (i64, i64)) -> Result<ContainmentHit> {
        Ok(ContainmentHit {
            row: key.1,
            thread_row: self.thread,
            sent: Timestamp::from_ms(key.0),
            sender: schema::name_of(tx, self.sender)?,
            content_type: self.content_type,
        })
    }
}

/// Refuses what cannot be looked for, before a thread takes it up.
pub(super) fn check(query: &ContainmentQuery) -> Result<()> {
    check_length(&query.needle)?;
    if query.offset > limits::containment::OFFSET_MAX {
        let max = limits::containment::OFFSET_MAX;
        let what = format!("it passes over more than {max} messages; go on from `next` instead");
        return Err(StoreError::BadQuery(what));
    }
    Ok(())
}

/// One page of hits.
pub(super) fn find(
    tx: &Connection,
    directories: &Directories,
    shape: ContainmentShape,
    query: &ContainmentQuery,
) -> Result<ContainmentPage> {
    let Some(filter) = Filter::resolve(tx, &query.filter, query.after)? else {
        return Ok(ContainmentPage::default());
    };
    let folded = fold(&query.needle);
    let needles: Vec<Needle> = (!folded.is_empty())
        .then(|| Needle::new(&folded, shape.signature_bits))
        .into_iter()
        .collect();
    let limit = query.limit.clamp(1, limits::containment::HITS_MAX);
    // One more tells whether there is another page.
    let mut found = Newest::new(query.offset.saturating_add(limit).saturating_add(1));
    let work_max = query.work_max;
    let task = Task { tx, directories, shape, filter: &filter, needles: &needles, work_max };
    let mut walk = Walk::new(task, None)?;
    let mut unseen_ms = None;
    while let Some(newest_ms) = walk.newest_ms() {
        if found.is_settled(newest_ms) {
            break;
        }
        if walk.is_over(newest_ms) {
            unseen_ms = Some(newest_ms);
            break;
        }
        walk.step(|turn| {
            scan(&turn.view, &filter, &needles, &mut found, |view, index| {
                Ok(Origin::new(turn.thread, view, index))
            })
        })?;
    }
    page(tx, found.into_vec(), query.offset, limit, unseen_ms)
}

/// The page from what was found, newest first; nothing of `unseen_ms` or older has been looked at
/// to the end.
fn page(
    tx: &Connection,
    mut found: Vec<Hit<Origin>>,
    offset: usize,
    limit: usize,
    unseen_ms: Option<i64>,
) -> Result<ContainmentPage> {
    if let Some(unseen_ms) = unseen_ms {
        found.retain(|hit| hit.key.0 > unseen_ms);
    }
    let count = found.len();
    let wanted = offset.saturating_add(limit);
    let hits = found.into_iter().skip(offset).take(limit);
    let hits = hits.map(|hit| hit.kept.into_hit(tx, hit.key)).collect::<Result<Vec<_>>>()?;
    let next = if count > wanted {
        hits.last().map(|hit| Place { sent: hit.sent, row: hit.row })
    } else {
        unseen_ms.map(|ms| Place { sent: Timestamp::from_ms(ms), row: i64::MAX })
    };
    let truncated = unseen_ms.is_some() && count < wanted;
    let offset_left = if truncated { offset.saturating_sub(count) } else { 0 };
    Ok(ContainmentPage { hits, next, truncated, offset_left })
}
