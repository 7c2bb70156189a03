//! Names and handles that the hub knows: whole words, whatever their case.

use std::collections::HashMap;

use super::class::Class;
use super::find::Found;
use super::folded::Folded;

/// Shorter names are words of some language.
const CHARS_MIN: usize = 3;
/// The same for scripts in which one sign is a word.
const WIDE_CHARS_MIN: usize = 2;
/// Words of a name that are looked at.
const WORDS_MAX: usize = 6;
/// Signs between the words of a name.
const GAP_CHARS_MAX: usize = 2;
/// Handles that name nobody.
const NOBODY: [&str; 26] = [
    "admin",
    "administrator",
    "agent",
    "all",
    "bot",
    "channel",
    "everyone",
    "github",
    "here",
    "hub",
    "info",
    "me",
    "mail",
    "name",
    "none",
    "null",
    "root",
    "sentry",
    "service",
    "slack",
    "support",
    "system",
    "team",
    "test",
    "user",
    "you",
];

/// Names and handles that are taken out.
#[derive(Clone, Debug, Default)]
pub struct KnownNames {
    /// The words of each name in lower case, by its first word.
    by_first: HashMap<String, Vec<Vec<String>>>,
}

impl KnownNames {
    /// Takes a list of names; those that are too short or name nobody are left out.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut by_first: HashMap<String, Vec<Vec<String>>> = HashMap::new();
        for name in names {
            let folded = Folded::of(name);
            let words: Vec<String> = words(&folded).into_iter().map(|word| word.text).collect();
            let chars: usize = words.iter().map(|word| word.chars().count()).sum();
            let is_wide = words.iter().all(|word| word.chars().all(is_wide));
            let is_long = chars >= if is_wide { WIDE_CHARS_MIN } else { CHARS_MIN };
            let is_nobody = words.len() == 1
                && words.first().is_some_and(|word| {
                    NOBODY.contains(&word.as_str()) || word.chars().all(|c| c.is_ascii_digit())
                });
            if !is_long || is_nobody || words.len() > WORDS_MAX {
                continue;
            }
            if let Some(first) = words.first().cloned() {
                let known = by_first.entry(first).or_default();
                if !known.contains(&words) {
                    known.push(words);
                }
            }
        }
        // The longest first, so that a whole name is taken before a part of it.
        for known in by_first.values_mut() {
            known.sort_by_key(|words| std::cmp::Reverse(words.len()));
        }
        Self { by_first }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_first.is_empty()
    }
}

struct Word {
    start: usize,
    end: usize,
    text: String,
}

/// Finds names.
pub(super) fn find(text: &Folded, known: &KnownNames, found: &mut Found) {
    if known.is_empty() {
        return;
    }
    let words = words(text);
    for (place, word) in words.iter().enumerate() {
        let Some(names) = known.by_first.get(&word.text) else { continue };
        let end = names.iter().find_map(|name| ends(&words, place, name));
        if let Some(end) = end {
            let start = word.start - usize::from(text.back(word.start, 1) == '@');
            found.add(Class::Name, "known", start, end);
        }
    }
}

/// Where a name ends that begins at a word.
fn ends(words: &[Word], place: usize, name: &[String]) -> Option<usize> {
    let there = words.get(place..place + name.len())?;
    let is_same = there.iter().zip(name).all(|(word, part)| word.text == *part);
    let is_close =
        there.windows(2).all(|pair| matches!(pair, [a, b] if b.start - a.end <= GAP_CHARS_MAX));
    (is_same && is_close).then(|| there.last().map(|word| word.end)).flatten()
}

/// The words of a text; each sign of a script without spaces is one.
fn words(text: &Folded) -> Vec<Word> {
    let mut found = Vec::new();
    let mut place = 0;
    while place < text.len() {
        let c = text.at(place);
        if !c.is_alphanumeric() && c != '_' {
            place += 1;
            continue;
        }
        let end = if is_wide(c) {
            place + 1
        } else {
            text.skip(place, usize::MAX, |c| (c.is_alphanumeric() || c == '_') && !is_wide(c))
        };
        let word = text.slice(place, end).iter().flat_map(|c| c.to_lowercase()).collect();
        found.push(Word { start: place, end, text: word });
        place = end;
    }
    found
}

fn is_wide(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af)
}
