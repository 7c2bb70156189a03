//! Frames: what those who watch a terminal and its keeper send each other, after the first line.
//!
//! A frame is a letter, the length of what follows in four bytes, the largest first, and that.

use std::io;

use crate::limits::FRAME_BYTES_MAX;
use crate::screen::Size;

/// Bytes before what a frame carries.
pub(crate) const HEAD_BYTES: usize = 5;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// To the keeper: keys.
    Keys,
    /// To the keeper: the window has another size.
    Window,
    /// To the keeper: there will be no more keys.
    NoMoreKeys,
    /// To the keeper: the watcher leaves. To the watcher: it has left.
    Leave,
    /// To the keeper: the program may go on.
    GoOn,
    /// To the watcher: what the program printed.
    Output,
    /// To the watcher: the program has ended.
    Ended,
    /// To the watcher: the program has stopped.
    Stopped,
}

const MARKS: [(Mark, u8); 8] = [
    (Mark::Keys, b'k'),
    (Mark::Window, b'w'),
    (Mark::NoMoreKeys, b'n'),
    (Mark::Leave, b'l'),
    (Mark::GoOn, b'g'),
    (Mark::Output, b'o'),
    (Mark::Ended, b'e'),
    (Mark::Stopped, b's'),
];

impl Mark {
    const fn letter(self) -> u8 {
        match self {
            Self::Keys => b'k',
            Self::Window => b'w',
            Self::NoMoreKeys => b'n',
            Self::Leave => b'l',
            Self::GoOn => b'g',
            Self::Output => b'o',
            Self::Ended => b'e',
            Self::Stopped => b's',
        }
    }
}

/// The bytes before what a frame carries.
pub(crate) fn head(mark: Mark, length: usize) -> [u8; HEAD_BYTES] {
    let length = u32::try_from(length).unwrap_or(u32::MAX).to_be_bytes();
    let [a, b, c, d] = length;
    [mark.letter(), a, b, c, d]
}

/// A whole frame.
pub(crate) fn frame(mark: Mark, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len());
    bytes.extend_from_slice(&head(mark, body.len()));
    bytes.extend_from_slice(body);
    bytes
}

/// A window's size as a frame carries it.
pub(crate) fn of_size(size: Size) -> [u8; 4] {
    let ([a, b], [c, d]) = (size.rows.to_be_bytes(), size.cols.to_be_bytes());
    [a, b, c, d]
}

/// A window's size.
pub(crate) fn to_size(body: &[u8]) -> Option<Size> {
    let [a, b, c, d] = body.try_into().ok()?;
    Some(Size { rows: u16::from_be_bytes([a, b]), cols: u16::from_be_bytes([c, d]) })
}

/// How a program ended, as a frame carries it.
pub(crate) fn to_code(body: &[u8]) -> i32 {
    body.try_into().map_or(1, i32::from_be_bytes)
}

/// What a frame is and how much it carries; `None` when this is no frame.
pub(crate) fn of_head(head: [u8; HEAD_BYTES]) -> Option<(Mark, usize)> {
    let [letter, length @ ..] = head;
    let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
    let (mark, _) = MARKS.iter().find(|(_, known)| *known == letter)?;
    (length <= FRAME_BYTES_MAX).then_some((*mark, length))
}

/// The first whole frame of some bytes: what it is, and where what it carries begins and ends.
pub(crate) fn first(bytes: &[u8]) -> io::Result<Option<(Mark, std::ops::Range<usize>)>> {
    let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let Some((mark, length)) = of_head(*head) else {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "this is no frame"));
    };
    let whole = HEAD_BYTES + length;
    Ok((bytes.len() >= whole).then_some((mark, HEAD_BYTES..whole)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_whole_or_waited_for() {
        let bytes = frame(Mark::Output, b"hello");
        for cut in 0..bytes.len() {
            assert_eq!(first(&bytes[..cut]).unwrap(), None);
        }
        assert_eq!(first(&bytes).unwrap(), Some((Mark::Output, 5..10)));
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(first(b"?\0\0\0\0").is_err());
        assert!(first(b"o\xff\xff\xff\xff").is_err());
    }

    #[test]
    fn every_mark_is_found_by_its_letter() {
        for (mark, letter) in MARKS {
            assert_eq!(mark.letter(), letter);
            assert_eq!(first(&frame(mark, b"")).unwrap(), Some((mark, 5..5)));
        }
    }

    #[test]
    fn sizes_survive() {
        let size = Size { rows: 300, cols: 7 };
        assert_eq!(to_size(&of_size(size)), Some(size));
    }
}
