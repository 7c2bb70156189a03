//! How text becomes words, the same way for messages and for searches.
//!
//! SQLite's `unicode61` folds case and diacritics, but takes a run of Chinese or Thai for one word.
//! So runs of scripts that put no spaces between words are cut into overlapping pairs first, and the
//! last sign of a run follows alone: every sign begins a word, and every part of a run is a phrase.

/// A longer word is cut, so that encoded files do not become words of their own size.
const WORD_CHARS_MAX: usize = 128;

/// Which side of a search a text stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// A message: every sign of a run begins a word.
    Message,
    /// A search: the run may go on in the message, so its last sign does not stand alone.
    Search,
}

/// Words with single spaces between them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Words {
    /// The words; only letters, digits, signs and spaces.
    pub(crate) text: String,
    /// How many there are; a run of an unspaced script counts as one.
    pub(crate) count: usize,
    /// The last word is a single sign, so it means every pair that begins with it.
    pub(crate) is_open: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Letter,
    Unspaced,
    Unseen,
    Gap,
}

/// Cuts a text into words.
pub(crate) fn split(text: &str, side: Side) -> Words {
    let text = match side {
        Side::Message => text,
        Side::Search => text.trim_end_matches(|char| class(char) == Class::Gap),
    };
    let mut splitter = Splitter::default();
    splitter.words.text.reserve(text.len() + 8);
    for char in text.chars() {
        match class(char) {
            Class::Letter => splitter.letter(char),
            Class::Unspaced => splitter.sign(char),
            Class::Gap => splitter.gap(),
            Class::Unseen => {}
        }
    }
    splitter.finish(side)
}

/// Whether a character belongs to a script that puts no spaces between words.
pub(super) fn is_unspaced(char: char) -> bool {
    class(char) == Class::Unspaced
}

#[derive(Default)]
struct Splitter {
    words: Words,
    /// The sign before this one, in a run of signs.
    sign: Option<char>,
    run_chars: usize,
    word_chars: usize,
    in_word: bool,
}

impl Splitter {
    fn letter(&mut self, char: char) {
        self.end_run();
        if !self.in_word {
            self.begin_word();
            self.in_word = true;
        }
        if self.word_chars < WORD_CHARS_MAX {
            self.words.text.push(char);
            self.word_chars += 1;
        }
    }

    fn sign(&mut self, char: char) {
        self.in_word = false;
        match self.sign {
            Some(before) => {
                if self.run_chars > 1 {
                    self.words.text.push(' ');
                }
                self.words.text.push(before);
                self.words.text.push(char);
            }
            None => self.begin_word(),
        }
        self.sign = Some(char);
        self.run_chars += 1;
    }

    fn gap(&mut self) {
        self.in_word = false;
        self.end_run();
    }

    fn begin_word(&mut self) {
        if !self.words.text.is_empty() {
            self.words.text.push(' ');
        }
        self.words.count += 1;
        self.word_chars = 0;
    }

    /// The last sign of a run stands alone as well.
    fn end_run(&mut self) {
        if let Some(last) = self.sign.take() {
            if self.run_chars > 1 {
                self.words.text.push(' ');
            }
            self.words.text.push(last);
            self.run_chars = 0;
        }
    }

    fn finish(mut self, side: Side) -> Words {
        self.words.is_open = self.run_chars == 1 && side == Side::Search;
        if self.run_chars > 1 && side == Side::Search {
            return self.words;
        }
        self.end_run();
        self.words
    }
}

fn class(char: char) -> Class {
    if char.is_ascii() {
        return if char.is_ascii_alphanumeric() { Class::Letter } else { Class::Gap };
    }
    match char {
        // Marks above letters, vowel and tone marks of Thai and Lao, joiners and selectors of emoji:
        // a word is the same with them and without.
        '\u{300}'..='\u{36f}'
        | '\u{e31}'
        | '\u{e34}'..='\u{e3a}'
        | '\u{e47}'..='\u{e4e}'
        | '\u{eb1}'
        | '\u{eb4}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}'
        | '\u{ad}'
        | '\u{200c}'
        | '\u{200d}'
        | '\u{2060}'
        | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}' => Class::Unseen,
        // Private use is where the index keeps its own words.
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'.. => Class::Gap,
        _ if !char.is_alphanumeric() => Class::Gap,
        '\u{e00}'..='\u{eff}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{318f}'
        | '\u{31a0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'
        | '\u{f900}'..='\u{faff}'
        | '\u{ff66}'..='\u{ff9f}'
        | '\u{20000}'..='\u{3ffff}' => Class::Unspaced,
        _ => Class::Letter,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        split(text, Side::Message).text
    }

    #[test]
    fn punctuation_is_a_gap_and_private_letters_never_pass() {
        assert_eq!(message("a-b_c \"d\" \u{0}e\u{e000}w1"), "a b c d e w1");
        assert_eq!(message("  ...  "), "");
    }

    #[test]
    fn marks_are_dropped_inside_a_word() {
        assert_eq!(message("re\u{301}sume\u{301}"), "resume");
    }

    #[test]
    fn runs_without_spaces_become_pairs_and_a_last_sign() {
        assert_eq!(message("東京都"), "東京 京都 都");
        assert_eq!(message("GPT東京 ok"), "GPT 東京 京 ok");
        assert_eq!(message("東"), "東");
    }

    #[test]
    fn the_end_of_a_search_stays_open() {
        assert_eq!(split("東京都", Side::Search).text, "東京 京都");
        let one = split("東", Side::Search);
        assert_eq!((one.text.as_str(), one.is_open, one.count), ("東", true, 1));
        assert!(split("東*。", Side::Search).is_open);
        assert_eq!(split("東京GPT", Side::Search).text, "東京 京 GPT");
    }

    #[test]
    fn endless_words_are_cut() {
        assert_eq!(message(&"x".repeat(100_000)).len(), WORD_CHARS_MAX);
    }
}
