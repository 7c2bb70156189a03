//! Answers that may be one page of many: people are told that there is more, and what to type for it.

use anyhow::Result;
use serde_json::Value;

use super::call;
use crate::cli::Global;
use crate::output;
use crate::paths::Place;

/// What the hub says of a next page: it speaks of fields, and a command has options.
const HINTS: [&str; 3] = [
    "(there is more: read on from next_seq)",
    "(there may be more: pass next_cursor as cursor)",
    "(there are more: ask with offset)",
];

/// Calls an operation and prints its answer.
pub(super) async fn print(
    place: &Place,
    global: &Global,
    operation: &str,
    input: &Value,
) -> Result<()> {
    let called = call::ask(place, operation, input).await?;
    let mut brief = without_hint(&called.brief).to_owned();
    if let Some(more) = more(operation, input, &called.answer) {
        brief = format!("{brief}\n({more})");
    }
    output::answer(global.json, &called.answer, &brief)
}

/// What the hub says in a few words, without what it says of a next page.
pub(super) fn without_hint(brief: &str) -> &str {
    let brief = brief.trim_end();
    let cut = HINTS.iter().find_map(|hint| brief.strip_suffix(hint));
    cut.map_or(brief, str::trim_end)
}

/// How to see the next page, if there is one.
fn more(operation: &str, input: &Value, answer: &Value) -> Option<String> {
    let is_so = |key: &str| answer.get(key) == Some(&Value::Bool(true));
    match operation {
        "read_messages" if is_so("has_more") => {
            let thread = input.get("thread_id")?.as_str()?;
            let next = answer.get("next_seq")?.as_i64()?;
            Some(format!("there is more: waystation read {thread} --since {next}"))
        }
        "list_chats" if is_so("truncated") => {
            let before = input.get("offset").and_then(Value::as_u64).unwrap_or(0);
            let next = before.saturating_add(answer.get("chats")?.as_array()?.len() as u64);
            Some(format!("there are more: the same with --offset {next} shows them"))
        }
        "list_threads" | "list_sessions" | "search_messages" => {
            let cursor = answer.get("next_cursor")?.as_str()?;
            Some(format!("there are more: the same with --cursor {cursor} shows them"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_next_page_is_named_by_what_to_type() {
        let read = json!({ "thread_id": "th_1", "since_seq": 5 });
        let says = |more: bool| json!({ "has_more": more, "next_seq": 55 });
        assert_eq!(
            more("read_messages", &read, &says(true)).unwrap(),
            "there is more: waystation read th_1 --since 55"
        );
        assert_eq!(more("read_messages", &read, &says(false)), None);
        let chats = json!({ "chats": [1, 2], "truncated": true });
        assert_eq!(
            more("list_chats", &json!({ "offset": 4 }), &chats).unwrap(),
            "there are more: the same with --offset 6 shows them"
        );
        let page = json!({ "next_cursor": "19-3" });
        let said = more("list_threads", &json!({}), &page).unwrap();
        assert_eq!(said, "there are more: the same with --cursor 19-3 shows them");
        assert_eq!(more("list_threads", &json!({}), &json!({})), None);
    }

    #[test]
    fn what_the_hub_says_of_fields_is_left_out() {
        assert_eq!(without_hint("#1 a\n(there is more: read on from next_seq)\n"), "#1 a");
        assert_eq!(without_hint("#1 a\n"), "#1 a");
    }
}
