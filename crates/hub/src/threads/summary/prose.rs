//! What a chat message asks, decides and whom it addresses, read from its words alone.

use super::text;
use protocol::limits::summary as limits;

/// What was found in one message.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prose {
    /// The first sentence that asks.
    pub(super) question: Option<String>,
    /// The first sentence that decides, or says what is left to do.
    pub(super) decision: Option<String>,
    /// The first sentence that addresses somebody.
    pub(super) mention: Option<String>,
    /// Whom the message addresses with `@name`.
    pub(super) addressees: Vec<String>,
}

const DECISION_WORDS: [&str; 5] = ["decided", "decision", "agreed", "approved", "blocked"];
const TASK_WORDS: [&str; 2] = ["TODO", "FIXME"];

impl Prose {
    /// Reads the beginning of a body. Quoted lines and fenced code are somebody else's words.
    pub(super) fn read(body: &str) -> Self {
        let mut prose = Self::default();
        let mut is_code = false;
        for line in text::head(body, limits::BODY_SCAN_BYTES_MAX).lines().map(str::trim) {
            if line.starts_with("```") || line.starts_with("~~~") {
                is_code = !is_code;
            } else if !is_code && !line.starts_with('>') {
                sentences(line).for_each(|sentence| prose.take_in(sentence));
            }
        }
        prose
    }

    fn take_in(&mut self, sentence: &str) {
        let quote = || Some(text::one_line(sentence, limits::QUOTE_BYTES_MAX));
        if self.question.is_none() && asks(sentence) {
            self.question = quote();
        }
        if self.decision.is_none() && decides(sentence) {
            self.decision = quote();
        }
        for name in addressed(sentence) {
            if self.mention.is_none() {
                self.mention = quote();
            }
            let is_new = !self.addressees.iter().any(|known| known == name);
            if is_new && self.addressees.len() < limits::ADDRESSEES_MAX {
                self.addressees.push(name.to_owned());
            }
        }
    }
}

/// Splits after `.`, `!` or `?` where a blank follows, so that `v1.2` and `?page=2` stay whole.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut before = ' ';
    line.split_inclusive(move |symbol: char| {
        let is_end = symbol.is_whitespace() && matches!(before, '.' | '!' | '?');
        before = symbol;
        is_end
    })
    .map(str::trim)
    .filter(|sentence| !sentence.is_empty())
}

fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| "\"'`*_)]}»”’!".contains(c));
    end.ends_with(['?', '？', '؟']) && end.chars().any(char::is_alphanumeric)
}

fn decides(sentence: &str) -> bool {
    sentence.split(|c: char| !c.is_alphanumeric()).any(|word| {
        TASK_WORDS.contains(&word)
            || DECISION_WORDS.iter().any(|known| known.eq_ignore_ascii_case(word))
    }) || sentence.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("todo:"))
}

/// The names after `@`, but not the second half of an address.
fn addressed(sentence: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_alphanumeric() || "_-.:/+".contains(c);
    sentence.match_indices('@').filter_map(move |(at, _)| {
        let before = sentence.get(..at)?.chars().next_back();
        if before.is_some_and(|c| is_name(c) || c == '@') {
            return None;
        }
        let rest = sentence.get(at + 1..)?;
        let name = rest.split(|c| !is_name(c)).next()?.trim_end_matches(['.', ':', '/', '+', '-']);
        let is_whole = !name.is_empty() && name.len() <= limits::NAME_BYTES_MAX;
        is_whole.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_the_sentence_that_asks() {
        let prose = Prose::read("I looked at v1.2. Should the mapper fall back to null? Tell me.");
        assert_eq!(prose.question.as_deref(), Some("Should the mapper fall back to null?"));
        assert_eq!(Prose::read("See https://x.test/?page=2 now").question, None);
        assert_eq!(Prose::read("???").question, None);
    }

    #[test]
    fn quoted_lines_and_code_are_not_read() {
        let body = "> Is it done?\n```\nTODO @x why?\n```\nYes.";
        assert_eq!(Prose::read(body), Prose::default());
    }

    #[test]
    fn decisions_are_whole_words() {
        for body in ["We Agreed on B", "decided: keep it", "TODO rename", "todo: x", "I'm blocked."]
        {
            assert!(Prose::read(body).decision.is_some(), "{body}");
        }
        for body in ["unblocked now", "lo hice todo", "disagreed", "undecided"] {
            assert_eq!(Prose::read(body).decision, None, "{body}");
        }
    }

    #[test]
    fn addressees_are_names_and_not_mail_addresses() {
        let prose =
            Prose::read("@reviewer_agent, ask me@example.com or (@team/ops.). @reviewer_agent");
        assert_eq!(prose.addressees, ["reviewer_agent", "team/ops"]);
        assert_eq!(Prose::read("@@a @ b").addressees, ["a"; 0]);
    }
}
