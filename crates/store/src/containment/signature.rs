//! Signatures of blocks: which runs of one to four characters, which senders and which content
//! types occur, as a hashed bit set.

use super::block::Entry;

/// Bits that a sender or a content type sets: there are few in a block, and each has to single out
/// its blocks alone.
const LABEL_BITS: u64 = 4;
/// Characters of the longest runs.
const RUN_LETTERS_MAX: usize = 4;
/// Bits of a needle that are looked at.
const NEEDLE_BITS_MAX: usize = 32;

/// The signature of one block.
pub(super) struct Signature {
    words: Vec<u64>,
    mask: u64,
}

/// A property of a message beside its text.
#[derive(Clone, Copy)]
pub(super) enum Label {
    /// Who sent it.
    Sender(u32),
    /// What it holds.
    ContentType(u16),
}

impl Signature {
    /// Of the messages of one block, with so many bits, a power of two.
    pub(super) fn of(entries: &[Entry<'_>], bits: usize) -> Self {
        let mut signature = Self { words: vec![0; bits.div_ceil(64)], mask: mask(bits) };
        for entry in entries {
            signature.add_text(&entry.text);
            signature.add_label(Label::Sender(entry.sender));
            signature.add_label(Label::ContentType(entry.content_type));
        }
        signature
    }

    fn add_text(&mut self, text: &str) {
        if text.is_ascii() {
            for_each_run(text.bytes().map(u64::from), |_, hash| self.set(hash));
        } else {
            for_each_run(text.chars().map(u64::from), |_, hash| self.set(hash));
        }
    }

    fn add_label(&mut self, label: Label) {
        for hash in label_hashes(label) {
            self.set(hash);
        }
    }

    fn set(&mut self, hash: u64) {
        let bit = bit(hash, self.mask);
        if let Some(word) = self.words.get_mut(bit / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    /// As it is stored.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// The bits that are set in a stored signature, ascending.
pub(super) fn bits_of(signature: &[u8]) -> impl Iterator<Item = usize> {
    signature.as_chunks::<8>().0.iter().enumerate().flat_map(|(index, word)| {
        let word = u64::from_le_bytes(*word);
        let rest = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
        rest.take_while(|word| *word != 0)
            .map(move |word| index * 64 + word.trailing_zeros() as usize)
    })
}

/// The bits that every block with this folded text has, the most telling first.
pub(super) fn needle_bits(needle: &str, bits: usize) -> Vec<usize> {
    let mut by_length: [Vec<u64>; RUN_LETTERS_MAX] = Default::default();
    for_each_run(needle.chars().map(u64::from), |letters, hash| {
        by_length.get_mut(letters - 1).into_iter().for_each(|hashes| hashes.push(hash));
    });
    let mut found: Vec<usize> = Vec::with_capacity(NEEDLE_BITS_MAX);
    for hash in by_length.iter().rev().flat_map(|hashes| spread(hashes)) {
        let bit = bit(hash, mask(bits));
        if found.len() < NEEDLE_BITS_MAX && !found.contains(&bit) {
            found.push(bit);
        }
    }
    found
}

/// The bits that every block with a message of this property has.
pub(super) fn bits_of_label(label: Label, bits: usize) -> Vec<usize> {
    label_hashes(label).map(|hash| bit(hash, mask(bits))).collect()
}

/// Runs from all parts of a needle first: neighbours tell much the same.
fn spread(hashes: &[u64]) -> impl Iterator<Item = u64> {
    [0, 2, 1, 3].into_iter().flat_map(|first| hashes.iter().skip(first).step_by(4)).copied()
}

/// Hashes all runs of a text, and tells their length.
///
/// Runs of three have two hashes: the shortest needles that are rare without having a rare letter or
/// pair have nothing else to go by.
fn for_each_run(letters: impl Iterator<Item = u64>, mut take: impl FnMut(usize, u64)) {
    let (mut fourth, mut third, mut second) = (0, 0, 0);
    for (before, last) in letters.enumerate() {
        take(1, hash(last | 1 << 63));
        let two = second << 21 | last;
        if before >= 1 {
            take(2, hash(two));
        }
        let three = hash((third + 1) << 42 | two);
        if before >= 2 {
            take(3, three);
            take(3, hash(three >> 16));
        }
        if before >= 3 {
            take(4, hash((three >> 8) + fourth));
        }
        (fourth, third, second) = (third, second, last);
    }
}

fn label_hashes(label: Label) -> impl Iterator<Item = u64> {
    let (kind, number) = match label {
        Label::Sender(sender) => (2, u64::from(sender)),
        Label::ContentType(code) => (3, u64::from(code)),
    };
    // The highest bits are all set, which they are in no run.
    (0..LABEL_BITS).map(move |nth| {
        let hashed = hash(!(kind << 48 | number << 8 | nth));
        // Numbers that follow each other must not have bits that do.
        hash(hashed ^ hashed >> 32)
    })
}

/// Fibonacci hashing: the highest bits depend on all bits of a run.
fn hash(run: u64) -> u64 {
    run.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A signature never has more than 65,536 bits, so the 16 highest bits of a hash are enough.
fn bit(hash: u64, mask: u64) -> usize {
    usize::try_from(hash >> 48 & mask).unwrap_or(0)
}

fn mask(bits: usize) -> u64 {
    u64::try_from(bits.saturating_sub(1)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    fn signed(text: &'static str) -> Vec<usize> {
        let text = Cow::Borrowed(text);
        let entry = Entry { sent_ms: 1, row: 1, sender: 7, content_type: 9, text };
        bits_of(&Signature::of(&[entry], 8_192).to_bytes()).collect()
    }

    #[test]
    fn a_text_has_all_bits_of_whatever_it_contains() {
        let text = "Grüße: 会議は明日 👩🏽\u{200D}💻 ok, and more than that";
        let set = signed(text);
        let letters: Vec<char> = text.chars().collect();
        for from in 0..letters.len() {
            for upto in from + 1..=letters.len() {
                let needle: String = letters[from..upto].iter().collect();
                let bits = needle_bits(&needle, 8_192);
                assert!(!bits.is_empty() && bits.len() <= NEEDLE_BITS_MAX);
                assert!(bits.iter().all(|bit| set.contains(bit)), "{needle}");
            }
        }
    }

    #[test]
    fn senders_and_content_types_have_bits_of_their_own() {
        let set = signed("");
        let has = |label| bits_of_label(label, 8_192).iter().all(|bit| set.contains(bit));
        assert!(has(Label::Sender(7)) && has(Label::ContentType(9)));
        assert!(!has(Label::Sender(8)) && !has(Label::ContentType(7)));
    }

    #[test]
    fn hashes_spread_evenly_over_the_bits() {
        let mut counts = [0_usize; 256];
        for first in 'a'..='z' {
            for second in 'a'..='z' {
                for third in 'a'..='z' {
                    let run = [first, second, third].map(u64::from).into_iter();
                    for_each_run(run, |letters, hash| {
                        counts[bit(hash, 255)] += usize::from(letters == 3);
                    });
                }
            }
        }
        let mean = 26 * 26 * 26 * 2 / 256;
        assert!(counts.iter().all(|count| (mean / 2..mean * 2).contains(count)), "{counts:?}");
    }
}
