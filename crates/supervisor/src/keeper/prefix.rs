//! The keys that are meant for the watcher itself: Ctrl-] and then d leaves; Ctrl-] twice sends one.

use std::time::Instant;

use crate::keys::{Key, Keys};

/// What a watcher's keys mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// Pass these on.
    Pass(Vec<u8>),
    /// Pass these on, and leave.
    Leave(Vec<u8>),
}

/// Looks for the prefix.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    keys: Keys,
    pressed: bool,
}

impl Prefix {
    /// Takes what the terminal sent. Everything else passes as it is, and at once.
    pub(crate) fn take(&mut self, bytes: &[u8], now: Instant) -> Meant {
        let mut passed = Vec::with_capacity(bytes.len());
        let mut begin = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let keys = self.keys.take(*byte, now);
            let Some(key) = keys.into_iter().flatten().last() else { continue };
            let key_bytes = bytes.get(begin..=at).unwrap_or_default();
            begin = at + 1;
            match (self.pressed, key) {
                // Letting the prefix go is no answer to it.
                (true, Key::Report) => passed.extend_from_slice(key_bytes),
                (true, Key::Letter('d' | 'D') | Key::Control('d')) => return Meant::Leave(passed),
                (true, _) => {
                    self.pressed = false;
                    passed.extend_from_slice(key_bytes);
                }
                (false, Key::Control(']')) => self.pressed = true,
                (false, _) => passed.extend_from_slice(key_bytes),
            }
        }
        // What is half a key goes on its way too: nothing may wait for what may never come.
        passed.extend_from_slice(bytes.get(begin..).unwrap_or_default());
        Meant::Pass(passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(chunks: &[&[u8]]) -> (Vec<u8>, bool) {
        let mut prefix = Prefix::default();
        let mut passed = Vec::new();
        for chunk in chunks {
            match prefix.take(chunk, crate::clock::now()) {
                Meant::Pass(bytes) => passed.extend(bytes),
                Meant::Leave(bytes) => {
                    passed.extend(bytes);
                    return (passed, true);
                }
            }
        }
        (passed, false)
    }

    #[test]
    fn the_prefix_and_d_leave_and_nothing_of_them_is_sent() {
        assert_eq!(take(&[b"ab\x1ddcd"]), (b"ab".to_vec(), true));
        assert_eq!(take(&[b"ab\x1d", b"d"]), (b"ab".to_vec(), true));
        assert!(take(&[b"\x1b[93;5u", b"\x1b[93;5:3u", b"d"]).1);
        assert_eq!(take(&[b"\x1b[27;5;93~", b"\x1b[100u"]), (Vec::new(), true));
    }

    #[test]
    fn twice_the_prefix_sends_one() {
        assert_eq!(take(&[b"a\x1d\x1db"]), (b"a\x1db".to_vec(), false));
        assert_eq!(take(&[b"\x1dx"]), (b"x".to_vec(), false));
    }

    #[test]
    fn a_paste_is_no_prefix() {
        let paste = b"\x1b[200~a\x1dd\x1b[201~";
        assert_eq!(take(&[paste]), (paste.to_vec(), false));
    }

    #[test]
    fn whatever_else_passes_byte_for_byte_however_it_is_cut() {
        let all: Vec<u8> = (0..=255).filter(|byte| *byte != 0x1d).collect();
        let mut mixed = b"\x1b[A\x1bOP\x1b[<0;3;4M\xc3\xa9\x1b]11;rgb:0/0/0\x1b\\".to_vec();
        mixed.extend(all);
        for size in 1..mixed.len() {
            let chunks: Vec<&[u8]> = mixed.chunks(size).collect();
            assert_eq!(take(&chunks), (mixed.clone(), false));
        }
    }
}
