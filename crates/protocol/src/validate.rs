//! Checks on text and JSON from outside, each of which says what would be right.

use crate::caller::HUB_AGENT;
use crate::limits;

/// Why a value is refused: what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

fn invalid<T>(text: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid(text.into()))
}

/// What [`name`] lets through, for schemas. It says nothing of letters beyond ASCII, which the many
/// dialects of patterns do not agree about.
pub const NAME_PATTERN: &str = r"^[^\s!-*,;-?\[-^`{-~]+$";

/// A name of an agent, session or workspace: letters, digits and `_ - . : @ / +`.
pub fn name(text: &str) -> Result<(), Invalid> {
    let chars = text.chars().count();
    if chars == 0 || chars > limits::NAME_CHARS_MAX {
        return invalid(format!("must have 1 to {} characters", limits::NAME_CHARS_MAX));
    }
    let allowed = |c: char| c.is_alphanumeric() || "_-.:@/+".contains(c);
    if text.chars().all(allowed) {
        return Ok(());
    }
    invalid("may hold letters, digits and _ - . : @ / +")
}

/// The id of an agent: a name, and not the hub's own in any case, so that nobody can speak for it.
pub fn agent_id(text: &str) -> Result<(), Invalid> {
    name(text)?;
    // Some letters have several small forms, so the large ones are compared.
    if text.to_uppercase() == HUB_AGENT.to_uppercase() {
        return invalid(format!("must not be {HUB_AGENT}, the hub's own name; choose another"));
    }
    Ok(())
}

/// One line of text for people: no breaks or control characters, not blank.
pub fn line(text: &str, chars_max: usize) -> Result<(), Invalid> {
    if text.trim().is_empty() {
        return invalid("must not be empty");
    }
    if text.chars().count() > chars_max {
        return invalid(format!("must have at most {chars_max} characters"));
    }
    if text.chars().any(|c| c.is_control() || breaks_line(c)) {
        return invalid("must be one line without control characters");
    }
    Ok(())
}

/// Whether a character begins a new line somewhere: in a terminal, an editor or a language's own idea of
/// lines.
pub const fn breaks_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// A message's text: anything but NUL, which PostgreSQL cannot keep.
pub fn message_body(text: &str) -> Result<(), Invalid> {
    if text.is_empty() {
        return invalid("must not be empty");
    }
    if text.len() > limits::MESSAGE_BODY_BYTES_MAX {
        return invalid(format!(
            "must have at most {} bytes; post a long text in parts",
            limits::MESSAGE_BODY_BYTES_MAX
        ));
    }
    without_nul(text)
}

/// Refuses U+0000, which no engine keeps faithfully.
pub fn without_nul(text: &str) -> Result<(), Invalid> {
    if text.contains('\0') {
        return invalid("must not hold the character U+0000");
    }
    Ok(())
}

/// The name of a typed event, such as `finding_reported`.
pub fn event_type(text: &str) -> Result<(), Invalid> {
    let shape = text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_.-".contains(c));
    if shape {
        return Ok(());
    }
    invalid("must be a lower-case name of at most 64 characters, such as finding_reported")
}

/// Whether JSON text nests deeper than the hub takes. Looks at brackets outside strings only.
pub fn nests_too_deep(json: &[u8]) -> bool {
    let mut depth = 0_usize;
    let mut bytes = json.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => bytes = after_string(bytes.as_slice()).iter(),
            b'{' | b'[' => {
                depth += 1;
                if depth > limits::JSON_DEPTH_MAX {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// What follows a string, from behind its opening quote on.
fn after_string(mut text: &[u8]) -> &[u8] {
    while let Some(at) = memchr::memchr2(b'"', b'\\', text) {
        let is_end = text.get(at) == Some(&b'"');
        // What is escaped is passed over, a quote above all.
        text = text.get(at + if is_end { 1 } else { 2 }..).unwrap_or_default();
        if is_end {
            return text;
        }
    }
    &[]
}

/// The known name nearest to a mistyped one, if any is near enough to suggest. A text much longer than
/// a name is no mistyped one, and comparing it would take long.
pub fn nearest<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = text.chars().take(limits::MISTYPED_CHARS_MAX + 1).count();
    if letters > limits::MISTYPED_CHARS_MAX {
        return None;
    }
    let part = |name: &str| letters >= 3 && (name.contains(text) || text.contains(name));
    known
        .into_iter()
        .map(|name| (distance(text, name), name))
        .filter(|(far, name)| part(name) || *far <= 1 + name.chars().count().min(letters) / 3)
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// How many letters must change to make one name the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut corner = i;
        let mut before = i + 1;
        for (b, cell) in right.iter().zip(row.iter_mut().skip(1)) {
            let replaced = corner + usize::from(a != *b);
            corner = *cell;
            before = replaced.min(corner + 1).min(before + 1);
            *cell = before;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_refuse_what_a_shell_or_terminal_would_read() {
        assert!(name("reviewer_agent").is_ok());
        assert!(name("Ähren-7").is_ok());
        for bad in ["", " ", "a b", "a\nb", "$(id)", "a\u{202e}b", "a;b"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn nobody_has_the_hub_s_own_name() {
        assert!(agent_id("reviewer_agent").is_ok() && agent_id("waystation2").is_ok());
        for bad in ["waystation", "Waystation", "WAYSTATION", "way\u{17f}tation", "a b", ""] {
            assert!(agent_id(bad).is_err(), "{bad:?}");
        }
        assert!(name("waystation").is_ok(), "a workspace may be called so");
    }

    #[test]
    fn the_pattern_of_names_is_their_check() {
        let class = NAME_PATTERN.strip_prefix(r"^[^\s").unwrap().strip_suffix("]+$").unwrap();
        let mut signs = class.chars().filter(|c| *c != '\\').peekable();
        let mut refused = Vec::new();
        while let Some(first) = signs.next() {
            let last = signs.next_if_eq(&'-').map_or(first, |_| signs.next().unwrap());
            refused.extend(first..=last);
        }
        for sign in '!'..='~' {
            assert_eq!(name(&sign.to_string()).is_err(), refused.contains(&sign), "{sign}");
        }
    }

    #[test]
    fn one_line_is_one_wherever_it_is_shown() {
        assert!(line("Ähren und 7 Bücher", 100).is_ok());
        for sign in ['\n', '\r', '\u{b}', '\u{c}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'] {
            assert!(breaks_line(sign), "{sign:?}");
            assert!(line(&format!("a{sign}b"), 100).is_err(), "{sign:?}");
        }
        assert!(!breaks_line('\t') && !breaks_line(' '));
    }

    #[test]
    fn depth_counts_brackets_outside_strings() {
        assert!(!nests_too_deep(
            br#"{"a":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["}"#
        ));
        let deep = "[".repeat(65);
        for around in [r#"["\\","#, r#"["\"[","#, r#"["a\\\"b","c","#] {
            assert!(nests_too_deep(format!("{around}{deep}").as_bytes()), "{around}");
        }
        for within in [r#"["\""#, r#"["\\\""#, r#"["ends in a backslash\"#] {
            assert!(!nests_too_deep(format!("{within}{deep}").as_bytes()), "{within}");
        }
        assert!(!nests_too_deep("[".repeat(64).as_bytes()));
        assert!(nests_too_deep("[".repeat(65).as_bytes()));
    }

    #[test]
    fn a_typo_finds_its_word() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("thred_id", ["thread_id", "limit"]), Some("thread_id"));
        assert_eq!(nearest("unread", ["unread_only", "limit"]), Some("unread_only"));
        assert_eq!(nearest("zebra", ["thread_id", "limit"]), None);
    }
}
