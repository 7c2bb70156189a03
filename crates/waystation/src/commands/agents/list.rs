//! Who is there, once.

use anyhow::Result;
use serde_json::{Value, json};

use super::rows;
use crate::cli::Global;
use crate::commands::{call, doctor};
use crate::paint::Paint;
use crate::paths::Place;
use crate::{output, surroundings};

/// Agents that are shown at most.
pub(super) const AGENTS_MAX: u32 = 200;

/// Prints the table.
pub(super) async fn run(place: &Place, global: &Global) -> Result<()> {
    let answer = call::ask(place, "list_agents", &json!({ "limit": AGENTS_MAX })).await?.answer;
    if global.json {
        return output::json(&answer);
    }
    let (width, _) = surroundings::size();
    output::line(&lines(&answer, width, Paint::of_stdout()).join("\n"))
}

/// The table, or what to do when it would be empty.
pub(super) fn lines(answer: &Value, width: usize, paint: Paint) -> Vec<String> {
    let answer = &without_probes(answer);
    if rows::list(answer, "agents").is_empty() {
        return vec![
            "nobody is here yet".to_owned(),
            "  waystation connect              # once, for Codex and Claude Code".to_owned(),
            "  waystation run coder -- codex   # starts one that can be woken".to_owned(),
        ];
    }
    let mut lines = rows::agents_table(answer).lines(width, paint);
    let notes = rows::notes(answer);
    if !notes.is_empty() {
        lines.push(String::new());
        lines.extend(notes);
    }
    lines
}

/// Leaves out the throw-away sessions of `waystation doctor` that are over.
fn without_probes(answer: &Value) -> Value {
    let is_over = |agent: &Value| {
        let text = |key: &str| agent.get(key).and_then(Value::as_str).unwrap_or_default();
        text("agent_id").starts_with(doctor::PROBE_PREFIX) && text("status") == "offline"
    };
    let agents = rows::list(answer, "agents").iter().filter(|agent| !is_over(agent));
    json!({ "agents": agents.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_that_is_over_is_not_shown() {
        let answer = json!({ "agents": [
            { "agent_id": "doctor-codex", "status": "offline" },
            { "agent_id": "doctor-claude", "status": "idle" },
            { "agent_id": "coder", "status": "offline" },
        ] });
        let shown = lines(&answer, 100, Paint::plain()).join("\n");
        assert!(!shown.contains("doctor-codex"), "{shown}");
        assert!(shown.contains("doctor-claude") && shown.contains("coder"), "{shown}");
    }
}
