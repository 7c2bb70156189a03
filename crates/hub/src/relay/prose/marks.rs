//! What a sentence names and decides: addresses, ids, kinds of errors, decisions.

/// Words that say that something was decided.
const DECISIVE: [&str; 16] = [
    "approved", "approve", "rejected", "decided", "decision", "agreed", "will", "fix", "fixed",
    "fixes", "merged", "reverted", "resolved", "deployed", "shipped", "rollback",
];
/// The same, of several words.
const DECISIVE_PHRASES: [&str; 3] = ["root cause", "rolled back", "go ahead"];

/// Whether a sentence says that something was decided, or why something happened.
pub(crate) fn is_decision(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| DECISIVE.contains(&word))
        || DECISIVE_PHRASES.iter().any(|phrase| lower.contains(phrase))
}

/// The addresses, ids and kinds of errors that a text names, each once, in order.
pub(crate) fn references(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[]{}<>\"'`|,;".contains(c)) {
        let word =
            word.trim_end_matches(['.', ':', '!', '?', '*', '_']).trim_start_matches(['*', ':']);
        if is_reference(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

fn is_reference(word: &str) -> bool {
    is_address(word) || is_ticket(word) || is_id(word) || is_error_type(word)
}

fn is_address(word: &str) -> bool {
    let rest = word.strip_prefix("https://").or(word.strip_prefix("http://"));
    rest.is_some_and(|rest| rest.len() > 3)
}

/// `#12`, `acme/shop#12`, `SHOP-12`.
fn is_ticket(word: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if let Some((before, number)) = word.rsplit_once('#') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
        return is_number(number) && before.chars().all(is_name);
    }
    word.split_once('-').is_some_and(|(project, number)| {
        project.len() >= 2 && project.bytes().all(|b| b.is_ascii_uppercase()) && is_number(number)
    })
}

/// `out_01J…`, a commit, a UUID.
fn is_id(word: &str) -> bool {
    let hexadecimal = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    let has = |test: fn(u8) -> bool| word.bytes().any(test);
    let is_hash = (7..=64).contains(&word.len())
        && hexadecimal(word)
        && has(|b| b.is_ascii_digit())
        && has(|b| b.is_ascii_alphabetic());
    let is_prefixed = word.split_once('_').is_some_and(|(prefix, id)| {
        prefix.bytes().all(|b| b.is_ascii_lowercase())
            && (2..=8).contains(&prefix.len())
            && id.len() >= 16
            && id.bytes().all(|b| b.is_ascii_alphanumeric())
            && id.bytes().any(|b| b.is_ascii_digit())
    });
    is_hash || is_prefixed
}

/// `TypeError`, `java.lang.NullPointerException`, `ECONNREFUSED`, `SIGSEGV`.
fn is_error_type(word: &str) -> bool {
    let last = word.rsplit(['.', ':', '\\']).next().unwrap_or_default();
    let is_name = !last.is_empty() && last.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    let named = ["Error", "Exception", "Fault", "Panic"]
        .iter()
        .any(|end| last.len() > end.len() && last.ends_with(end));
    let upper = last.len() >= 5 && last.bytes().all(|b| b.is_ascii_uppercase());
    is_name
        && ((named && last.starts_with(|c: char| c.is_ascii_uppercase()))
            || (upper && (last.starts_with("SIG") || (last.starts_with('E') && last.len() >= 6))))
}

/// The kinds of errors that a text names, code included, each once, in order.
pub(crate) fn error_types(text: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for word in text.split(|c: char| !(c.is_ascii_alphanumeric() || "_.".contains(c))) {
        let word = word.trim_matches('.');
        if is_error_type(word) && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_tickets_ids_and_errors_are_references() {
        let text = "See (https://a.example/x), acme/shop#12, #7, SHOP-42 and abc1234; \
                    out_01JXYZ0123456789ABCDEFGHJK: TypeError. Not 2026, e-mail or Error.";
        let expected = [
            "https://a.example/x",
            "acme/shop#12",
            "#7",
            "SHOP-42",
            "abc1234",
            "out_01JXYZ0123456789ABCDEFGHJK",
            "TypeError",
        ];
        assert_eq!(references(text), expected);
    }

    #[test]
    fn kinds_of_errors_are_found_in_traces() {
        let text =
            "at x(y.js:1)\njava.lang.NullPointerException: oops\nconnect ECONNREFUSED 127.0.0.1";
        assert_eq!(error_types(text), ["java.lang.NullPointerException", "ECONNREFUSED"]);
    }

    #[test]
    fn decisions_are_whole_words() {
        assert!(is_decision("We will revert it.") && is_decision("The root cause is a race."));
        assert!(!is_decision("William prefixes it.") && !is_decision("It crashes."));
    }
}
