//! Calls with their results, as a context holds them; long results keep their beginning and their end.

use protocol::limits::tools as limits;
use serde_json::{Value, json};

use super::material::Pair;

/// A pair as a context holds it.
pub(super) fn shown(pair: &Pair) -> Value {
    json!({ "id": pair.id, "name": pair.name, "args": pair.args, "result": pair.result })
}

/// Leaves of a long result its first and its last lines; answers how many bytes that saved.
pub(super) fn collapse(pair: &mut Pair) -> Option<usize> {
    let before = pair.result.to_string().len();
    let text = match &pair.result {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    };
    let lines: Vec<String> = text.lines().map(cut_line).collect();
    let shown = limits::CONTEXT_HEAD_LINES + limits::CONTEXT_TAIL_LINES;
    // One line left out would be replaced by the line that says so.
    let left_out = lines.len().saturating_sub(shown);
    let left_out = if left_out > 1 { left_out } else { 0 };
    let (head, rest) = lines.split_at(limits::CONTEXT_HEAD_LINES.min(lines.len()));
    let tail = rest.get(left_out..).unwrap_or_default();
    let note =
        format!("… {left_out} lines left out; the whole result stands in {}", pair.message_id);
    let mut kept: Vec<&str> = head.iter().map(String::as_str).collect();
    if left_out > 0 {
        kept.push(&note);
    }
    kept.extend(tail.iter().map(String::as_str));
    let cut = Value::String(kept.join("\n"));
    let saved = before.checked_sub(cut.to_string().len()).filter(|saved| *saved > 0)?;
    pair.result = cut;
    Some(saved)
}

fn cut_line(line: &str) -> String {
    let mut letters = line.chars();
    let mut text: String = letters.by_ref().take(limits::CONTEXT_LINE_CHARS_MAX).collect();
    if letters.next().is_some() {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_keeps_its_beginning_and_its_end() {
        let lines: Vec<String> = (1..=100).map(|n| format!("line {n}")).collect();
        let mut pair = Pair {
            message_id: "msg_1".to_owned(),
            result: Value::String(lines.join("\n")),
            ..Pair::default()
        };
        assert!(collapse(&mut pair).is_some());
        let text = pair.result.as_str().unwrap();
        assert!(text.starts_with("line 1\n") && text.ends_with("\nline 100"));
        assert!(
            text.contains(
                "line 40\n… 40 lines left out; the whole result stands in msg_1\nline 81"
            )
        );
        assert_eq!(collapse(&mut pair), None);
    }

    #[test]
    fn a_long_line_is_cut_and_a_short_result_is_left_alone() {
        let mut pair = Pair { result: json!({ "text": "x".repeat(9_000) }), ..Pair::default() };
        assert!(collapse(&mut pair).unwrap() > 8_000);
        let mut short = Pair { result: json!({ "ok": true }), ..Pair::default() };
        assert_eq!(collapse(&mut short), None);
    }
}
