//! What is shown before and after files change.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::apply::Direction;
use super::plan::Plan;
use super::station::Station;
use crate::cli::AgentClient;
use crate::commands::diff::{self, Lines};
use crate::commands::programs::Installed;
use crate::paint::Paint;
use crate::paths::shown;

/// A program, and what would change for it.
pub(super) struct Work {
    pub(super) client: AgentClient,
    pub(super) installed: Option<Installed>,
    pub(super) station: Station,
    pub(super) plans: Vec<Plan>,
    /// Where copies of the files are, in the order of the plans, once they were changed.
    pub(super) backups: Vec<Option<PathBuf>>,
}

impl Work {
    /// Whether any file changes.
    pub(super) fn is_change(&self) -> bool {
        self.plans.iter().any(Plan::is_change)
    }

    fn name(&self) -> String {
        match self.installed.as_ref().and_then(|found| found.version.as_ref()) {
            Some(version) => format!("{} {version}", self.client.command()),
            None => self.client.command().to_owned(),
        }
    }
}

/// The lines that would change.
pub(super) fn diffs(works: &[Work], paint: Paint) -> String {
    let plans = works.iter().flat_map(|work| &work.plans).filter(|plan| plan.is_change());
    plans.map(|plan| of_plan(plan, paint)).collect::<Vec<_>>().join("\n")
}

fn of_plan(plan: &Plan, paint: Paint) -> String {
    let name = shown(&plan.target.path);
    let (before, after) = (plan.before.as_deref(), plan.after.as_deref());
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    diff::unified(&name, before, after, paint, Lines::Short)
}

/// One line for each file, after everything was done or nothing had to be.
pub(super) fn lines(works: &[Work], direction: Direction, paint: Paint) -> Vec<String> {
    let mut lines = Vec::new();
    for work in works {
        for (index, plan) in work.plans.iter().enumerate() {
            let file = shown(&plan.target.path);
            let what = plan.target.what;
            let said = match (direction, plan.is_change()) {
                (Direction::Connect, true) => format!("{what} for agent {}", work.station.agent),
                (Direction::Connect, false) => {
                    format!("{what} for agent {}, as it was", work.station.agent)
                }
                (Direction::Undo, true) if plan.after.is_none() => "taken away".to_owned(),
                (Direction::Undo, true) => "our lines are taken out".to_owned(),
                (Direction::Undo, false) => "nothing to take out".to_owned(),
            };
            lines.push(format!("{} {:<14} {file}: {said}", paint.good("✔"), work.name()));
            if let Some(backup) = work.backups.get(index).and_then(Option::as_ref) {
                lines.push(paint.quiet(&format!("  {:<14} before: {}", "", shown(backup))));
            }
            for left in &plan.left {
                lines.push(format!("{} {:<14} {file}: {left}", paint.warning("!"), work.name()));
            }
        }
        lines.extend(notes(work, direction).iter().map(|note| format!("  {:<14} {note}", "")));
    }
    lines
}

/// What a person has to do or know.
fn notes(work: &Work, direction: Direction) -> Vec<String> {
    let mut notes = Vec::new();
    if direction == Direction::Undo || !work.is_change() {
        return notes;
    }
    if work.installed.is_none() {
        notes.push(format!(
            "{} is not on the search path yet; install it with {}",
            work.client.title(),
            work.client.install()
        ));
    }
    notes.push(match work.client {
        AgentClient::Codex => "When Codex starts next it says “Hooks need review”: choose “Trust \
                               all and continue”. Without that it is woken too, but the hub learns \
                               later what it is doing."
            .to_owned(),
        AgentClient::Claude => {
            "Sessions that run already do not have the hooks; start them anew.".to_owned()
        }
    });
    notes
}

/// The same for scripts.
pub(super) fn json(works: &[Work], direction: Direction, is_applied: bool) -> Value {
    let programs: Vec<Value> = works
        .iter()
        .map(|work| {
            let files: Vec<Value> = work
                .plans
                .iter()
                .enumerate()
                .map(|(index, plan)| {
                    let backup = work.backups.get(index).and_then(Option::as_ref);
                    json!({
                        "file": plan.target.path, "holds": plan.target.what,
                        "changes": plan.is_change(), "diff": of_plan(plan, Paint::plain()),
                        "backup": backup, "left": plan.left,
                    })
                })
                .collect();
            json!({
                "program": work.client.command(), "agent_id": work.station.agent,
                "installed": work.installed.as_ref().map(|found| &found.file),
                "version": work.installed.as_ref().and_then(|found| found.version.as_ref()),
                "files": files, "notes": notes(work, direction),
            })
        })
        .collect();
    json!({ "applied": is_applied, "undo": direction == Direction::Undo, "programs": programs })
}
