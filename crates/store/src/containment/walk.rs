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
use super::narrow::{Narrowing, Spread};
use super::needle::Needle;
use super::shape::ContainmentShape;
use super::slots::Slots;
use super::young::{Young, head};
use crate::error::{Result, StoreError};
use crate::work;

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
    Block { block: i64, thread: i64 },
    Tail { thread: i64 },
}

/// A block whose turn it is.
pub(super) struct Turn<'a> {
    pub(super) thread: i64,
    /// It still grows, and has no signature that [`Walk::spread`] could count.
    pub(super) is_tail: bool,
    pub(super) view: View<'a>,
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
    narrowing: Narrowing<'a>,
    work_upto: Duration,
    steps: usize,
}

impl<'a> Walk<'a> {
    /// At the newest block.
    pub(super) fn new(task: Task<'a>, spread: Option<Spread>) -> Result<Self> {
        let tx = task.tx;
        let work_max = task.work_max.min(limits::containment::WORK_MAX);
        let mut walk = Self {
            candidates: BinaryHeap::new(),
            spread,
            block: tx.prepare_cached("SELECT data FROM block WHERE block = ?1")?,
            tail: tx.prepare_cached("SELECT data FROM tail WHERE thread = ?1")?,
            narrowing: Narrowing::new(task.filter, task.needles, task.shape.signature_bits),
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
            Source::Block { block, thread } => (&mut self.block, block, thread),
            Source::Tail { thread } => (&mut self.tail, thread, thread),
        };
        let is_tail = matches!(candidate.source, Source::Tail { .. });
        statement.query_row([number], |row| {
            let data = row.get_ref(0)?.as_blob()?;
            Ok(View::new(data).and_then(|view| look(Turn { thread, is_tail, view })))
        })?
    }

    fn add(&mut self, newest_ms: i64, source: Source) {
        // What is newer than the range of the search will not be found.
        let newest_ms = newest_ms.min(self.task.filter.below().0);
        self.candidates.push(Candidate { newest_ms, source });
    }

    fn add_tails(&mut self) -> Result<()> {
        const SELECT: &str =
            "SELECT workspace, thread, newest_ms, oldest_ms, row_min, row_max, data FROM tail";
        let mut heads = Vec::new();
        if let Some(threads) = self.task.filter.few_threads() {
            let mut select = self.task.tx.prepare_cached(&format!("{SELECT} WHERE thread = ?1"))?;
            for thread in threads {
                let found = select.query_row([thread], |row| Ok(self.task.tail_head(row)));
                heads.extend(found.optional()?.transpose()?.flatten());
            }
        } else {
            let mut select = self.task.tx.prepare_cached(SELECT)?;
            let mut rows = select.query([])?;
            while let Some(row) = rows.next()? {
                heads.extend(self.task.tail_head(row)?);
            }
        }
        for head in heads {
            self.add(head.newest_ms, Source::Tail { thread: head.thread });
        }
        Ok(())
    }

    fn add_recent(&mut self) -> Result<()> {
        let mut select =
            self.task.tx.prepare_cached("SELECT min(block), max(block) FROM recent")?;
        let range = select.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (Some(first), Some(last)): (Option<i64>, Option<i64>) = range else { return Ok(()) };
        let shape = self.task.shape;
        for segment in shape.segment_of(first)..=shape.segment_of(last) {
            let end = shape.first_block(segment + 1).min(last + 1);
            let directories = self.task.directories;
            let found = directories.with_young(self.task.tx, shape, segment, end, |young| {
                self.young_blocks(young, segment, end)
            });
            for (newest_ms, source) in found?? {
                self.add(newest_ms, source);
            }
        }
        Ok(())
    }

    fn young_blocks(
        &mut self,
        young: &Young,
        segment: i64,
        end: i64,
    ) -> Result<Vec<(i64, Source)>> {
        let first = self.task.shape.first_block(segment);
        let mut visible = Slots::default();
        for (slot, head) in (0..usize::try_from(end - first).unwrap_or(0)).zip(&young.heads) {
            if self.task.filter.admits(head) {
                visible.add(slot);
            }
        }
        let slots = self.narrowed(visible, |bit| Ok(young.slots_with(bit)))?;
        let sources =
            (first..).zip(0..).zip(&young.heads).filter(|((_, slot), _)| slots.has(*slot));
        let source = |block, head: &Head| Source::Block { block, thread: head.thread };
        Ok(sources.map(|((block, _), head)| (head.newest_ms, source(block, head))).collect())
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
        let shape = self.task.shape;
        let mut slab = self.task.tx.prepare_cached("SELECT slices FROM slab WHERE slab = ?1")?;
        let slots = self.narrowed(visible, |bit| {
            slots_with(&mut slab, shape.slab_of(segment, bit), shape.slice_bytes())
        })?;
        for slot in slots.iter() {
            let Some(head) = directory.heads.get(slot) else { continue };
            let slot = i64::try_from(slot).unwrap_or(0);
            let block = self.task.shape.first_block(segment).saturating_add(slot);
            self.add(head.newest_ms, Source::Block { block, thread: head.thread });
        }
        Ok(())
    }

    fn narrowed(
        &mut self,
        visible: Slots,
        slots_with: impl FnMut(usize) -> Result<Slots>,
    ) -> Result<Slots> {
        match &mut self.spread {
            Some(spread) => self.narrowing.narrow_and_count(visible, spread, slots_with),
            None => self.narrowing.narrow(visible, slots_with),
        }
    }
}

impl Task<'_> {
    /// The head of a growing end that may hold a hit: its text is at hand, so it is looked at at
    /// once.
    fn tail_head(&self, row: &Row<'_>) -> Result<Option<Head>> {
        let head = head(row)?;
        if !self.filter.admits(&head) {
            return Ok(None);
        }
        let view = View::new(row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?)?;
        let has_needle = self.needles.first().is_none_or(|needle| needle.is_in(view.texts));
        Ok((has_needle && self.filter.admits_any(&view)).then_some(head))
    }
}

/// The blocks whose bits stand somewhere in a slab.
fn slots_with(
    select: &mut CachedStatement<'_>,
    (slab, from): (i64, usize),
    bytes: usize,
) -> Result<Slots> {
    let slots = select.query_row([slab], |row| {
        let slices = row.get_ref(0)?.as_blob()?;
        Ok(slices.get(from..from + bytes).map(Slots::from_bytes))
    })?;
    slots.ok_or(StoreError::Corrupt { what: "signature in the containment index" })
}
