//! Foreign text made safe to quote: one line, no control or hidden characters, capped.

use protocol::limits::summary as limits;

/// The text as one line of at most `bytes_max` bytes; a cut is marked with `…`.
pub(crate) fn one_line(text: &str, bytes_max: usize) -> String {
    let text = head(text, limits::BODY_SCAN_BYTES_MAX);
    let mut line = String::new();
    let mut gap = false;
    for symbol in text.chars().filter(|symbol| !is_hidden(*symbol)) {
        if symbol.is_whitespace() || symbol.is_control() {
            gap = !line.is_empty();
            continue;
        }
        if std::mem::take(&mut gap) {
            line.push(' ');
        }
        line.push(symbol);
        if line.len() > bytes_max {
            let kept = head(&line, bytes_max.saturating_sub('…'.len_utf8())).trim_end().len();
            line.truncate(kept);
            line.push('…');
            break;
        }
    }
    line
}

/// A file's name as one line; a long one keeps its end, where names differ.
pub(super) fn file_name(text: &str) -> String {
    let line = one_line(text, limits::BODY_SCAN_BYTES_MAX);
    if line.len() <= limits::FILE_BYTES_MAX {
        return line;
    }
    let mut from = line.len() - limits::FILE_BYTES_MAX + '…'.len_utf8();
    while !line.is_char_boundary(from) {
        from += 1;
    }
    format!("…{}", line.get(from..).unwrap_or_default())
}

/// At most the first `bytes_max` bytes, cut between characters.
pub(super) fn head(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let mut end = bytes_max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// A commit as it is kept: hashes in lower case and short, other names as one word.
pub(super) fn commit(text: &str) -> Option<String> {
    let word = one_line(head(text, limits::QUOTE_BYTES_MAX), limits::COMMIT_BYTES_MAX * 4);
    let word = word.split(' ').next().unwrap_or_default();
    if word.len() > limits::COMMIT_HASH_BYTES_MAX && word.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Some(head(word, limits::COMMIT_HASH_BYTES_MAX).to_ascii_lowercase());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/+:".contains(c);
    let word: String = word.chars().filter(|c| is_plain(*c)).collect();
    let word = head(&word, limits::COMMIT_BYTES_MAX);
    (!word.is_empty()).then(|| word.to_ascii_lowercase())
}

/// The commits a text speaks of: words of 7 to 40 hexadecimal digits, not all of them 0–9.
///
/// Numbers alone are dates and ticket ids far more often than commits, and a UUID or a colour is
/// one word with its `-` or `#`.
pub(super) fn commits_in(body: &str) -> impl Iterator<Item = String> {
    head(body, limits::BODY_SCAN_BYTES_MAX)
        .split(|c: char| !(c.is_alphanumeric() || "-_#".contains(c)))
        .filter(|word| (7..=40).contains(&word.len()))
        .filter(|word| word.bytes().all(|b| b.is_ascii_hexdigit()))
        .filter(|word| !word.bytes().all(|b| b.is_ascii_digit()))
        .filter_map(commit)
}

/// Characters that change how text looks or reads without being seen.
fn is_hidden(symbol: char) -> bool {
    matches!(symbol,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_is_one_line_without_control_or_direction_characters() {
        let text = "  a\r\n\tb\u{1b}[31m\u{202e}c\u{2066}\u{200b}d\u{2028}e\u{7f} ";
        assert_eq!(one_line(text, 100), "a b [31mcd e");
    }

    #[test]
    fn a_long_quote_is_cut_between_characters_and_says_so() {
        assert_eq!(one_line("ééééé", 10), "ééééé");
        assert_eq!(one_line("éééééé", 10), "ééé…");
        assert!(one_line(&"\u{1f980}".repeat(500), 160).len() <= 160);
    }

    #[test]
    fn a_long_file_name_keeps_its_end() {
        let name = file_name(&format!("{}/user_mapper.dart", "é".repeat(300)));
        assert!(name.starts_with('…') && name.ends_with("/user_mapper.dart"));
        assert!(name.len() <= limits::FILE_BYTES_MAX);
    }

    #[test]
    fn commits_are_told_from_dates_uuids_and_colours() {
        let body = "Fixed in abc1234, see /commit/DEF5678; 20260217, #aabbccd, \
                    8ab2c3d4-1234-4abc-8abc-0123456789ab, 0xdeadbee, deadbeef.";
        assert!(commits_in(body).eq(["abc1234", "def5678", "deadbeef"]));
    }

    #[test]
    fn a_full_hash_is_kept_short() {
        assert_eq!(commit(&"aB".repeat(20)).as_deref(), Some("abababababab"));
        assert_eq!(commit("r1234 (trunk)").as_deref(), Some("r1234"));
        assert_eq!(commit("\n\u{202e} "), None);
    }
}
