//! Messages to chats, as postings: where one goes, how a long one is split, and what leaves.

use protocol::Timestamp;
use protocol::chat::{Facts, MessageFact, PersonFact};
use serde_json::{Map, Value, json};

use crate::connector::{Outbound, Sent};
use crate::error::{ConnectorError, Result};
use crate::outbound::{Part, Posting, Receipt};

/// Words that call everybody at one service or another, if they stand behind `@`.
const CALLS_EVERYBODY: &[&str] =
    &["everyone", "everybody", "all", "here", "channel", "group", "admin", "admins"];
/// Breaks such a word up; nobody sees it.
const UNSEEN: char = '\u{200b}';

/// A place in a chat, as the address of an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatPlace {
    /// The chat's id at the service.
    pub chat_id: String,
    /// The message that is answered.
    pub reply_to: Option<String>,
    /// The message whose thread it belongs in.
    pub topic: Option<String>,
}

impl ChatPlace {
    /// As the address of an action.
    pub fn to_address(&self) -> Map<String, Value> {
        let mut address = Map::new();
        address.insert("chat_id".to_owned(), json!(self.chat_id));
        for (name, value) in [("reply_to", &self.reply_to), ("topic", &self.topic)] {
            if let Some(value) = value {
                address.insert(name.to_owned(), json!(value));
            }
        }
        address
    }

    /// Reads an address; `None` where it is none of a chat's.
    pub fn read(address: &Map<String, Value>) -> Option<Self> {
        let text = |name: &str| address.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(Self { chat_id: text("chat_id")?, reply_to: text("reply_to"), topic: text("topic") })
    }
}

/// The parts of a message to a chat, of at most so many UTF-16 units each: plain text, in which nobody
/// is called who is everybody.
pub fn chat_parts(posting: &Posting, units_max: usize) -> Vec<Part> {
    let texts = split(&quiet(&posting.action.text), units_max);
    let part = |(index, text): (usize, String)| {
        let mark = format!("{} {index}", posting.mark);
        Part { index, body: json!({ "text": text }), mark }
    };
    texts.into_iter().enumerate().map(part).collect()
}

/// What one part of a message to a chat says, and where.
pub fn chat_outbound(posting: &Posting, part: &Part) -> Result<Outbound> {
    let place = ChatPlace::read(&posting.action.address).ok_or_else(|| {
        ConnectorError::Refused { reason: "this is no place in a chat".to_owned() }
    })?;
    let text = part.body.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    Ok(Outbound {
        chat_id: place.chat_id,
        text,
        // The rest of a long text follows its beginning, which answers.
        reply_to: place.reply_to.filter(|_| part.index == 0),
        topic: place.topic,
        mark: part.mark.clone(),
    })
}

/// What arrived in a chat.
pub fn chat_receipt(outbound: &Outbound, sent: Sent) -> Receipt {
    let mut address = Map::new();
    address.insert("chat_id".to_owned(), json!(outbound.chat_id));
    address.insert("message_id".to_owned(), json!(sent.message_id));
    // Some services count the messages of each chat by themselves.
    let remote_id = format!("message:{}:{}", outbound.chat_id, sent.message_id);
    Receipt { remote_id, url: None, address, facts: sent.facts }
}

/// A text in which no word calls everybody.
pub fn quiet(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('@') {
        out.push_str(before);
        out.push('@');
        let end = after.find(|sign: char| !is_word(sign)).unwrap_or(after.len());
        let word = after.get(..end).unwrap_or_default();
        let is_address = before.ends_with(is_word);
        if !is_address && CALLS_EVERYBODY.iter().any(|call| word.eq_ignore_ascii_case(call)) {
            out.push(UNSEEN);
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

fn is_word(sign: char) -> bool {
    sign.is_alphanumeric() || sign == '_'
}

/// Splits a text into parts of at most so many UTF-16 units: between paragraphs, lines or words where
/// one ends in the second half of what fits, anywhere otherwise.
pub fn split(text: &str, units_max: usize) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let end = fitting(rest, units_max);
        if end == rest.len() {
            if !rest.is_empty() {
                parts.push(rest.to_owned());
            }
            return parts;
        }
        let fits = rest.get(..end).unwrap_or_default();
        let cut = ["\n\n", "\n", " "].iter().find_map(|gap| {
            let at = fits.rfind(gap)?;
            (at >= end / 2).then_some(at)
        });
        let (part, behind) = rest.split_at_checked(cut.unwrap_or(end)).unwrap_or((rest, ""));
        parts.push(part.trim_end().to_owned());
        rest = if cut.is_some() { behind.trim_start() } else { behind };
    }
}

/// How many bytes at the beginning of a text have at most so many UTF-16 units; at least one sign.
fn fitting(text: &str, units_max: usize) -> usize {
    let mut units = 0;
    for (at, sign) in text.char_indices() {
        units += sign.len_utf16();
        if units > units_max && at > 0 {
            return at;
        }
    }
    text.len()
}

/// A message that was sent, for a service that does not repeat it: what the archive takes.
pub fn sent_facts(outbound: &Outbound, id: &str, at: Timestamp, own: PersonFact) -> Facts {
    let text = outbound.text.as_str();
    let mut message = MessageFact::new(outbound.chat_id.as_str(), id, at, text);
    message.sender_id = Some(own.person_id.clone());
    message.reply_to.clone_from(&outbound.reply_to);
    message.topic.clone_from(&outbound.topic);
    Facts { people: vec![own], messages: vec![message], ..Facts::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_is_one_part_as_it_is() {
        assert_eq!(split(" two\n\nwords ", 100), [" two\n\nwords "]);
        assert!(split("", 100).is_empty());
    }

    #[test]
    fn a_long_text_is_split_between_paragraphs_lines_or_words_and_loses_none() {
        assert_eq!(split("one two\n\nthree", 10), ["one two", "three"]);
        assert_eq!(split("one two\nthree", 10), ["one two", "three"]);
        assert_eq!(split("one two three", 10), ["one two", "three"]);
        assert_eq!(split("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        // A gap near the beginning would make many small parts.
        assert_eq!(split("a bcdefghijk", 6), ["a bcde", "fghijk"]);
    }

    #[test]
    fn what_takes_two_units_counts_twice_and_is_never_cut() {
        assert_eq!(split("\u{1f600}\u{1f600}\u{1f600}", 4), ["\u{1f600}\u{1f600}", "\u{1f600}"]);
        assert_eq!(split("\u{1f600}\u{1f600}", 1), ["\u{1f600}", "\u{1f600}"]);
    }

    #[test]
    fn nobody_calls_everybody() {
        assert_eq!(quiet("@everyone, @Here!"), "@\u{200b}everyone, @\u{200b}Here!");
        for same in ["@antti", "mail@all", "@allison", "a @ b", "@", "<!channel>"] {
            assert_eq!(quiet(same), same, "{same}");
        }
    }

    #[test]
    fn a_place_survives_its_address() {
        let place =
            ChatPlace { chat_id: "-100".to_owned(), reply_to: Some("7".to_owned()), topic: None };
        assert_eq!(ChatPlace::read(&place.to_address()), Some(place));
        assert_eq!(ChatPlace::read(&Map::new()), None);
    }
}
