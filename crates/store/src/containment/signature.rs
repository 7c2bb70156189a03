//! Signatures of blocks: which runs of one to three characters, which senders and which content
//! types occur, as a hashed bit set.

use super::block::Entry;

/// Bits that a sender or a content type sets: there are few in a block, and each has to single out
/// its blocks alone.
const LABEL_BITS: u64 = 4;
/// Bits of a needle that are looked at.
const NEEDLE_BITS_MAX: usize = 12;

/// The signature of one block.
pub(super) struct Signature {
    words: Vec<u64>,
    shift: u32,
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
    /// An empty one of so many bits, a power of two.
    fn new(bits: usize) -> Self {
        Self { words: vec![0; bits.div_ceil(64)], shift: shift(bits) }
    }

    /// Of the messages of one block.
    pub(super) fn of(entries: &[Entry<'_>], bits: usize) -> Self {
        let mut signature = Self::new(bits);
        for entry in entries {
            signature.add_text(&entry.text);
            signature.add_label(Label::Sender(entry.sender));
            signature.add_label(Label::ContentType(entry.content_type));
        }
        signature
    }

    /// Enters all runs of a folded text.
    fn add_text(&mut self, text: &str) {
        if text.is_ascii() {
            self.add_runs(text.bytes().map(u64::from));
        } else {
            self.add_runs(text.chars().map(u64::from));
        }
    }

    fn add_runs(&mut self, mut letters: impl Iterator<Item = u64>) {
        let Some(mut third) = letters.next() else { return };
        self.set(bit(run_of_one(third), self.shift));
        let Some(mut second) = letters.next() else { return };
        self.set(bit(run_of_one(second), self.shift));
        self.set(bit(run_of_two(third, second), self.shift));
        for last in letters {
            self.set(bit(run_of_one(last), self.shift));
            self.set(bit(run_of_two(second, last), self.shift));
            self.set(bit(run_of_three(third, second, last), self.shift));
            (third, second) = (second, last);
        }
    }

    /// Enters a property.
    fn add_label(&mut self, label: Label) {
        for bit in label_bits(label, self.shift) {
            self.set(bit);
        }
    }

    fn set(&mut self, bit: usize) {
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
    let letters: Vec<u64> = needle.chars().map(u64::from).collect();
    let threes = letters.windows(3).filter_map(|run| match run {
        [third, second, last] => Some(run_of_three(*third, *second, *last)),
        _ => None,
    });
    let twos = letters.windows(2).filter_map(|run| match run {
        [second, last] => Some(run_of_two(*second, *last)),
        _ => None,
    });
    let mut chosen = spread(&threes.collect::<Vec<_>>());
    chosen.extend(twos);
    chosen.extend(letters.iter().map(|letter| run_of_one(*letter)));
    let mut found: Vec<usize> = Vec::with_capacity(NEEDLE_BITS_MAX);
    for run in chosen {
        let bit = bit(run, shift(bits));
        if found.len() < NEEDLE_BITS_MAX && !found.contains(&bit) {
            found.push(bit);
        }
    }
    found
}

/// The bits that every block with a message of this property has.
pub(super) fn bits_of_label(label: Label, bits: usize) -> Vec<usize> {
    label_bits(label, shift(bits)).collect()
}

/// Runs of a long needle from all its parts: neighbours tell much the same.
fn spread(runs: &[u64]) -> Vec<u64> {
    let step = runs.len().div_ceil(NEEDLE_BITS_MAX).max(1);
    runs.iter().step_by(step).copied().collect()
}

/// How far a hash is shifted to become a bit.
fn shift(bits: usize) -> u32 {
    64 - bits.trailing_zeros()
}

fn run_of_one(letter: u64) -> u64 {
    letter | 1 << 63
}

fn run_of_two(second: u64, last: u64) -> u64 {
    second << 21 | last
}

fn run_of_three(third: u64, second: u64, last: u64) -> u64 {
    (third + 1) << 42 | second << 21 | last
}

fn label_bits(label: Label, shift: u32) -> impl Iterator<Item = usize> {
    let (kind, number) = match label {
        Label::Sender(sender) => (2, u64::from(sender)),
        Label::ContentType(code) => (3, u64::from(code)),
    };
    // The highest bits are all set, which they are in no run.
    (0..LABEL_BITS).map(move |nth| bit(!(kind << 48 | number << 8 | nth), shift))
}

/// Fibonacci hashing, twice, so that the high bits depend on all bits of the run.
fn bit(run: u64, shift: u32) -> usize {
    let mixed = run.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (mixed ^ mixed >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    usize::try_from(hash >> shift).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_all_bits_of_whatever_it_contains() {
        let text = "Grüße: 会議は明日 👩🏽\u{200D}💻 ok";
        let mut signature = Signature::new(4_096);
        signature.add_text(text);
        let set: Vec<usize> = bits_of(&signature.to_bytes()).collect();
        let letters: Vec<char> = text.chars().collect();
        for from in 0..letters.len() {
            for upto in from + 1..=letters.len() {
                let needle: String = letters[from..upto].iter().collect();
                let bits = needle_bits(&needle, 4_096);
                assert!(!bits.is_empty() && bits.len() <= NEEDLE_BITS_MAX);
                assert!(bits.iter().all(|bit| set.contains(bit)), "{needle}");
            }
        }
    }

    #[test]
    fn senders_and_content_types_have_bits_of_their_own() {
        let mut signature = Signature::new(4_096);
        signature.add_label(Label::Sender(7));
        let set: Vec<usize> = bits_of(&signature.to_bytes()).collect();
        assert!(bits_of_label(Label::Sender(7), 4_096).iter().all(|bit| set.contains(bit)));
        assert!(!bits_of_label(Label::Sender(8), 4_096).iter().all(|bit| set.contains(bit)));
        assert!(!bits_of_label(Label::ContentType(7), 4_096).iter().all(|bit| set.contains(bit)));
    }
}
