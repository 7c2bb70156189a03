//! What an answer does not hold: a filter never shrinks silently, and neither does an archive.

use std::collections::HashMap;

use protocol::Timestamp;
use protocol::limits::chats::{CHATS_MAX, GAPS_MAX};
use schemars::JsonSchema;
use serde::Serialize;
use store::{ChatRow, HeldRow, Tx};

use super::rules::Range;
use crate::error::Result;

/// So few chats are looked up one by one.
const ONE_BY_ONE_MAX: usize = 32;

/// How much of what was asked for is held at all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Coverage {
    /// Whether everything that was said in the time asked for is held here.
    pub(crate) complete: bool,
    /// Since when nothing is missing; absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) oldest_synced: Option<Timestamp>,
    /// Stretches of the time asked for of which something may be missing, at most 20.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) gaps: Vec<Gap>,
}

/// A stretch of which something may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Gap {
    /// The chat's id.
    pub(crate) chat_id: String,
    /// From when; absent for the chat's beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from: Option<Timestamp>,
    /// Until when; absent for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) to: Option<Timestamp>,
}

/// Looks at what is held of some chats in a stretch of time.
pub(crate) fn of(
    tx: &mut Tx<'_>,
    chats: &[ChatRow],
    range: Range,
    now: Timestamp,
) -> Result<Coverage> {
    let mut coverage = Coverage { complete: true, ..Coverage::default() };
    let mut oldest = None;
    let all = if chats.len() > ONE_BY_ONE_MAX { Some(held_of_all(tx, chats)?) } else { None };
    for (index, chat) in chats.iter().enumerate() {
        let held = match &all {
            Some(all) => all.get(&chat.thread_row).cloned().unwrap_or_default(),
            None => tx.held(chat.thread_row, GAPS_MAX)?,
        };
        let missing = missing(&held, range, now);
        coverage.complete &= missing.is_empty();
        let room = GAPS_MAX.saturating_sub(coverage.gaps.len());
        coverage.gaps.extend(missing.into_iter().take(room).map(|(from, to)| Gap {
            chat_id: chat.remote_id.clone(),
            from: (from > HeldRow::BEGINNING).then(|| Timestamp::from_ms(from)),
            to: (to < now.as_ms()).then(|| Timestamp::from_ms(to)),
        }));
        let since = held.last().map(|last| synced_since(last, chat));
        oldest = match (index, oldest, since) {
            (0, _, since) => since,
            // Of several chats the answer holds since when all of them are whole.
            (_, Some(one), Some(other)) => Some(std::cmp::max::<i64>(one, other)),
            _ => None,
        };
    }
    coverage.oldest_synced = oldest.map(Timestamp::from_ms);
    Ok(coverage)
}

/// What is held of each chat, with one question a link.
fn held_of_all(tx: &mut Tx<'_>, chats: &[ChatRow]) -> Result<HashMap<i64, Vec<HeldRow>>> {
    let mut links: Vec<i64> = chats.iter().map(|chat| chat.link_row).collect();
    links.sort_unstable();
    links.dedup();
    let mut all: HashMap<i64, Vec<HeldRow>> = HashMap::new();
    for link in links {
        for (thread, held) in tx.held_of_link(link, CHATS_MAX)? {
            all.entry(thread).or_default().push(held);
        }
    }
    Ok(all)
}

/// Where the newest unbroken stretch begins.
fn synced_since(last: &HeldRow, chat: &ChatRow) -> i64 {
    if last.from_ms == HeldRow::BEGINNING {
        return chat.oldest.map_or(0, Timestamp::as_ms);
    }
    last.from_ms
}

/// The parts of a stretch that no held stretch covers.
fn missing(held: &[HeldRow], range: Range, now: Timestamp) -> Vec<(i64, i64)> {
    let mut from = range.since.map_or(HeldRow::BEGINNING, Timestamp::as_ms);
    let to = range.before.map_or(now.as_ms(), |before| before.as_ms().min(now.as_ms()));
    let mut missing = Vec::new();
    for one in held {
        if one.to_ms < from {
            continue;
        }
        if one.from_ms > from && from < to {
            missing.push((from, one.from_ms.min(to)));
        }
        from = from.max(one.to_ms);
    }
    if from < to {
        missing.push((from, to));
    }
    missing.retain(|(from, to)| from < to);
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(100);

    fn held(parts: &[(i64, i64)]) -> Vec<HeldRow> {
        parts.iter().map(|(from_ms, to_ms)| HeldRow { from_ms: *from_ms, to_ms: *to_ms }).collect()
    }

    fn range(since: Option<i64>, before: Option<i64>) -> Range {
        Range { since: since.map(Timestamp::from_ms), before: before.map(Timestamp::from_ms) }
    }

    #[test]
    fn nothing_held_is_one_gap() {
        assert_eq!(missing(&[], range(None, None), NOW), [(HeldRow::BEGINNING, 100)]);
        assert_eq!(missing(&[], range(Some(10), Some(20)), NOW), [(10, 20)]);
    }

    #[test]
    fn what_is_held_closes_gaps_only_where_it_lies() {
        let rows = held(&[(HeldRow::BEGINNING, 20), (40, 100)]);
        assert_eq!(missing(&rows, range(None, None), NOW), [(20, 40)]);
        assert_eq!(missing(&rows, range(Some(50), None), NOW), []);
        assert_eq!(missing(&rows, range(Some(10), Some(30)), NOW), [(20, 30)]);
    }

    #[test]
    fn an_archive_that_ended_earlier_says_so() {
        let rows = held(&[(HeldRow::BEGINNING, 60)]);
        assert_eq!(missing(&rows, range(None, None), NOW), [(60, 100)]);
    }
}
