//! What waits for a human, as a table.

use anyhow::Result;
use edge::local::Client;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::commands::compact;
use crate::paint::Paint;
use crate::table::{Cell, Fit, Table, Tone};
use crate::{failure, output, surroundings};

/// `waystation approvals`.
pub(super) async fn run(
    hub: &mut Client,
    global: &Global,
    all: bool,
    limit: Option<u32>,
) -> Result<()> {
    let input = compact(json!({ "open_only": !all, "limit": limit }));
    let called = hub.call("list_proposals", &input).await.map_err(failure::of_client)?;
    let proposals = called.answer.get("proposals").and_then(Value::as_array);
    let proposals = proposals.map(Vec::as_slice).unwrap_or_default();
    if global.json || proposals.is_empty() {
        return output::answer(global.json, &called.answer, "nothing waits for you");
    }
    let (width, _) = surroundings::size();
    output::line(&table(proposals).lines(width, Paint::of_stdout()).join("\n"))?;
    output::line("\nwaystation approvals show ID shows one of them.")
}

fn table(proposals: &[Value]) -> Table {
    let mut table = Table::new(&[
        ("ID", Fit::Keep),
        ("STATE", Fit::Drop),
        ("AGENT", Fit::Drop),
        ("WHERE", Fit::Cut),
        ("DRAFT", Fit::Cut),
    ]);
    for proposal in proposals {
        let text = |key: &str| proposal.get(key).and_then(Value::as_str).unwrap_or_default();
        let state = text("state");
        let tone = match state {
            "waiting" => Tone::Warning,
            "expired" | "rejected" => Tone::Bad,
            "approved" | "edited" => Tone::Good,
            _ => Tone::Quiet,
        };
        let first = text("text").lines().next().unwrap_or_default();
        table.push(vec![
            Cell::plain(text("proposal_id")),
            Cell::new(state, tone),
            Cell::plain(text("agent_id")),
            Cell::plain(text("place")),
            Cell::plain(first),
        ]);
    }
    table
}
