//! The words around a number, which tell what it is.
//!
//! A pattern is a word in lower case without accents. A star at an end lets more letters stand there.

use std::collections::HashMap;

use unicode_normalization::char::decompose_canonical;

use super::folded::Folded;

/// Characters before a finding that are looked at.
const BEFORE_CHARS: usize = 64;
/// Characters after it.
const AFTER_CHARS: usize = 24;
/// Signs that may stand between a word and what it is about, and still be beside each other.
const BESIDE_CHARS: usize = 6;

/// So many digits between a word and a stretch are a number that the word is about.
const OTHER_DIGITS: usize = 6;
/// Unless only so many letters follow them: `or`, `und`.
const JOINING_LETTERS: usize = 4;
/// Characters after a stretch in which a word still belongs to it.
const SOON_CHARS: usize = 14;

/// Patterns, by the letter they begin with.
pub(super) struct Words {
    by_first: HashMap<char, Vec<Pattern>>,
}

struct Pattern {
    letters: Vec<char>,
    starts_anywhere: bool,
    ends_anywhere: bool,
}

impl Words {
    /// Reads patterns.
    pub(super) fn new(patterns: &[&str]) -> Self {
        let mut by_first: HashMap<char, Vec<Pattern>> = HashMap::new();
        for pattern in patterns {
            let (word, starts_anywhere) =
                pattern.strip_prefix('*').map_or((*pattern, false), |word| (word, true));
            let (word, ends_anywhere) =
                word.strip_suffix('*').map_or((word, false), |word| (word, true));
            let letters: Vec<char> = word.chars().collect();
            if let Some(first) = letters.first() {
                let pattern = Pattern { letters: letters.clone(), starts_anywhere, ends_anywhere };
                by_first.entry(*first).or_default().push(pattern);
            }
        }
        Self { by_first }
    }
}

/// Names a list of patterns that is read once.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, [$($word:expr),* $(,)?]) => {
        $(#[$doc])*
        pub(super) static $name: std::sync::LazyLock<crate::redact::context::Words> =
            std::sync::LazyLock::new(|| crate::redact::context::Words::new(&[$($word),*]));
    };
}
pub(super) use words;

/// The words around something.
pub(super) struct Around {
    /// Before it, in lower case without accents.
    before: Vec<char>,
    /// Whether a word may begin at each of them.
    begins: Vec<bool>,
    after: Vec<char>,
}

impl Around {
    /// What stands around a stretch.
    pub(super) fn of(text: &Folded, start: usize, end: usize) -> Self {
        let from = start.saturating_sub(BEFORE_CHARS);
        let mut before = Vec::with_capacity(BEFORE_CHARS);
        let mut begins = Vec::with_capacity(BEFORE_CHARS);
        for place in from..start {
            let (c, last) = (text.at(place), text.back(place, 1));
            before.push(plain(c));
            begins.push(
                !last.is_alphabetic()
                    || is_unspaced(c)
                    || (c.is_uppercase() && last.is_lowercase()),
            );
        }
        let after = text.slice(end, end + AFTER_CHARS).iter().map(|c| plain(*c)).collect();
        Self { before, begins, after }
    }

    /// How far before the stretch the nearest of these words ends; `None` where none stands.
    pub(super) fn nearest(&self, words: &Words) -> Option<usize> {
        let length = self.before.len();
        (0..length).filter_map(|place| self.ends(words, place)).max().map(|end| length - end)
    }

    /// How near a word stands that speaks for the stretch and not for a number in between.
    pub(super) fn speaks(&self, words: &Words) -> Option<usize> {
        let distance = self.nearest(words)?;
        let between = self.before.get(self.before.len().saturating_sub(distance)..)?;
        let digits = between.iter().filter(|c| c.is_ascii_digit()).count();
        let last = between.iter().rposition(char::is_ascii_digit).map_or(0, |place| place + 1);
        let letters = between.iter().skip(last).filter(|c| c.is_alphabetic()).count();
        (digits < OTHER_DIGITS || letters <= JOINING_LETTERS).then_some(distance)
    }

    /// Whether one of these words follows in the same breath.
    pub(super) fn is_soon_followed_by(&self, words: &Words) -> bool {
        let end = self
            .after
            .iter()
            .take(SOON_CHARS)
            .position(|c| matches!(c, '.' | '!' | '?' | '。' | '\n' | ';'))
            .unwrap_or(SOON_CHARS.min(self.after.len()));
        let soon = Self {
            before: Vec::new(),
            begins: Vec::new(),
            after: self.after.iter().take(end).copied().collect(),
        };
        soon.mentions(words)
    }

    /// Whether one of these words stands right before the stretch, with nothing but signs between.
    pub(super) fn is_beside(&self, words: &Words) -> bool {
        self.nearest(words).is_some_and(|distance| {
            let gap = self.before.len().saturating_sub(distance);
            distance <= BESIDE_CHARS && self.before.iter().skip(gap).all(|c| !c.is_alphanumeric())
        })
    }

    /// Whether what follows begins with one of these, after at most a space.
    pub(super) fn is_followed_by(&self, starts: &[&str]) -> bool {
        let after: String = self.after.iter().collect();
        let after = after.trim_start_matches(' ');
        starts.iter().any(|start| {
            after.strip_prefix(start).is_some_and(|rest| {
                let is_word = start.ends_with(|c: char| c.is_alphabetic() && !is_unspaced(c));
                !is_word || !rest.starts_with(char::is_alphabetic)
            })
        })
    }

    /// Whether one of these words stands anywhere around.
    pub(super) fn mentions(&self, words: &Words) -> bool {
        self.nearest(words).is_some() || {
            (0..self.after.len()).any(|place| {
                let rest = self.after.get(place..).unwrap_or_default();
                let begins = place == 0
                    || rest.first().is_some_and(|c| is_unspaced(*c))
                    || !self.after.get(place - 1).is_some_and(|c| c.is_alphabetic());
                rest.first().and_then(|first| words.by_first.get(first)).is_some_and(|patterns| {
                    patterns.iter().any(|pattern| {
                        rest.starts_with(&pattern.letters)
                            && (begins || pattern.starts_anywhere)
                            && (pattern.ends_anywhere
                                || !rest
                                    .get(pattern.letters.len())
                                    .is_some_and(|c| c.is_alphabetic() && !is_unspaced(*c)))
                    })
                })
            })
        }
    }

    /// Where the longest word ends that begins at a place before the stretch.
    fn ends(&self, words: &Words, place: usize) -> Option<usize> {
        let patterns = words.by_first.get(self.before.get(place)?)?;
        let begins = self.begins.get(place).copied().unwrap_or(false);
        let rest = self.before.get(place..)?;
        let fitting = patterns.iter().filter(|pattern| {
            let end = place + pattern.letters.len();
            rest.starts_with(&pattern.letters)
                && (begins || pattern.starts_anywhere)
                && (pattern.ends_anywhere
                    || self.begins.get(end).copied().unwrap_or(true)
                    || !self.before.get(end).is_some_and(|c| c.is_alphabetic()))
        });
        fitting.map(|pattern| place + pattern.letters.len()).max()
    }
}

/// Whether words of its alphabet stand without spaces.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0e00..=0x0e7f | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af)
}

/// Lower case, without an accent.
fn plain(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    if is_unspaced(c) {
        return c;
    }
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    match base.unwrap_or(c).to_lowercase().next().unwrap_or(c) {
        'ł' => 'l',
        'ß' => 's',
        'ø' => 'o',
        letter => letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(before: &str) -> Around {
        let text = Folded::of(before);
        Around::of(&text, text.len(), text.len())
    }

    #[test]
    fn words_are_whole_unless_a_star_says_otherwise() {
        assert!(around("tel: ").nearest(&Words::new(&["tel"])).is_some());
        assert!(around("tell me ").nearest(&Words::new(&["tel"])).is_none());
        assert!(around("homePhone=").nearest(&Words::new(&["phone"])).is_some());
        assert!(around("Handynummer ").nearest(&Words::new(&["*nummer"])).is_some());
        assert!(around("Teléfono ").nearest(&Words::new(&["telefono"])).is_some());
        assert!(around("電話番号は").nearest(&Words::new(&["電話"])).is_some());
    }

    #[test]
    fn beside_means_that_only_signs_stand_between() {
        assert!(around("order #").is_beside(&Words::new(&["order"])));
        assert!(!around("order it at ").is_beside(&Words::new(&["order"])));
    }
}
