//! What a caller types becomes an FTS5 expression in which nothing of theirs is an operator.
//!
//! Every piece passes through [`words::split`], which leaves letters, digits and spaces, and is then
//! put between quotation marks. The index keeps its own words in Unicode's private use area, which
//! no message and no search can write.

use protocol::limits;

use super::words::{self, Side};
use crate::error::{Result, StoreError};

/// Letters that must stand before a `*`; shorter beginnings are most of the dictionary.
const BEGINNING_CHARS_MIN: usize = 3;

/// A search that has been understood.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Expression {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

/// One piece of what was typed: a word or a phrase, with its sign and its star.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'a> {
    /// The text without quotation marks.
    pub(super) text: &'a str,
    /// It must not occur.
    pub(super) is_unwanted: bool,
    /// The last word may go on.
    pub(super) is_beginning: bool,
}

impl Expression {
    /// Understands what was typed.
    pub(super) fn parse(text: &str) -> Result<Self> {
        if text.chars().count() > limits::SEARCH_QUERY_CHARS_MAX {
            let max = limits::SEARCH_QUERY_CHARS_MAX;
            return bad(format!("it is longer than {max} characters; leave words out"));
        }
        let mut expression = Self { wanted: Vec::new(), unwanted: Vec::new() };
        let mut count = 0;
        for piece in pieces(text) {
            let words = words::split(piece.text, Side::Search);
            if words.count == 0 {
                continue;
            }
            count += words.count;
            let is_beginning = piece.is_beginning || words.is_open;
            if is_beginning && !words.is_open && last_word_chars(&words.text) < BEGINNING_CHARS_MIN
            {
                let min = BEGINNING_CHARS_MIN;
                return bad(format!("put at least {min} letters before the *"));
            }
            let star = if is_beginning { " *" } else { "" };
            let list =
                if piece.is_unwanted { &mut expression.unwanted } else { &mut expression.wanted };
            list.push(format!("\"{}\"{star}", words.text));
        }
        if count > limits::SEARCH_WORDS_MAX {
            let max = limits::SEARCH_WORDS_MAX;
            return bad(format!("it has more than {max} words; leave some out"));
        }
        if expression.wanted.is_empty() {
            return bad(
                "it names no word to look for; give at least one word of letters or digits, \
                 such as: deploy \"exact phrase\" begin* -without"
                    .to_owned(),
            );
        }
        Ok(expression)
    }

    /// The FTS5 text: every group of scope words (any of a group), every wanted piece, no unwanted one.
    pub(super) fn within(&self, groups: &[Vec<String>]) -> String {
        let groups = groups.iter().map(|any| format!("({})", any.join(" OR ")));
        let all: Vec<String> = groups.chain(self.wanted.iter().cloned()).collect();
        let mut text = all.join(" AND ");
        for unwanted in &self.unwanted {
            text = format!("({text}) NOT {unwanted}");
        }
        text
    }
}

fn last_word_chars(words: &str) -> usize {
    words.chars().rev().take_while(|char| *char != ' ').count()
}

fn bad<T>(why: String) -> Result<T> {
    Err(StoreError::BadQuery(why))
}

/// The index's own word for a workspace, a thread or a sender, ready to stand in an expression.
pub(super) fn scope_word(kind: char, number: i64) -> String {
    format!("\"{}\"", bare_scope_word(kind, number))
}

/// The index's own word for a workspace, a thread or a sender, as it stands in the index.
pub(super) fn bare_scope_word(kind: char, number: i64) -> String {
    let mut digits = Vec::new();
    let mut rest = number.unsigned_abs();
    loop {
        let digit = u32::try_from(rest % 36).unwrap_or(0);
        digits.push(char::from_digit(digit, 36).unwrap_or('0'));
        rest /= 36;
        if rest == 0 {
            break;
        }
    }
    let digits: String = digits.iter().rev().collect();
    format!("\u{e000}{kind}{digits}")
}

/// The pieces of what was typed, in order.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = first_piece(rest);
        rest = after;
        Some(piece)
    })
}

fn first_piece(text: &str) -> (Piece<'_>, &str) {
    // Two dashes begin an option such as `--force`, which someone may well look for.
    let dashed = text
        .strip_prefix('-')
        .filter(|rest| rest.starts_with(|next: char| next == '"' || next.is_alphanumeric()));
    let is_unwanted = dashed.is_some();
    let text = dashed.unwrap_or(text);
    if let Some(quoted) = text.strip_prefix('"') {
        let (phrase, after) = quoted.split_once('"').unwrap_or((quoted, ""));
        let is_beginning = after.starts_with('*');
        return (Piece { text: phrase, is_unwanted, is_beginning }, after);
    }
    let end = text.find(|char: char| char.is_whitespace() || char == '"').unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    (Piece { text: word, is_unwanted, is_beginning: word.ends_with('*') }, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> String {
        Expression::parse(text).unwrap().within(&[])
    }

    #[test]
    fn words_phrases_beginnings_and_exclusions_are_understood() {
        assert_eq!(typed("deploy failed"), r#""deploy" AND "failed""#);
        assert_eq!(typed(r#""exact phrase" dep*"#), r#""exact phrase" AND "dep" *"#);
        assert_eq!(typed("a -b -\"c d\""), r#"(("a") NOT "b") NOT "c d""#);
        assert_eq!(typed("--force snake_case a-b"), r#""force" AND "snake case" AND "a b""#);
        assert_eq!(typed(r#""half open"#), r#""half open""#);
        assert_eq!(typed(r#""half ope"*"#), r#""half ope" *"#);
    }

    #[test]
    fn operators_are_words() {
        assert_eq!(typed("a OR b"), r#""a" AND "OR" AND "b""#);
        assert_eq!(typed("NEAR(a b, 2)"), r#""NEAR a" AND "b" AND "2""#);
        assert_eq!(typed("^text:{a}+\u{0}b"), r#""text a b""#);
        assert_eq!(typed("\u{e000}w1"), r#""w1""#);
    }

    #[test]
    fn a_search_for_nothing_is_refused() {
        for text in ["", "  ", "-only", "*", "\"\"", "()", "👍️", "- -", "\u{e000}", "ab*"] {
            let error = Expression::parse(text).unwrap_err();
            assert!(matches!(error, StoreError::BadQuery(_)), "{text:?}");
        }
    }

    #[test]
    fn long_searches_are_refused() {
        assert!(Expression::parse(&"a ".repeat(21)).is_err());
        assert!(Expression::parse(&"a".repeat(501)).is_err());
        assert!(Expression::parse(&"東".repeat(500)).is_ok());
    }

    #[test]
    fn scope_words_count_in_base_36() {
        assert_eq!(bare_scope_word('t', 0), "\u{e000}t0");
        assert_eq!(bare_scope_word('t', 35), "\u{e000}tz");
        assert_eq!(bare_scope_word('w', 36), "\u{e000}w10");
    }
}
