//! What a service said: listed, read again, or tried with a sample.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{call, compact};
use crate::cli::{Global, LinkDeliveriesArgs};
use crate::paint::Paint;
use crate::paths::Place;
use crate::table::{Cell, Fit, Table, Tone};
use crate::{output, surroundings};

/// `waystation link deliveries`.
pub(super) async fn list(place: &Place, global: &Global, args: &LinkDeliveriesArgs) -> Result<()> {
    let input = compact(json!({
        "name": args.name, "outcome": args.outcome, "limit": args.limit, "cursor": args.cursor,
    }));
    let called = call::ask(place, "list_deliveries", &input).await?;
    let deliveries = called.answer.get("deliveries").and_then(Value::as_array);
    let deliveries = deliveries.map(Vec::as_slice).unwrap_or_default();
    if global.json || deliveries.is_empty() {
        return output::answer(global.json, &called.answer, &called.brief);
    }
    let (width, _) = surroundings::size();
    output::line(&table(deliveries).lines(width, Paint::of_stdout()).join("\n"))?;
    let next = called.answer.get("next_cursor").and_then(Value::as_str);
    if let Some(next) = next {
        output::line(&format!(
            "\nOlder ones: waystation link deliveries {} --cursor {next}",
            args.name
        ))?;
    }
    output::line("\nwaystation link replay ID reads one of them again.")
}

fn table(deliveries: &[Value]) -> Table {
    let mut table = Table::new(&[
        ("ID", Fit::Keep),
        ("RECEIVED", Fit::Drop),
        ("EVENT", Fit::Cut),
        ("OUTCOME", Fit::Keep),
        ("TIMES", Fit::Drop),
        ("THREAD", Fit::Drop),
    ]);
    for delivery in deliveries {
        let text = |key: &str| delivery.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = |key: &str| delivery.get(key).and_then(Value::as_i64);
        let tone = match text("outcome") {
            "work" => Tone::Good,
            "dropped" => Tone::Warning,
            _ => Tone::Quiet,
        };
        let place = match number("seq") {
            Some(seq) => format!("{} #{seq}", text("thread_id")),
            None => String::new(),
        };
        table.push(vec![
            Cell::plain(text("delivery_id")),
            Cell::plain(text("received_at")),
            Cell::plain(text("event")),
            Cell::new(text("outcome"), tone),
            Cell::plain(&number("copies").unwrap_or(1).to_string()),
            Cell::plain(&place),
        ]);
    }
    table
}

/// `waystation link replay`.
pub(super) async fn replay(place: &Place, global: &Global, id: &str, again: bool) -> Result<()> {
    let input = json!({ "delivery_id": id, "again": again });
    call::print(place, global, "replay_delivery", &input).await
}

/// `waystation link test`.
pub(super) async fn test(place: &Place, global: &Global, name: &str) -> Result<()> {
    let called = call::ask(place, "test_link", &json!({ "name": name })).await?;
    output::answer(global.json, &called.answer, &called.brief)?;
    if called.answer.get("taken").and_then(Value::as_array).is_none_or(Vec::is_empty) {
        bail!("{name} took nothing in");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_is_shown_with_what_became_of_it() {
        let deliveries = [
            json!({
                "delivery_id": "dlv_1", "received_at": "2026-02-17T12:00:00Z", "event": "issues.opened",
                "outcome": "work", "copies": 3, "thread_id": "th_1", "seq": 1,
            }),
            json!({
                "delivery_id": "dlv_2", "received_at": "2026-02-17T12:00:01Z", "event": "ping",
                "outcome": "control", "copies": 1,
            }),
        ];
        let lines = table(&deliveries).lines(120, Paint::plain());
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[1].contains("issues.opened") && lines[1].contains("th_1 #1"), "{}", lines[1]);
        assert!(lines[2].contains("control") && lines[2].contains("dlv_2"), "{}", lines[2]);
    }
}
