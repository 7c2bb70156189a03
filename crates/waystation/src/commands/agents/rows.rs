//! Answers of the hub as rows of a table.

use serde_json::Value;

use crate::output;
use crate::table::{Cell, Fit, Table, Tone};

/// Who is there.
pub(super) fn agents_table(answer: &Value) -> Table {
    let mut table = Table::new(&[
        ("agent", Fit::Keep),
        ("status", Fit::Keep),
        ("runtime", Fit::Drop),
        ("lane", Fit::Cut),
        ("unread", Fit::Keep),
        ("last wake", Fit::Cut),
        ("by", Fit::Cut),
        ("took", Fit::Keep),
    ]);
    for agent in list(answer, "agents") {
        let wake = agent.get("last_wake").filter(|wake| !wake.is_null());
        let status = text(agent, "status");
        let unread = agent.get("unread").and_then(Value::as_i64).unwrap_or(0);
        let unread_tone = if unread > 0 { Tone::Warning } else { Tone::Quiet };
        let of_wake = |key: &str| wake.map_or("", |wake| text(wake, key));
        let latency = wake.and_then(|wake| wake.get("latency_ms")).and_then(Value::as_i64);
        table.push(vec![
            Cell::plain(text(agent, "agent_id")),
            Cell::new(status, status_tone(status)),
            Cell::plain(text(agent, "runtime")),
            Cell::plain(text(agent, "lane")),
            Cell::new(&unread.to_string(), unread_tone),
            state_cell(wake),
            Cell::plain(of_wake("lane")),
            Cell::plain(&latency.map(took).unwrap_or_default()),
        ]);
    }
    table
}

/// Wakes.
pub(crate) fn wakes_table(answer: &Value) -> Table {
    let mut table = Table::new(&[
        ("wake", Fit::Keep),
        ("agent", Fit::Keep),
        ("state", Fit::Cut),
        ("lane", Fit::Cut),
        ("took", Fit::Keep),
        ("requested", Fit::Drop),
        ("reason", Fit::Drop),
        ("thread", Fit::Drop),
    ]);
    for wake in list(answer, "wakes") {
        let latency = latency_ms(wake);
        table.push(vec![
            Cell::plain(text(wake, "wake_id")),
            Cell::plain(text(wake, "agent_id")),
            state_cell(Some(wake)),
            Cell::plain(text(wake, "lane")),
            Cell::plain(&latency.map(took).unwrap_or_default()),
            Cell::new(text(wake, "requested_at"), Tone::Quiet),
            Cell::plain(text(wake, "reason")),
            Cell::new(text(wake, "thread_id"), Tone::Quiet),
        ]);
    }
    table
}

/// The state of a wake, and why, where it did not simply move on.
fn state_cell(wake: Option<&Value>) -> Cell {
    let Some(wake) = wake else { return Cell::new("never", Tone::Quiet) };
    let state = text(wake, "state");
    let tone = match state {
        "read" | "turn_started" => Tone::Good,
        "failed" => Tone::Bad,
        "deferred" | "requested" => Tone::Warning,
        _ => Tone::Plain,
    };
    match text(wake, "why") {
        "" => Cell::new(state, tone),
        why @ ("loop_breaker" | "budget") => Cell::new(&format!("{state}: {why}"), Tone::Warning),
        why => Cell::new(&format!("{state}: {why}"), tone),
    }
}

/// What stops somebody from being woken, and what a person can do about it; a line each.
pub(super) fn notes(answer: &Value) -> Vec<String> {
    let note = |agent: &Value| {
        let wake = agent.get("last_wake")?;
        let (name, thread) = (text(agent, "agent_id"), text(wake, "thread_id"));
        let note = match text(wake, "why") {
            "loop_breaker" => format!(
                "{name}: agents have talked among themselves for too long in {thread}; a message of yours goes on"
            ),
            "budget" => format!(
                "{name}: woken as often as its policy allows an hour; the next wake is due {}",
                text(wake, "due_at")
            ),
            _ => return None,
        };
        Some(output::safe(&note))
    };
    list(answer, "agents").iter().filter_map(note).collect()
}

fn status_tone(status: &str) -> Tone {
    match status {
        "active" | "idle" => Tone::Good,
        "offline" => Tone::Quiet,
        _ => Tone::Plain,
    }
}

/// How long it took until a turn began, or until the program had the notice, in milliseconds.
pub(crate) fn latency_ms(wake: &Value) -> Option<i64> {
    let at = |key: &str| text(wake, key).parse::<jiff::Timestamp>().ok();
    let then = at("turn_started_at").or_else(|| at("handed_at"))?;
    Some(then.as_millisecond() - at("requested_at")?.as_millisecond())
}

/// A duration as people say it.
pub(crate) fn took(ms: i64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

/// The items of a list in an answer.
pub(super) fn list<'a>(answer: &'a Value, key: &str) -> &'a [Value] {
    answer.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::paint::Paint;

    #[test]
    fn everybody_has_a_line() {
        let answer = json!({ "agents": [
            { "agent_id": "coder", "status": "idle", "runtime": "codex_cli", "lane": "codex_socket",
              "unread": 0, "last_wake": { "state": "read", "lane": "codex_socket", "latency_ms": 148 } },
            { "agent_id": "reviewer", "status": "active", "runtime": "claude_code",
              "lane": "claude_rewake", "unread": 2,
              "last_wake": { "state": "deferred", "why": "human_input_busy", "lane": null } },
            { "agent_id": "old", "status": "offline", "runtime": "claude_code", "unread": 12,
              "last_wake": { "state": "failed", "why": "no lane\x1b]0;x\x07", "latency_ms": 61_000 } },
            { "agent_id": "new", "status": "offline", "unread": 0, "last_wake": null },
        ] });
        let shown = agents_table(&answer).lines(120, Paint::plain()).join("\n");
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn who_is_not_woken_any_more_is_named_with_what_to_do() {
        let answer = json!({ "agents": [
            { "agent_id": "coder", "last_wake": { "state": "cancelled", "why": "loop_breaker",
              "thread_id": "th_1" } },
            { "agent_id": "reviewer", "last_wake": { "state": "requested", "why": "budget",
              "due_at": "2026-11-15T16:00:00Z" } },
            { "agent_id": "other", "last_wake": { "state": "failed", "why": "lanes_failed" } },
            { "agent_id": "new" },
        ] });
        insta::assert_snapshot!(notes(&answer).join("\n"), @"
        coder: agents have talked among themselves for too long in th_1; a message of yours goes on
        reviewer: woken as often as its policy allows an hour; the next wake is due 2026-11-15T16:00:00Z
        ");
        let shown = agents_table(&answer).lines(120, Paint::plain()).join("\n");
        assert!(shown.contains("cancelled: loop_breaker") && shown.contains("requested: budget"));
    }

    #[test]
    fn a_wake_took_as_long_as_its_turn_took_to_begin() {
        let mut wake = json!({
            "requested_at": "2026-11-15T15:00:00.000Z", "handed_at": "2026-11-15T15:00:00.100Z",
        });
        assert_eq!(latency_ms(&wake), Some(100));
        wake["turn_started_at"] = json!("2026-11-15T15:00:01.500Z");
        assert_eq!(latency_ms(&wake), Some(1_500));
        assert_eq!(latency_ms(&json!({ "requested_at": "2026-11-15T15:00:00Z" })), None);
    }

    #[test]
    fn a_duration_is_written_for_people() {
        let said: Vec<String> = [0, 148, 1_340, 61_000, 7_260_000].into_iter().map(took).collect();
        assert_eq!(said, ["0 ms", "148 ms", "1.3 s", "1 min 1 s", "2 h 1 min"]);
    }
}
