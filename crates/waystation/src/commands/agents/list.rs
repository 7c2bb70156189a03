//! Who is there, once.

use anyhow::Result;
use serde_json::{Value, json};

use super::rows;
use crate::cli::Global;
use crate::commands::call;
use crate::paint::Paint;
use crate::paths::Place;
use crate::{output, surroundings};

/// Agents that are shown at most.
pub(super) const AGENTS_MAX: u32 = 200;

/// Prints the table.
pub(super) async fn run(place: &Place, global: &Global) -> Result<()> {
    let answer = call::ask(place, "list_agents", &json!({ "limit": AGENTS_MAX })).await?.answer;
    if global.json {
        return output::line(&serde_json::to_string_pretty(&answer)?);
    }
    let (width, _) = surroundings::size();
    output::line(&lines(&answer, width, Paint::of_stdout()).join("\n"))
}

/// The table, or what to do when it would be empty.
pub(super) fn lines(answer: &Value, width: usize, paint: Paint) -> Vec<String> {
    if rows::list(answer, "agents").is_empty() {
        return vec![
            "nobody is here yet".to_owned(),
            "  waystation connect              # once, for Codex and Claude Code".to_owned(),
            "  waystation run coder -- codex   # starts one that can be woken".to_owned(),
        ];
    }
    rows::agents_table(answer).lines(width, paint)
}
