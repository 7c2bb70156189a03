//! Going through the blocks that may hold a hit, the newest first.
//!
//! A segment stands for all its blocks until it is their turn, so that a search which is soon
//! content reads the signatures of few segments.

use std::collections::BinaryHeap;
use std::time::Duration;

use protocol::limits;
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row};

use super::block::{Head, View};
use super::directory::Directories;
use super::filter::Filter;
use super::needle::Needle;
use super::shape::ContainmentShape;
use super::signature::{Label, bits_of_label};
use super::slots::Slots;
use crate::error::Result;
use crate::work;

/// So few blocks are read sooner than the signatures that might rule them out.
const READ_AT_ONCE_MAX: usize = 4;
/// More senders or content types than this are not looked for in signatures.
const LABELS_MAX: usize = 16;
/// The time is looked at once in so many steps.
const TIME_CHECK_STEPS: usize = 8;

/// What is to be looked at, ordered by the newest that it may hold.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    newest_ms: i64,
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Segment(i64),
    Sealed { block: i64, thread: i64 },
    Recent { block: i64, thread: i64 },
    Tail { thread: i64 },
}

/// A block whose turn it is.
pub(super) struct Turn<'a> {
    pub(super) thread: i64,
    /// Its signature has been counted in [`Walk::spread`].
    pub(super) is_sealed: bool,
    pub(super) view: View<'a>,
}

/// In how many of the blocks that the caller may see a needle may occur.
pub(super) struct Spread {
    pub(super) blocks: usize,
    /// By needle.
    pub(super) with: Vec<usize>,
}

/// What a walk is about.
pub(super) struct Task<'a> {
    pub(super) tx: &'a Connection,
    pub(super) directories: &'a Directories,
    pub(super) shape: ContainmentShape,
    pub(super) filter: &'a Filter,
    pub(super) needles: &'a [Needle],
    pub(super) work_max: Duration,
}

/// A walk through the blocks that may hold a hit, the newest first.
pub(super) struct Walk<'a> {
    task: Task<'a>,
    candidates: BinaryHeap<Candidate>,
    /// Counted where it is asked for; then signatures are read to the end.
    pub(super) spread: Option<Spread>,
    block: CachedStatement<'a>,
    tail: CachedStatement<'a>,
    slice: CachedStatement<'a>,
    work_upto: Duration,
    steps: usize,
}

impl<'a> Walk<'a> {
    /// At the newest block.
    pub(super) fn new(task: Task<'a>) -> Result<Self> {
        let tx = task.tx;
        let work_max = task.work_max.min(limits::containment::WORK_MAX);
        let mut walk = Self {
            candidates: BinaryHeap::new(),
            spread: None,
            block: tx.prepare_cached("SELECT data FROM block WHERE block = ?1")?,
            tail: tx.prepare_cached("SELECT data FROM tail WHERE thread = ?1")?,
            slice: tx.prepare_cached("SELECT slots FROM slice WHERE segment = ?1 AND bit = ?2")?,
            work_upto: work::of_this_thread() + work_max,
            steps: 0,
            task,
        };
        walk.add_tails()?;
        walk.add_recent()?;
        walk.add_segments()?;
        Ok(walk)
    }

    /// Nothing that is still to be looked at is newer than this; `None` at the end.
    pub(super) fn newest_ms(&self) -> Option<i64> {
        self.candidates.peek().map(|candidate| candidate.newest_ms)
    }

    /// Whether the walk has worked long enough and may be taken up again from here: everything of
    /// this time or older is still to be looked at then.
    pub(super) fn is_over(&mut self, newest_ms: i64) -> bool {
        self.steps += 1;
        self.steps.is_multiple_of(TIME_CHECK_STEPS)
            && (newest_ms, i64::MAX) < self.task.filter.below()
            && work::of_this_thread() > self.work_upto
    }

    /// Looks at the next block, or finds out which blocks of the next segment are to be looked at.
    pub(super) fn step(&mut self, look: impl FnOnce(Turn<'_>) -> Result<()>) -> Result<()> {
        let Some(candidate) = self.candidates.pop() else { return Ok(()) };
        let (statement, number, thread) = match candidate.source {
            Source::Segment(segment) => return self.open(segment),
            Source::Sealed { block, thread } | Source::Recent { block, thread } => {
                (&mut self.block, block, thread)
            }
            Source::Tail { thread } => (&mut self.tail, thread, thread),
        };
        let is_sealed = matches!(candidate.source, Source::Sealed { .. });
        statement.query_row([number], |row| {
            let data = row.get_ref(0)?.as_blob()?;
            Ok(View::new(data).and_then(|view| look(Turn { thread, is_sealed, view })))
        })?
    }

    fn add(&mut self, newest_ms: i64, source: Source) {
        // What is newer than the range of the search will not be found.
        let newest_ms = newest_ms.min(self.task.filter.below().0);
        self.candidates.push(Candidate { newest_ms, source });
    }

    fn add_tails(&mut self) -> Result<()> {
        const HEAD: &str =
            "SELECT workspace, thread, newest_ms, oldest_ms, row_min, row_max FROM tail";
        let mut heads = Vec::new();
        if let Some(threads) = self.task.filter.few_threads() {
            let mut select = self.task.tx.prepare_cached(&format!("{HEAD} WHERE thread = ?1"))?;
            for thread in threads {
                heads.extend(select.query_row([thread], head).optional()?);
            }
        } else {
            let mut select = self.task.tx.prepare_cached(HEAD)?;
            heads = select.query_map([], head)?.collect::<rusqlite::Result<_>>()?;
        }
        for head in heads.iter().filter(|head| self.task.filter.admits(head)) {
            self.add(head.newest_ms, Source::Tail { thread: head.thread });
        }
        Ok(())
    }

    fn add_recent(&mut self) -> Result<()> {
        let mut select = self.task.tx.prepare_cached(
            "SELECT workspace, thread, newest_ms, oldest_ms, row_min, row_max, block FROM recent",
        )?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let head = head(row)?;
            if self.task.filter.admits(&head) {
                self.add(
                    head.newest_ms,
                    Source::Recent { block: row.get(6)?, thread: head.thread },
                );
            }
        }
        Ok(())
    }

    fn add_segments(&mut self) -> Result<()> {
        let mut select =
            self.task.tx.prepare_cached("SELECT segment, newest_ms, oldest_ms FROM segment")?;
        let mut rows = select.query([])?;
        while let Some(row) = rows.next()? {
            let newest_ms = row.get(1)?;
            if self.task.filter.reaches(newest_ms, row.get(2)?) {
                self.add(newest_ms, Source::Segment(row.get(0)?));
            }
        }
        Ok(())
    }

    fn open(&mut self, segment: i64) -> Result<()> {
        let directory = self.task.directories.get(self.task.tx, segment)?;
        let visible = self.task.filter.slots(&directory);
        let slots = match self.spread {
            Some(_) => self.narrow_and_count(segment, visible)?,
            None => self.narrow(segment, visible)?,
        };
        let blocks = i64::try_from(self.task.shape.segment_blocks).unwrap_or(i64::MAX);
        for slot in slots.iter() {
            let Some(head) = directory.heads.get(slot) else { continue };
            let slot = i64::try_from(slot).unwrap_or(0);
            let block = segment.saturating_mul(blocks).saturating_add(slot);
            self.add(head.newest_ms, Source::Sealed { block, thread: head.thread });
        }
        Ok(())
    }

    /// Reads signatures until the blocks are few.
    fn narrow(&mut self, segment: i64, visible: Slots) -> Result<Slots> {
        let mut slots = self.narrow_by_labels(segment, visible)?;
        for bit in self.task.needles.iter().flat_map(|needle| &needle.bits) {
            if slots.count() <= READ_AT_ONCE_MAX {
                break;
            }
            slots &= slots_with(&mut self.slice, segment, *bit)?;
        }
        Ok(slots)
    }

    /// Reads all signatures, to know in how many blocks each needle may occur.
    fn narrow_and_count(&mut self, segment: i64, visible: Slots) -> Result<Slots> {
        let mut slots = self.narrow_by_labels(segment, visible)?;
        let Some(spread) = &mut self.spread else { return Ok(slots) };
        spread.blocks += visible.count();
        for (needle, count) in self.task.needles.iter().zip(&mut spread.with) {
            let mut with = visible;
            for bit in &needle.bits {
                with &= slots_with(&mut self.slice, segment, *bit)?;
            }
            *count += with.count();
            slots &= with;
        }
        Ok(slots)
    }

    fn narrow_by_labels(&mut self, segment: i64, visible: Slots) -> Result<Slots> {
        let filter = self.task.filter;
        let senders = filter.senders().map(|ids| ids.iter().map(|id| Label::Sender(*id)));
        let codes = filter.content_types();
        let codes = codes.map(|codes| codes.iter().map(|code| Label::ContentType(*code)));
        let mut slots = visible;
        let wanted: [Option<Vec<Label>>; 2] =
            [senders.map(Iterator::collect), codes.map(Iterator::collect)];
        for labels in wanted.iter().flatten().filter(|labels| labels.len() <= LABELS_MAX) {
            if slots.count() <= READ_AT_ONCE_MAX {
                break;
            }
            let mut any = Slots::default();
            for label in labels {
                let mut with = slots;
                for bit in bits_of_label(*label, self.task.shape.signature_bits) {
                    with &= slots_with(&mut self.slice, segment, bit)?;
                }
                any.join(with);
            }
            slots = any;
        }
        Ok(slots)
    }
}

fn head(row: &Row<'_>) -> rusqlite::Result<Head> {
    Ok(Head {
        workspace: row.get(0)?,
        thread: row.get(1)?,
        newest_ms: row.get(2)?,
        oldest_ms: row.get(3)?,
        row_min: row.get(4)?,
        row_max: row.get(5)?,
    })
}

/// The blocks of a segment that have a bit in their signature.
fn slots_with(slice: &mut CachedStatement<'_>, segment: i64, bit: usize) -> Result<Slots> {
    let bit = i64::try_from(bit).unwrap_or(i64::MAX);
    let slots =
        slice.query_row([segment, bit], |row| Ok(Slots::from_bytes(row.get_ref(0)?.as_blob()?)));
    Ok(slots.optional()?.unwrap_or_default())
}
