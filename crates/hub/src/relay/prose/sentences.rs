//! Taking a text apart into sentences.

/// Words before a full stop that does not end a sentence.
const ABBREVIATIONS: [&str; 10] =
    ["e.g", "i.e", "etc", "vs", "cf", "ca", "approx", "mr", "mrs", "dr"];

/// The sentences of a text, in order. What stands in fences of code is left out, and so are marks of
/// headings, lists and quotations.
pub(crate) fn sentences(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") || line.starts_with("~~~") {
            is_code = !is_code;
            continue;
        }
        if is_code || line.starts_with('>') {
            continue;
        }
        split(unmarked(line), &mut found);
    }
    found
}

/// A line without the marks of Markdown at its beginning.
fn unmarked(line: &str) -> &str {
    let line = line.trim_start_matches('#').trim_start();
    let line = line.strip_prefix("- ").or(line.strip_prefix("* ")).unwrap_or(line);
    line.strip_prefix("[ ] ").or(line.strip_prefix("[x] ")).unwrap_or(line).trim()
}

fn split<'a>(line: &'a str, found: &mut Vec<&'a str>) {
    let mut from = 0;
    let mut letters = line.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let is_end = match letter {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => letters.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if is_end && !(letter == '.' && is_abbreviation(line.get(from..at).unwrap_or_default())) {
            push(line.get(from..end), found);
            from = end;
        }
    }
    push(line.get(from..), found);
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    ABBREVIATIONS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn push<'a>(sentence: Option<&'a str>, found: &mut Vec<&'a str>) {
    let sentence = sentence.unwrap_or_default().trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence);
    }
}

/// At most the first so many bytes, cut between characters.
pub(crate) fn head(text: &str, bytes_max: usize) -> &str {
    let mut end = bytes_max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let text = "It fails, e.g. on login. See https://a.example/b.c?d=e. Why?\n- [ ] Mend it!\n\
                    ```\nlet x = 1. Or 2.\n```\n> quoted words.\n# A heading\n…";
        let expected = [
            "It fails, e.g. on login.",
            "See https://a.example/b.c?d=e.",
            "Why?",
            "Mend it!",
            "A heading",
        ];
        assert_eq!(sentences(text), expected);
        assert_eq!(sentences("壊れた。直す！"), ["壊れた。", "直す！"]);
        assert_eq!(head("éé", 3), "é");
    }
}
