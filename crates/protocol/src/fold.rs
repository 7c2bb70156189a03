//! The form in which texts and names are compared when case does not matter, in any script.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// A text without case, in composed form: a text contains another when their folded forms do.
///
/// `ß` and `ẞ` become `ss`, `ς` becomes `σ`, `ﬁ` becomes `fi`, and a letter followed by a combining
/// mark becomes the letter that has the mark. Accents stay.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let composed = compose(text);
    let mut folded = String::with_capacity(composed.len());
    for letter in composed.chars() {
        if letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
        } else if is_caseless(letter) {
            folded.push(letter);
        } else {
            fold_letter(letter, &mut folded);
        }
    }
    // A capital and its marks may have no composed form where the small letter has one.
    let recomposed = match compose(&folded) {
        Cow::Borrowed(_) => None,
        Cow::Owned(recomposed) => Some(recomposed),
    };
    Cow::Owned(recomposed.unwrap_or(folded))
}

fn compose(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        IsNormalized::No | IsNormalized::Maybe => Cow::Owned(text.nfc().collect()),
    }
}

/// Down, up and down again: `ẞ` has no capital other than itself, and `ß` becomes `ss` only as one.
fn fold_letter(letter: char, folded: &mut String) {
    let small = letter.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    folded.extend(small);
}

/// Scripts without case, so that most texts in them need no tables.
fn is_caseless(letter: char) -> bool {
    matches!(letter,
        '\u{590}'..='\u{109F}'
        | '\u{2E80}'..='\u{A63F}'
        | '\u{AC00}'..='\u{D7FF}'
        | '\u{1F300}'..='\u{1FAFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_gone_in_every_script() {
        for (text, folded) in [
            ("Meeting", "meeting"),
            ("already small", "already small"),
            ("STRASSE straße STRAẞE", "strasse strasse strasse"),
            ("ΟΔΥΣΣΕΎΣ ὀδυσσεύς", "οδυσσεύσ ὀδυσσεύσ"),
            ("ÄITI ПРИВЕТ", "äiti привет"),
            ("ﬁnd İstanbul", "find i\u{307}stanbul"),
            ("会議 ประชุม اجتماع", "会議 ประชุม اجتماع"),
            ("👩🏽\u{200D}💻 ❤\u{FE0F}", "👩🏽\u{200D}💻 ❤\u{FE0F}"),
        ] {
            assert_eq!(fold(text), folded);
        }
    }

    #[test]
    fn composed_and_decomposed_letters_are_the_same() {
        assert_eq!(fold("e\u{301}COLE"), fold("École"));
        assert_eq!(fold("\u{1112}\u{1161}\u{11AB}"), "한");
        assert_eq!(fold("\u{3AA}\u{301}"), fold("\u{390}"));
    }

    #[test]
    fn folding_twice_changes_nothing_for_any_letter() {
        // Beyond lie only emoji, rare ideographs and what is not assigned.
        for letter in '\0'..='\u{1FFFF}' {
            let text = letter.to_string();
            let folded = fold(&text).into_owned();
            assert_eq!(fold(&folded), folded, "{letter:?}");
        }
    }

    #[test]
    fn capitals_and_small_letters_fold_to_the_same() {
        for letter in '\0'..='\u{1FFFF}' {
            let text = letter.to_string();
            assert_eq!(fold(&text.to_uppercase()), fold(&text), "{letter:?}");
        }
    }

    #[test]
    fn scripts_without_case_are_what_the_tables_say() {
        for letter in ('\0'..=char::MAX).filter(|letter| is_caseless(*letter)) {
            let mut folded = String::new();
            fold_letter(letter, &mut folded);
            assert_eq!(folded, letter.to_string());
        }
    }
}
