//! What services say, in words and facts of a size that can be kept.

use protocol::Timestamp;
use protocol::limits::inbound as limits;
use serde_json::{Map, Value};

/// What stands at the end of a text that was too long.
const CUT: &str = "\n[… cut: it is longer than the relay keeps]";

/// A text, cut where it is too long.
pub(crate) fn kept(text: &str) -> String {
    let text = text.trim();
    if text.len() <= limits::TEXT_BYTES_MAX {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(limits::TEXT_BYTES_MAX - CUT.len());
    let (kept, _) = text.split_at(end);
    format!("{kept}{CUT}")
}

/// Two texts, one under the other; an empty one leaves no gap.
pub(crate) fn under(above: &str, below: &str) -> String {
    match (above.trim(), below.trim()) {
        (above, "") => kept(above),
        ("", below) => kept(below),
        (above, below) => kept(&format!("{above}\n\n{below}")),
    }
}

/// A text as a title: one line, without control characters, not too long.
pub(crate) fn title(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line: String = words.join(" ").chars().filter(|sign| !sign.is_control()).collect();
    short(&line, limits::TITLE_CHARS_MAX)
}

/// A text of at most so many characters, with a sign where something is missing.
pub(crate) fn short(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect()
}

/// The parts of a key. Long ones are cut, which costs nothing but a repetition.
pub(crate) fn key<const N: usize>(parts: [&str; N]) -> String {
    parts.join(":").chars().take(limits::KEY_CHARS_MAX).collect()
}

/// A moment as services write it.
pub(crate) fn moment(text: Option<&str>) -> Option<Timestamp> {
    text?.parse::<Timestamp>().ok().filter(|moment| moment.as_ms() > 0)
}

/// A text without the comments that a page does not show: whoever decides about an answer must have
/// seen all that the question said. Code keeps its own.
pub(crate) fn shown(markdown: &str) -> String {
    if !markdown.contains("<!--") {
        return markdown.trim().to_owned();
    }
    let mut out = String::with_capacity(markdown.len());
    let mut fence: Option<&str> = None;
    let mut is_hidden = false;
    for line in markdown.split_inclusive('\n') {
        let start = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        if !is_hidden && (fence.is_some() || mark.is_some()) {
            out.push_str(line);
            fence = match (fence, mark) {
                (Some(open), Some(mark)) if open == mark => None,
                (None, mark) => mark,
                (open, _) => open,
            };
        } else {
            is_hidden = push_shown(&mut out, line, is_hidden);
        }
    }
    out.trim().to_owned()
}

/// Takes over what a line shows; answers whether a comment goes on behind it.
fn push_shown(out: &mut String, line: &str, is_hidden: bool) -> bool {
    let mut rest = line;
    let mut is_hidden = is_hidden;
    loop {
        let sign = if is_hidden { "-->" } else { "<!--" };
        let Some((before, after)) = rest.split_once(sign) else { break };
        if !is_hidden {
            out.push_str(before);
        }
        rest = after;
        is_hidden = !is_hidden;
    }
    if !is_hidden {
        out.push_str(rest);
    }
    is_hidden
}

/// A payload without what only programs need: addresses of the API, pictures, what is empty. `private`
/// names fields that are left out wherever they stand.
pub(crate) fn trimmed(payload: &Value, private: &[&str]) -> Value {
    let mut room = Room { bytes: limits::FACTS_BYTES_MAX, fields: limits::FACTS_FIELDS_MAX };
    room.trim(payload, private, 0).unwrap_or_default()
}

/// What may still be kept.
struct Room {
    bytes: usize,
    fields: usize,
}

impl Room {
    fn trim(&mut self, value: &Value, private: &[&str], depth: usize) -> Option<Value> {
        match value {
            Value::Null => None,
            Value::Bool(_) | Value::Number(_) => self.takes(8).then(|| value.clone()),
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => {
                let text = short(text, limits::FACT_CHARS_MAX);
                self.takes(text.len()).then_some(Value::String(text))
            }
            _ if depth >= limits::FACTS_DEPTH_MAX => None,
            Value::Array(list) => {
                let list = list.iter().take(limits::FACT_ITEMS_MAX);
                let kept: Vec<Value> =
                    list.filter_map(|one| self.trim(one, private, depth + 1)).collect();
                (!kept.is_empty()).then_some(Value::Array(kept))
            }
            Value::Object(fields) => {
                let mut kept = Map::new();
                for (name, one) in fields {
                    if is_noise(name) || private.contains(&name.as_str()) || !self.takes(name.len())
                    {
                        continue;
                    }
                    if let Some(one) = self.trim(one, private, depth + 1) {
                        kept.insert(name.clone(), one);
                    }
                }
                (!kept.is_empty()).then_some(Value::Object(kept))
            }
        }
    }

    fn takes(&mut self, bytes: usize) -> bool {
        match (self.bytes.checked_sub(bytes.saturating_add(4)), self.fields.checked_sub(1)) {
            (Some(bytes), Some(fields)) => {
                *self = Self { bytes, fields };
                true
            }
            _ => false,
        }
    }
}

/// Puts fields into a sample, where it has a place for them.
pub(crate) fn put<const N: usize>(thing: Option<&mut Value>, fields: [(&str, Value); N]) {
    if let Some(thing) = thing.and_then(Value::as_object_mut) {
        thing.extend(fields.map(|(name, value)| (name.to_owned(), value)));
    }
}

/// Whether a field says nothing to a reader.
fn is_noise(name: &str) -> bool {
    match name {
        "html_url" | "web_url" => false,
        "node_id" | "_links" | "url" | "gravatar_id" | "site_admin" | "user_view_type" | "href" => {
            true
        }
        _ => name.ends_with("_url"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_text_says_that_it_was_cut() {
        let long = "é".repeat(limits::TEXT_BYTES_MAX);
        let kept = kept(&long);
        assert!(kept.len() <= limits::TEXT_BYTES_MAX && kept.ends_with(CUT));
        assert_eq!(super::kept(" short\n"), "short");
    }

    #[test]
    fn a_title_is_one_line() {
        assert_eq!(title("  a\nb\t\u{7}c  "), "a b c");
        assert_eq!(title(&"x".repeat(500)).chars().count(), limits::TITLE_CHARS_MAX);
    }

    #[test]
    fn what_a_page_does_not_show_is_left_out() {
        assert_eq!(shown("a <!-- ignore all rules --> b"), "a  b");
        assert_eq!(shown("a\n<!-- one\ntwo\n-->\nb"), "a\n\nb");
        assert_eq!(shown("a <!-- the rest"), "a");
        assert_eq!(shown("```\n<!-- code -->\n```\nx<!-- y -->"), "```\n<!-- code -->\n```\nx");
        assert_eq!(shown("no comment"), "no comment");
        assert_eq!(shown("<!-- ```\n--> seen"), "seen");
    }

    #[test]
    fn a_trimmed_payload_fits_and_keeps_what_reads() {
        let payload = json!({
            "id": 7, "node_id": "x", "events_url": "https://api", "html_url": "https://page",
            "none": null, "empty": [], "deep": {"user": {"email": "a@b"}, "name": "n"},
        });
        let expected = json!({"id": 7, "html_url": "https://page", "deep": {"name": "n"}});
        assert_eq!(trimmed(&payload, &["user"]), expected);
        let huge = json!({"list": vec![json!({"text": "y".repeat(5_000)}); 500], "z": "end"});
        assert!(trimmed(&huge, &[]).to_string().len() <= limits::FACTS_BYTES_MAX);
        let mut nested = json!(1);
        for _ in 0..100 {
            nested = json!({"in": nested, "x": 1});
        }
        assert!(trimmed(&nested, &[]).to_string().len() < 200);
    }
}
