//! Polls, which look alike in every language: a word, the question, and choices with their votes.

use serde_json::{Value, json};

use super::words;

/// A question with choices, and how many chose each.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Poll {
    pub(super) question: String,
    pub(super) choices: Vec<(String, Option<u32>)>,
}

impl Poll {
    pub(super) fn to_value(&self) -> Value {
        self.choices.iter().map(|(text, votes)| json!({ "text": text, "votes": votes })).collect()
    }
}

/// The most choices that the app allows are 12; this leaves room.
const CHOICES_MAX: usize = 32;
/// `POLL`, `OPCIÓN`: the words before the question and the choices.
const WORD_CHARACTERS_MAX: usize = 24;

/// Reads a poll: `POLL:`, the question, then lines like `OPTION: Pizza (3 votes)`.
pub(super) fn read(text: &str) -> Option<Poll> {
    let mut lines = text.lines();
    let heading = lines.next()?;
    if !heading_word(words::trim(heading).strip_suffix([':', '：'])?) {
        return None;
    }
    let mut question: Vec<String> = Vec::new();
    let mut choices = Vec::new();
    let mut word = None;
    for line in lines {
        let line = words::without_marks(line);
        match choice(&line) {
            Some((label, choice)) if word.as_ref().is_none_or(|word| *word == label) => {
                word = Some(label);
                if choices.len() < CHOICES_MAX {
                    choices.push(choice);
                }
            }
            _ if choices.is_empty() => question.push(words::trim(&line).to_owned()),
            // Something stands behind the choices: these are words that only look like a poll.
            _ if words::trim(&line).is_empty() => {}
            _ => return None,
        }
    }
    let question = question.join("\n");
    (!choices.is_empty() && !question.trim().is_empty()).then_some(Poll { question, choices })
}

fn heading_word(word: &str) -> bool {
    let mut count = 0;
    for character in word.chars() {
        count += 1;
        let fits = character.is_alphabetic() && !character.is_lowercase()
            || character.is_whitespace()
            || !character.is_ascii() && !character.is_lowercase();
        if !fits || count > WORD_CHARACTERS_MAX {
            return false;
        }
    }
    count > 0
}

fn choice(line: &str) -> Option<(String, (String, Option<u32>))> {
    let (word, rest) = line.split_once([':', '：'])?;
    let word = words::trim(word);
    if !heading_word(word) {
        return None;
    }
    let (text, votes) = words::trim(rest).strip_suffix([')', '）'])?.rsplit_once(['(', '（'])?;
    let mut number: Option<u32> = None;
    for value in votes.chars().filter_map(words::digit) {
        number = number.unwrap_or(0).checked_mul(10)?.checked_add(value);
    }
    Some((word.to_owned(), (words::trim(text).to_owned(), number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_are_read_in_every_language() {
        for text in [
            "POLL:\nWhere to?\nOPTION: Here (2 votes)\nOPTION: There: now (1 vote)",
            "\u{200e}UMFRAGE:\nWhere to?\n\u{200e}OPTION: Here (2 Stimmen)\n\u{200e}OPTION: There: now (1 Stimme)",
            "ENCUESTA:\nWhere to?\nOPCIÓN: Here (2 votos)\nOPCIÓN: There: now (1 voto)",
            "סקר:\nWhere to?\nאפשרות: Here (2 הצבעות)\nאפשרות: There: now (1)",
            "投票：\nWhere to?\n選項：Here（2 票）\n選項：There: now（1 票）",
        ] {
            let poll = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(poll.question, "Where to?");
            let choices = [("Here".to_owned(), Some(2)), ("There: now".to_owned(), Some(1))];
            assert_eq!(poll.choices, choices);
        }
    }

    #[test]
    fn lists_are_no_polls() {
        for text in
            ["TODO:\nmilk\nbread", "Note:\na\nB: c (d)", "POLL:", "POLL:\nA: b (1)\nbye\nA: c (2)"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
