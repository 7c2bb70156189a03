//! What a person sees of a text is what the text says: signs that hide something are left out of it.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// A text without the signs that nobody sees and that change what is seen, or that a terminal obeys:
/// control characters, those that turn the direction of writing, and letters of the block for tags.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().any(hides) {
        Cow::Owned(text.chars().filter(|c| !hides(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// The same for every text in an object, names of fields included.
pub fn visible_object(object: &Map<String, Value>) -> Map<String, Value> {
    let field = |(name, value): (&String, &Value)| (visible(name).into_owned(), shown(value));
    object.iter().map(field).collect()
}

fn shown(value: &Value) -> Value {
    match value {
        Value::String(text) => visible(text).into_owned().into(),
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(fields) => Value::Object(visible_object(fields)),
        other => other.clone(),
    }
}

fn hides(c: char) -> bool {
    let is_control = c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\0');
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    // Line and paragraph separators, and the marks of annotations, are seen by some and not by others.
    let is_odd = matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}');
    is_control || turns || is_odd || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_left_out_and_everything_else_stays() {
        let hidden = "a\u{1b}[2J\u{202e}b\u{202c}\u{e0073}\u{e0065}\u{7}c\u{9b}\u{2028}";
        assert_eq!(visible(hidden), "a[2Jbc");
        // Joined emoji, accents, and languages that run the other way are as they were.
        for plain in ["a\n\tb\r\n", "👩‍👩‍👧 é ñ", "שלום \u{200f}ab", "日本語"]
        {
            assert!(matches!(visible(plain), Cow::Borrowed(text) if text == plain));
        }
        assert_eq!(visible("a\0"), "a\0", "who checks for this one says so");
    }
}
