//! Which blocks and messages a search looks at.

use std::collections::HashSet;

use protocol::Timestamp;
use rusqlite::Connection;

use super::block::{Head, View};
use super::directory::Directory;
use super::request::{ContainmentFilter, ContainmentScope, Place};
use super::schema;
use super::slots::Slots;
use crate::error::Result;

/// So few threads are looked up one by one; more are asked of each block.
const LOOK_UP_MAX: usize = 128;

/// A filter with names as numbers and times as one range.
pub(super) struct Filter {
    workspace: u32,
    /// `None` means all.
    threads: Option<HashSet<i64>>,
    denied: HashSet<i64>,
    senders: Option<Vec<u32>>,
    content_types: Option<Vec<u16>>,
    /// Only below this place.
    below: (i64, i64),
    since_ms: i64,
}

impl Filter {
    /// As the index knows it; `None` when nothing can be found.
    pub(super) fn resolve(
        tx: &Connection,
        filter: &ContainmentFilter,
        after: Option<Place>,
    ) -> Result<Option<Self>> {
        let Some(workspace) = schema::name_id(tx, &filter.workspace)? else { return Ok(None) };
        let denied: HashSet<i64> = filter.denied_threads.iter().copied().collect();
        let threads = match &filter.scope {
            ContainmentScope::Workspace => None,
            ContainmentScope::Threads(threads) => {
                Some(threads.iter().copied().filter(|thread| !denied.contains(thread)).collect())
            }
        };
        let senders = match &filter.senders {
            None => None,
            Some(names) => Some(numbers(tx, names)?),
        };
        let newest = (i64::MAX, i64::MAX);
        let after = after.map_or(newest, |place| (place.sent.as_ms(), place.row));
        let before = filter.before.map_or(newest, |before| (before.as_ms(), i64::MIN));
        let resolved = Self {
            workspace,
            threads,
            denied,
            senders,
            content_types: filter.content_types.clone(),
            below: after.min(before),
            since_ms: filter.since.map_or(i64::MIN, Timestamp::as_ms),
        };
        Ok((!resolved.is_empty()).then_some(resolved))
    }

    fn is_empty(&self) -> bool {
        self.threads.as_ref().is_some_and(HashSet::is_empty)
            || self.senders.as_ref().is_some_and(Vec::is_empty)
            || self.content_types.as_ref().is_some_and(Vec::is_empty)
            || self.below <= (self.since_ms, i64::MIN)
    }

    /// The place that every hit is below.
    pub(super) fn below(&self) -> (i64, i64) {
        self.below
    }

    /// The senders, if not all.
    pub(super) fn senders(&self) -> Option<&[u32]> {
        self.senders.as_deref()
    }

    /// The content types, if not all.
    pub(super) fn content_types(&self) -> Option<&[u16]> {
        self.content_types.as_deref()
    }

    /// The threads, if they are few enough to be looked up one by one.
    pub(super) fn few_threads(&self) -> Option<&HashSet<i64>> {
        self.threads.as_ref().filter(|threads| threads.len() <= LOOK_UP_MAX)
    }

    /// Whether a block may hold a message that is looked for.
    pub(super) fn admits(&self, head: &Head) -> bool {
        head.workspace == self.workspace
            && self.reaches(head.newest_ms, head.oldest_ms)
            && self.threads.as_ref().is_none_or(|threads| threads.contains(&head.thread))
            && !(self.threads.is_none() && self.denied.contains(&head.thread))
    }

    /// Whether a range of times may hold a message that is looked for.
    pub(super) fn reaches(&self, newest_ms: i64, oldest_ms: i64) -> bool {
        newest_ms >= self.since_ms && (oldest_ms, i64::MIN) < self.below
    }

    /// The blocks of a sealed segment that may hold a message that is looked for.
    pub(super) fn slots(&self, directory: &Directory) -> Slots {
        let mut slots = Slots::default();
        let mut add = |slot: usize, head: &Head| {
            if self.admits(head) {
                slots.add(slot);
            }
        };
        if let Some(threads) = self.few_threads() {
            for slot in threads.iter().flat_map(|thread| directory.slots_of(*thread)) {
                directory.heads.get(slot).into_iter().for_each(|head| add(slot, head));
            }
        } else {
            directory.heads.iter().enumerate().for_each(|(slot, head)| add(slot, head));
        }
        slots
    }

    /// The messages of a block within the range of times, which stand together.
    pub(super) fn range(&self, view: &View<'_>) -> (usize, usize) {
        (view.first_below(self.below), view.first_below((self.since_ms, i64::MIN)))
    }

    /// Whether any message of a block has a sender and a content type that are looked for.
    pub(super) fn admits_any(&self, view: &View<'_>) -> bool {
        (self.senders.is_none() && self.content_types.is_none())
            || (0..view.count()).any(|index| self.admits_message(view, index))
    }

    /// Whether the sender and the content type of a message are looked for.
    pub(super) fn admits_message(&self, view: &View<'_>, index: usize) -> bool {
        let is_in_senders = self.senders.as_ref().is_none_or(|senders| {
            view.sender(index).is_some_and(|sender| senders.contains(&sender))
        });
        is_in_senders
            && self.content_types.as_ref().is_none_or(|codes| {
                view.content_type(index).is_some_and(|code| codes.contains(&code))
            })
    }
}

fn numbers(tx: &Connection, names: &[String]) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    for name in names {
        numbers.extend(schema::name_id(tx, name)?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}
