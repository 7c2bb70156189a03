//! The parts of which a written time is made, the same for every script.

use super::stamp::Field;
use super::words;

/// A part of a written time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(Field),
    Word(String),
    Sign(char),
}

/// How many tokens the longest date and time has, with room to spare.
const TOKENS_MAX: usize = 32;
/// The most digits a number of a date has.
const DIGITS_MAX: u8 = 4;

/// Parts the text of a time; `None` where it holds what no time does.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let mut tokens: Vec<Token> = Vec::with_capacity(TOKENS_MAX);
    let mut joined = false;
    for character in text.chars() {
        if words::is_mark(character) || character == '\u{200c}' {
            continue;
        }
        if character.is_whitespace() {
            joined = false;
            continue;
        }
        let last = if joined { tokens.last_mut() } else { None };
        if let Some(value) = words::digit(character) {
            match last {
                Some(Token::Number(field)) => {
                    field.width =
                        field.width.checked_add(1).filter(|width| *width <= DIGITS_MAX)?;
                    field.value = field.value.checked_mul(10)?.checked_add(value)?;
                }
                _ => tokens.push(Token::Number(Field { value, width: 1, era: None })),
            }
        } else if character.is_alphabetic() || is_part_of_word(character) {
            match last {
                Some(Token::Word(word)) => word.push(character),
                _ => tokens.push(Token::Word(character.to_string())),
            }
        } else {
            tokens.push(Token::Sign(sign(character)?));
        }
        joined = true;
        if tokens.len() > TOKENS_MAX {
            return None;
        }
    }
    Some(tokens)
}

/// Vowel signs of Indic and Thai words, and the quotes within Hebrew abbreviations.
fn is_part_of_word(character: char) -> bool {
    matches!(character,
        '\u{5f3}' | '\u{5f4}' | '"' | '\'' | '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}'
        | '\u{64b}'..='\u{652}')
}

fn sign(character: char) -> Option<char> {
    match character {
        '/' | '／' => Some('/'),
        '.' | '．' => Some('.'),
        '-' | '‐' | '‑' => Some('-'),
        ':' | '：' => Some(':'),
        ',' | '،' | '，' | '、' => Some(','),
        _ => None,
    }
}
