//! `waystation outbox`: what is on its way to services, what was given up and why.

use std::process::ExitCode;

use anyhow::Result;
use edge::local::Client;
use serde_json::{Value, json};

use super::{compact, each};
use crate::cli::{Global, OutboxArgs, OutboxCommand, OutboxListArgs};
use crate::paint::Paint;
use crate::paths::Place;
use crate::table::{Cell, Fit, Table, Tone};
use crate::{failure, output, reach, surroundings};

/// `waystation outbox`.
pub(crate) async fn run(place: &Place, global: &Global, args: OutboxArgs) -> Result<ExitCode> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub: Client = reach::connect(place, &greeting).await?;
    match args.command {
        None => list(&mut hub, global, args.list).await?,
        Some(OutboxCommand::List(args)) => list(&mut hub, global, args).await?,
        Some(OutboxCommand::Show { id }) => show(&mut hub, global, &id).await?,
        Some(OutboxCommand::Redrive { ids, not_arrived }) => {
            let not_arrived = not_arrived.then_some(true);
            let input = |id: &str| compact(json!({ "outbox_id": id, "not_arrived": not_arrived }));
            return each::run(&mut hub, global, "redrive_outbox", &ids, input).await;
        }
        Some(OutboxCommand::Cancel { ids }) => {
            let input = |id: &str| json!({ "outbox_id": id });
            return each::run(&mut hub, global, "cancel_outbox", &ids, input).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(hub: &mut Client, global: &Global, args: OutboxListArgs) -> Result<()> {
    let OutboxListArgs { state, link, limit } = args;
    let input = compact(json!({ "state": state, "link": link, "limit": limit }));
    let called = hub.call("list_outbox", &input).await.map_err(failure::of_client)?;
    let actions = called.answer.get("actions").and_then(Value::as_array);
    let actions = actions.map(Vec::as_slice).unwrap_or_default();
    if global.json || actions.is_empty() {
        return output::answer(global.json, &called.answer, "nothing is in the outbox");
    }
    let (width, _) = surroundings::size();
    output::line(&table(actions).lines(width, Paint::of_stdout()).join("\n"))?;
    output::line("\nwaystation outbox show ID shows one of them.")
}

async fn show(hub: &mut Client, global: &Global, id: &str) -> Result<()> {
    let called = hub.call("list_outbox", &json!({ "outbox_id": id })).await;
    let answer = called.map_err(failure::of_client)?.answer;
    let action = answer.pointer("/actions/0").cloned().unwrap_or_default();
    if global.json {
        return output::answer(true, &action, "");
    }
    output::line(&page(&action, Paint::of_stdout()))?;
    if text(&action, "state") == "dead" {
        output::line(&format!(
            "\nwaystation outbox redrive {id} tries it again\nwaystation outbox cancel {id} lets it be"
        ))?;
    }
    Ok(())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn tone(state: &str) -> Tone {
    match state {
        "sent" => Tone::Good,
        "dead" => Tone::Bad,
        "waiting" | "sending" => Tone::Warning,
        _ => Tone::Quiet,
    }
}

/// Where an action goes, for people.
fn place(action: &Value) -> &str {
    action.pointer("/action/place").and_then(Value::as_str).unwrap_or_default()
}

fn table(actions: &[Value]) -> Table {
    let mut table = Table::new(&[
        ("ID", Fit::Keep),
        ("STATE", Fit::Keep),
        ("AGENT", Fit::Drop),
        ("WHERE", Fit::Cut),
        ("WHY", Fit::Cut),
    ]);
    for action in actions {
        let state = text(action, "state");
        let why = match (text(action, "reason"), text(action, "answer")) {
            (reason, "") => reason.to_owned(),
            (reason, answer) => format!("{reason} ({answer})"),
        };
        table.push(vec![
            Cell::plain(text(action, "outbox_id")),
            Cell::new(state, tone(state)),
            Cell::plain(text(action, "agent_id")),
            Cell::plain(place(action)),
            Cell::plain(&why),
        ]);
    }
    table
}

/// One action as a person needs it to know what became of it.
fn page(action: &Value, paint: Paint) -> String {
    let line = |name: &str, value: &str| format!("{name:<9} {}", output::safe(value));
    let mut lines = vec![
        format!("{} is {}", text(action, "outbox_id"), paint.strong(text(action, "state"))),
        line("to", place(action)),
        line("by", text(action, "agent_id")),
    ];
    let is = |key: &str| action.get(key).and_then(Value::as_bool).unwrap_or_default();
    lines.push(line("approved", if is("approved") { "yes, exactly this" } else { "by a rule" }));
    for (name, key) in [
        ("thread", "thread_id"),
        ("queued", "created_at"),
        ("next try", "due_at"),
        ("ended", "ended_at"),
        ("why", "reason"),
        ("answer", "answer"),
    ] {
        if !text(action, key).is_empty() {
            lines.push(line(name, text(action, key)));
        }
    }
    let number = |key: &str| action.get(key).and_then(Value::as_i64).unwrap_or_default();
    let (done, tries) = (number("parts_done"), number("attempts"));
    lines.push(line("parts", &format!("{done} arrived; the next was tried {tries} times")));
    if is("unknown") {
        lines.push(line(
            "",
            "the last answer was lost: the service is asked before it is sent again",
        ));
    }
    let receipts = action.get("receipts").and_then(Value::as_array);
    for receipt in receipts.map(Vec::as_slice).unwrap_or_default() {
        let shown = match text(receipt, "url") {
            "" => text(receipt, "remote_id"),
            url => url,
        };
        lines.push(line("arrived", shown));
    }
    lines.push(String::new());
    let body = action.pointer("/action/text").and_then(Value::as_str).unwrap_or_default();
    lines.extend(output::safe(body).lines().map(|line| format!("  {line}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        json!({
            "outbox_id": "out_1", "state": "dead", "agent_id": "triager", "approved": true,
            "parts_done": 1, "attempts": 2, "unknown": true,
            "reason": "the service did not take it", "answer": "422 \u{1b}[2Jtoo rude",
            "created_at": "2026-02-17T12:00:00Z",
            "receipts": [{ "remote_id": "issuecomment:1", "url": "https://example.org/1" }],
            "action": { "place": "acme/shop#12", "text": "first\nsecond" },
        })
    }

    #[test]
    fn an_action_is_shown_with_everything_that_became_of_it() {
        let page = page(&sample(), Paint::plain());
        for part in [
            "out_1 is dead",
            "acme/shop#12",
            "triager",
            "yes, exactly this",
            "the service did not take it",
            "1 arrived; the next was tried 2 times",
            "the last answer was lost",
            "https://example.org/1",
            "  first\n  second",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains('\u{1b}'), "what a service says steers no terminal");
    }

    #[test]
    fn a_list_fits_into_any_terminal() {
        let lines = table(&[sample()]).lines(60, Paint::plain());
        assert!(
            lines.len() == 2 && lines.iter().all(|line| line.chars().count() <= 60),
            "{lines:?}"
        );
        assert!(lines[1].contains("out_1") && lines[1].contains("dead"));
    }
}
