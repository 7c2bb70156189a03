//! Mending what Telegram Desktop and other programs write though it is no JSON.

use std::borrow::Cow;

/// The same record with `\x0B` written as JSON wants it, halves of letters replaced, and bytes that
/// are no UTF-8 replaced; `None` where there is nothing to mend.
pub(super) fn mended(record: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(record);
    let mut mended = String::with_capacity(text.len() + 16);
    let mut rest: &str = &text;
    let mut is_changed = matches!(text, Cow::Owned(_));
    while let Some((before, after)) = rest.split_once('\\') {
        mended.push_str(before);
        if let Some(code) = after.strip_prefix('x').and_then(|after| hex(after, 2)) {
            mended.push_str("\\u00");
            mended.push_str(code);
            rest = after.get(3..).unwrap_or_default();
            is_changed = true;
        } else if let Some(code) = after.strip_prefix('u').and_then(|after| hex(after, 4)) {
            let next = after.get(5..).unwrap_or_default();
            let low = next.strip_prefix("\\u").and_then(|next| hex(next, 4));
            let (written, used) = match (half(code), low.and_then(half)) {
                (Some(Half::High), Some(Half::Low)) => (after.get(..11), 11),
                (None, _) => (after.get(..5), 5),
                _ => {
                    is_changed = true;
                    (Some("uFFFD"), 5)
                }
            };
            mended.push('\\');
            mended.push_str(written.unwrap_or_default());
            rest = after.get(used..).unwrap_or_default();
        } else {
            mended.push('\\');
            // The letter behind a backslash belongs to it, above all when it is another backslash.
            let bytes = after.chars().next().map_or(0, char::len_utf8);
            let (letter, behind) = after.split_at_checked(bytes).unwrap_or((after, ""));
            mended.push_str(letter);
            rest = behind;
        }
    }
    mended.push_str(rest);
    is_changed.then_some(mended)
}

fn hex(text: &str, digits: usize) -> Option<&str> {
    text.get(..digits).filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[derive(PartialEq, Eq)]
enum Half {
    High,
    Low,
}

/// Whether a code is half of a letter in UTF-16.
fn half(code: &str) -> Option<Half> {
    match u16::from_str_radix(code, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(record: &[u8]) -> String {
        serde_json::from_str(&mended(record).unwrap()).unwrap()
    }

    #[test]
    fn escapes_that_json_does_not_know_are_mended() {
        assert_eq!(text(br#""a\x0Bb""#), "a\u{b}b");
        assert_eq!(text(br#""\\x0B\x1f""#), "\\x0B\u{1f}");
    }

    #[test]
    fn half_letters_are_replaced_and_whole_ones_kept() {
        assert_eq!(text(br#""\ud83d\ude00 \ud83d!""#), "😀 \u{fffd}!");
        assert_eq!(text(br#""\ude00\u0041""#), "\u{fffd}A");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(text(b"\"a\xffb\""), "a\u{fffd}b");
    }

    #[test]
    fn what_is_whole_is_left_alone() {
        assert_eq!(mended(br#"{"a": "\u0041\n\ud83d\ude00"}"#), None);
    }
}
