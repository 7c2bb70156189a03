//! A block: the folded texts of some messages of one thread, newest first.
//!
//! Stored are the number of messages, then for all of them the time, the row, the sender, the
//! content type and the end of the text, each as a column of little-endian numbers, then the texts
//! with a byte between them that no text holds. So the whole block is searched in one go, no hit
//! lies across a border, and the columns are read only where there is a hit.

use std::borrow::Cow;

use crate::error::{Result, StoreError};

/// Stands between two texts; it occurs nowhere in UTF-8.
const BORDER: u8 = 0xFF;
/// What a block knows about each message beside its text, and the border.
const ENTRY_BYTES: usize = 8 + 8 + 4 + 2 + 4 + 1;
const CORRUPT: StoreError = StoreError::Corrupt { what: "block of the containment index" };

/// One message of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    pub(super) sent_ms: i64,
    pub(super) row: i64,
    pub(super) sender: u32,
    pub(super) content_type: u16,
    /// Folded.
    pub(super) text: Cow<'a, str>,
}

impl Entry<'_> {
    /// The place in the order of answers.
    pub(super) fn key(&self) -> (i64, i64) {
        (self.sent_ms, self.row)
    }

    /// What it adds to a block's size.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + ENTRY_BYTES
    }
}

/// What is known of a block without reading it. Entries that were taken out may have left the
/// ranges wider than they need be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) workspace: u32,
    pub(super) thread: i64,
    pub(super) newest_ms: i64,
    pub(super) oldest_ms: i64,
    pub(super) row_min: i64,
    pub(super) row_max: i64,
}

impl Head {
    /// The head of a block of these messages; `None` for none.
    pub(super) fn of(workspace: u32, thread: i64, entries: &[Entry<'_>]) -> Option<Self> {
        Some(Self {
            workspace,
            thread,
            newest_ms: entries.iter().map(|entry| entry.sent_ms).max()?,
            oldest_ms: entries.iter().map(|entry| entry.sent_ms).min()?,
            row_min: entries.iter().map(|entry| entry.row).min()?,
            row_max: entries.iter().map(|entry| entry.row).max()?,
        })
    }
}

/// A block as it is stored. The messages must be in order, oldest first.
pub(super) fn encode(entries: &[Entry<'_>]) -> Result<Vec<u8>> {
    let bytes = entries.iter().map(Entry::bytes).sum::<usize>() + 4;
    let mut block = Vec::with_capacity(bytes);
    block.extend(u32::try_from(entries.len()).map_err(|_| CORRUPT)?.to_le_bytes());
    let newest_first = || entries.iter().rev();
    newest_first().for_each(|entry| block.extend(entry.sent_ms.to_le_bytes()));
    newest_first().for_each(|entry| block.extend(entry.row.to_le_bytes()));
    newest_first().for_each(|entry| block.extend(entry.sender.to_le_bytes()));
    newest_first().for_each(|entry| block.extend(entry.content_type.to_le_bytes()));
    let mut end = 0_usize;
    for entry in newest_first() {
        end += entry.text.len();
        block.extend(u32::try_from(end).map_err(|_| CORRUPT)?.to_le_bytes());
        end += 1;
    }
    for entry in newest_first() {
        block.extend(entry.text.as_bytes());
        block.push(BORDER);
    }
    Ok(block)
}

/// A stored block, as it is read.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    sent_ms: &'a [[u8; 8]],
    rows: &'a [[u8; 8]],
    senders: &'a [[u8; 4]],
    content_types: &'a [[u8; 2]],
    ends: &'a [[u8; 4]],
    /// All texts, with borders.
    pub(super) texts: &'a [u8],
}

impl<'a> View<'a> {
    /// Reads a stored block.
    pub(super) fn new(block: &'a [u8]) -> Result<Self> {
        Self::split(block).ok_or(CORRUPT)
    }

    fn split(block: &'a [u8]) -> Option<Self> {
        let (count, rest) = block.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (sent_ms, rest) = column::<8>(rest, count)?;
        let (rows, rest) = column::<8>(rest, count)?;
        let (senders, rest) = column::<4>(rest, count)?;
        let (content_types, rest) = column::<2>(rest, count)?;
        let (ends, texts) = column::<4>(rest, count)?;
        Some(Self { sent_ms, rows, senders, content_types, ends, texts })
    }

    /// How many messages there are.
    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// The place of a message in the order of answers.
    pub(super) fn key(&self, index: usize) -> Option<(i64, i64)> {
        let sent_ms = i64::from_le_bytes(*self.sent_ms.get(index)?);
        Some((sent_ms, i64::from_le_bytes(*self.rows.get(index)?)))
    }

    /// The sender of a message.
    pub(super) fn sender(&self, index: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.senders.get(index)?))
    }

    /// The content type of a message.
    pub(super) fn content_type(&self, index: usize) -> Option<u16> {
        Some(u16::from_le_bytes(*self.content_types.get(index)?))
    }

    /// The first message below a key.
    pub(super) fn first_below(&self, key: (i64, i64)) -> usize {
        let (mut from, mut upto) = (0, self.count());
        while from < upto {
            let middle = usize::midpoint(from, upto);
            if self.key(middle).is_some_and(|found| found >= key) {
                from = middle + 1;
            } else {
                upto = middle;
            }
        }
        from
    }

    /// Where a message's text begins.
    pub(super) fn start(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.end(before).saturating_add(1))
    }

    /// Where a message's text ends.
    pub(super) fn end(&self, index: usize) -> usize {
        let end = self.ends.get(index).map(|end| u32::from_le_bytes(*end));
        end.and_then(|end| usize::try_from(end).ok()).unwrap_or(self.texts.len())
    }

    /// The message whose text holds a byte.
    pub(super) fn at(&self, position: usize) -> usize {
        let is_before = |end: &[u8; 4]| {
            usize::try_from(u32::from_le_bytes(*end)).is_ok_and(|end| end <= position)
        };
        self.ends.partition_point(is_before)
    }

    /// The text of a message.
    pub(super) fn text(&self, index: usize) -> Result<&'a str> {
        let bytes = self.texts.get(self.start(index)..self.end(index)).ok_or(CORRUPT)?;
        str::from_utf8(bytes).map_err(|_| CORRUPT)
    }

    /// One message.
    pub(super) fn entry(&self, index: usize) -> Result<Entry<'a>> {
        let (sent_ms, row) = self.key(index).ok_or(CORRUPT)?;
        Ok(Entry {
            sent_ms,
            row,
            sender: self.sender(index).ok_or(CORRUPT)?,
            content_type: self.content_type(index).ok_or(CORRUPT)?,
            text: Cow::Borrowed(self.text(index)?),
        })
    }

    /// All messages, oldest first.
    pub(super) fn entries(&self) -> Result<Vec<Entry<'a>>> {
        (0..self.count()).rev().map(|index| self.entry(index)).collect()
    }
}

fn column<const BYTES: usize>(bytes: &[u8], count: usize) -> Option<(&[[u8; BYTES]], &[u8])> {
    let (column, rest) = bytes.split_at_checked(count.checked_mul(BYTES)?)?;
    Some((column.as_chunks::<BYTES>().0, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry<'static>> {
        let entry = |sent_ms, row, text| Entry {
            sent_ms,
            row,
            sender: 3,
            content_type: 9,
            text: Cow::Borrowed(text),
        };
        vec![entry(-5, 1, "eins"), entry(7, 2, ""), entry(7, 4, "会議 drei")]
    }

    #[test]
    fn a_block_gives_back_what_was_put_into_it() {
        let stored = encode(&entries()).unwrap();
        let view = View::new(&stored).unwrap();
        assert_eq!(view.entries().unwrap(), entries());
        assert_eq!(stored.len(), 4 + entries().iter().map(Entry::bytes).sum::<usize>());
    }

    #[test]
    fn a_message_is_found_by_place_and_by_byte() {
        let stored = encode(&entries()).unwrap();
        let view = View::new(&stored).unwrap();
        assert_eq!(view.first_below((7, 4)), 1);
        assert_eq!(view.first_below((7, i64::MIN)), 2);
        assert_eq!(view.first_below((i64::MIN, 0)), 3);
        let eins = view.texts.windows(4).position(|bytes| bytes == b"eins").unwrap();
        assert_eq!(view.at(eins), 2);
        assert_eq!(view.at(0), 0);
    }

    #[test]
    fn a_broken_block_is_an_error() {
        let stored = encode(&entries()).unwrap();
        assert!(View::new(&stored[..20]).is_err());
        assert!(View::new(&[]).is_err());
        let mut garbled = stored;
        garbled[4 + 3 * 22] = 200;
        assert!(View::new(&garbled).unwrap().entries().is_err());
    }
}
