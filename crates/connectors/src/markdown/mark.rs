//! Our own marks: what we posted is found again by them.

/// The mark of a part, as a comment that nobody sees.
pub(crate) fn comment(mark: &str) -> String {
    format!("<!-- ws:{mark} -->")
}

/// The mark of a part as a piece of an address.
pub(crate) fn fragment(mark: &str) -> String {
    format!("ws-{}", mark.replace(' ', "-"))
}

/// The mark of a part: the id in the outbox, and which part it is.
pub(crate) fn of_part(outbox_id: &str, index: usize) -> String {
    format!("{outbox_id} {index}")
}

/// Whether a text ends with this mark. Anywhere else it is a quotation.
pub(crate) fn ends_with(text: &str, mark: &str) -> bool {
    text.trim_end().ends_with(&comment(mark))
}

/// The outbox id of a text of ours, if it carries the mark as its last line.
#[cfg(test)]
pub(crate) fn find(text: &str) -> Option<&str> {
    let last = text.trim_end().lines().next_back()?.trim();
    let mark = last.strip_prefix("<!-- ws:")?.strip_suffix(" -->")?;
    let (outbox_id, part) = mark.split_once(' ')?;
    let is_mark = outbox_id.starts_with("out_") && part.bytes().all(|byte| byte.is_ascii_digit());
    is_mark.then_some(outbox_id)
}

/// An address in which no mark stands.
pub(super) fn without_marks_in_url(url: &str) -> String {
    let lower = url.to_ascii_lowercase();
    if !lower.contains("ws:out_") && !lower.contains("ws-out_") {
        return url.to_owned();
    }
    let mut out = String::with_capacity(url.len());
    for (at, sign) in url.char_indices() {
        let is_inside = lower.get(..at).is_some_and(|before| before.ends_with("ws"))
            && lower.get(at + sign.len_utf8()..).is_some_and(|after| after.starts_with("out_"));
        match sign {
            ':' if is_inside => out.push_str("%3A"),
            '-' if is_inside => out.push_str("%2D"),
            _ => out.push(sign),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_the_last_line_and_nothing_else() {
        let text = format!("Fixed.\n\n{}", comment(&of_part("out_1", 0)));
        assert!(ends_with(&text, "out_1 0"));
        assert!(!ends_with(&text, "out_1 1"));
        assert_eq!(find(&text), Some("out_1"));
        assert_eq!(find(&format!("{text}\n\nsaid the bot")), None);
        assert_eq!(find("> <!-- ws:out_1 0 -->"), None);
        assert_eq!(find("<!-- ws:out_1 x -->"), None);
    }

    #[test]
    fn an_address_carries_no_mark() {
        let url = without_marks_in_url("https://s.example/#ws-out_1-0?WS:OUT_2");
        assert_eq!(url, "https://s.example/#ws%2Dout_1-0?WS%3AOUT_2");
    }
}
