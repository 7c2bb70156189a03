//! Characters that look alike in every script: marks that cannot be seen, spaces, digits.

use unicode_normalization::UnicodeNormalization as _;

/// Whether a character only steers the direction of writing, or marks the beginning of a file.
pub(super) fn is_mark(character: char) -> bool {
    matches!(character,
        '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        | '\u{feff}')
}

/// The mark that the app puts before what it writes itself.
pub(super) const OWN_MARK: char = '\u{200e}';

/// A text without marks at its beginning.
pub(super) fn trim_marks_start(text: &str) -> &str {
    text.trim_start_matches(is_mark)
}

/// A text without marks and spaces around it.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|character: char| is_mark(character) || character.is_whitespace())
}

/// A text without any marks.
pub(super) fn without_marks(text: &str) -> String {
    text.chars().filter(|character| !is_mark(*character)).collect()
}

/// The first characters of the scripts' rows of ten digits.
const ZEROES: [u32; 20] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810, 0xff10,
];

/// What a digit of any script is worth.
pub(super) fn digit(character: char) -> Option<u32> {
    let code = u32::from(character);
    if code < 0x80 {
        return character.to_digit(10);
    }
    ZEROES.iter().find_map(|zero| code.checked_sub(*zero).filter(|value| *value < 10))
}

/// A name or word for comparing: one spelling, no case, no marks, single spaces.
pub(super) fn fold(text: &str) -> String {
    if text.is_ascii() {
        return fold_characters(text.chars().map(|character| character.to_ascii_lowercase()));
    }
    fold_characters(text.nfkc().flat_map(char::to_lowercase))
}

fn fold_characters(characters: impl Iterator<Item = char>) -> String {
    let mut folded = String::new();
    let mut space = false;
    for character in characters {
        if character.is_whitespace() {
            space = !folded.is_empty();
        } else if !is_mark(character) {
            if std::mem::take(&mut space) {
                folded.push(' ');
            }
            folded.push(character);
        }
    }
    folded
}

/// One of the app's phrases for comparing: also without brackets around it and stops behind it.
pub(super) fn fold_phrase(text: &str) -> String {
    let ends = |character: char| {
        matches!(character, '<' | '>' | '.' | '。' | '।' | '۔') || character.is_whitespace()
    };
    fold(text).trim_matches(ends).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_many_scripts_have_their_worth() {
        for (character, worth) in [('7', 7), ('٧', 7), ('۷', 7), ('७', 7), ('๗', 7), ('７', 7)]
        {
            assert_eq!(digit(character), Some(worth), "{character}");
        }
        assert_eq!(digit('x'), None);
        assert_eq!(digit('٬'), None);
    }

    #[test]
    fn folding_forgets_case_marks_and_how_a_letter_is_put_together() {
        assert_eq!(fold(" \u{200e}JOSE\u{301}\u{a0} Ängström "), fold("josé ängström"));
    }
}
