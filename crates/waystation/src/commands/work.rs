//! `waystation work`: what agents have to do, what was given up and why.

use std::process::ExitCode;

use anyhow::Result;
use edge::local::Client;
use serde_json::{Value, json};

use super::{compact, each};
use crate::cli::{Global, WorkArgs, WorkCommand, WorkListArgs};
use crate::paint::Paint;
use crate::paths::Place;
use crate::table::{Cell, Fit, Table, Tone};
use crate::{failure, output, reach, surroundings};

/// `waystation work`.
pub(crate) async fn run(place: &Place, global: &Global, args: WorkArgs) -> Result<ExitCode> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub: Client = reach::connect(place, &greeting).await?;
    match args.command {
        None => list(&mut hub, global, args.list).await?,
        Some(WorkCommand::List(args)) => list(&mut hub, global, args).await?,
        Some(WorkCommand::Show { id }) => show(&mut hub, global, &id).await?,
        Some(WorkCommand::Retry { ids, queue }) => {
            let input = |id: &str| compact(json!({ "work_id": id, "queue": queue }));
            return each::run(&mut hub, global, "requeue_work", &ids, input).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(hub: &mut Client, global: &Global, args: WorkListArgs) -> Result<()> {
    let WorkListArgs { state, queue, thread, limit } = args;
    let input =
        compact(json!({ "state": state, "queue": queue, "thread_id": thread, "limit": limit }));
    let called = hub.call("list_work", &input).await.map_err(failure::of_client)?;
    let work = called.answer.get("work").and_then(Value::as_array);
    let work = work.map(Vec::as_slice).unwrap_or_default();
    if global.json || work.is_empty() {
        return output::answer(global.json, &called.answer, "there is no such work");
    }
    let (width, _) = surroundings::size();
    output::line(&table(work).lines(width, Paint::of_stdout()).join("\n"))?;
    output::line("\nwaystation work show ID shows one of them.")
}

async fn show(hub: &mut Client, global: &Global, id: &str) -> Result<()> {
    let called = hub.call("list_work", &json!({ "work_id": id })).await;
    let answer = called.map_err(failure::of_client)?.answer;
    let work = answer.pointer("/work/0").cloned().unwrap_or_default();
    if global.json {
        return output::answer(true, &work, "");
    }
    let said = said(hub, &work).await?;
    output::line(&page(&work, &said, Paint::of_stdout()))?;
    if matches!(text(&work, "state"), "dead" | "parked") {
        output::line(&format!("\nwaystation work retry {id} gives it out again"))?;
    }
    Ok(())
}

/// What the message says that the work is about.
async fn said(hub: &mut Client, work: &Value) -> Result<Value> {
    let before = number(work, "seq").saturating_sub(1);
    let input = json!({
        "thread_id": work.get("thread_id"), "since_seq": before.max(0), "limit": 1,
    });
    let called = hub.call("read_envelopes", &input).await.map_err(failure::of_client)?;
    Ok(called.answer.pointer("/envelopes/0").cloned().unwrap_or_default())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn number(value: &Value, key: &str) -> i64 {
    value.get(key).and_then(Value::as_i64).unwrap_or_default()
}

fn tone(state: &str) -> Tone {
    match state {
        "done" => Tone::Good,
        "dead" => Tone::Bad,
        "leased" | "parked" => Tone::Warning,
        "behind" => Tone::Quiet,
        _ => Tone::Plain,
    }
}

fn table(work: &[Value]) -> Table {
    let mut table = Table::new(&[
        ("ID", Fit::Keep),
        ("STATE", Fit::Keep),
        ("QUEUE", Fit::Cut),
        ("TRIES", Fit::Drop),
        ("AGENT", Fit::Drop),
        ("ADDED", Fit::Drop),
        ("WHY", Fit::Cut),
    ]);
    for one in work {
        let state = text(one, "state");
        table.push(vec![
            Cell::plain(text(one, "work_id")),
            Cell::new(state, tone(state)),
            Cell::plain(text(one, "queue")),
            Cell::plain(&number(one, "attempts").to_string()),
            Cell::plain(text(one, "agent_id")),
            Cell::plain(text(one, "created_at")),
            Cell::plain(text(one, "reason")),
        ]);
    }
    table
}

/// One piece of work as a person needs it to know what became of it.
fn page(work: &Value, said: &Value, paint: Paint) -> String {
    let line = |name: &str, value: &str| format!("{name:<9} {}", output::safe(value));
    let mut lines = vec![
        format!("{} is {}", text(work, "work_id"), paint.strong(text(work, "state"))),
        line("queue", text(work, "queue")),
        line("thread", &format!("{} #{}", text(work, "thread_id"), number(work, "seq"))),
        line("tries", &number(work, "attempts").to_string()),
    ];
    for (name, key) in [
        ("agent", "agent_id"),
        ("theirs to", "lease_until"),
        ("task", "task_id"),
        ("added", "created_at"),
        ("ended", "ended_at"),
        ("why", "reason"),
    ] {
        if !text(work, key).is_empty() {
            lines.push(line(name, text(work, key)));
        }
    }
    lines.push(line("from", text(said, "channel")));
    lines.push(String::new());
    lines.extend(output::safe(text(said, "content")).lines().map(|line| format!("  {line}")));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Value {
        json!({
            "work_id": "work_1", "queue": "default", "thread_id": "th_1", "seq": 4,
            "task_id": "task_1", "state": "dead", "attempts": 5, "agent_id": "triager",
            "reason": "given out 5 times; last: \u{1b}[2Jtoo hard",
            "created_at": "2026-02-17T12:00:00Z", "ended_at": "2026-02-17T13:00:00Z",
        })
    }

    #[test]
    fn a_piece_of_work_is_shown_with_what_it_is_about_and_what_became_of_it() {
        let said = json!({ "channel": "github", "content": "The shop\n\u{202e}is closed" });
        let page = page(&sample(), &said, Paint::plain());
        for part in [
            "work_1 is dead",
            "th_1 #4",
            "triager",
            "task_1",
            "given out 5 times",
            "2026-02-17T13:00:00Z",
            "github",
            "  The shop\n",
        ] {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
        assert!(!page.contains(['\u{1b}', '\u{202e}']), "what a service says steers no terminal");
    }

    #[test]
    fn a_list_fits_into_any_terminal() {
        let lines = table(&[sample()]).lines(50, Paint::plain());
        assert!(
            lines.len() == 2 && lines.iter().all(|line| line.chars().count() <= 50),
            "{lines:?}"
        );
        assert!(lines[1].contains("work_1") && lines[1].contains("dead"));
    }
}
