//! Code and what is run over it: pushes, checks, workflows, deployments.

use connector_api::{Inbound, Intent};
use protocol::limits::inbound as limits;
use serde_json::{Value, json};

use super::map::{Said, page};
use crate::foreign::Foreign;
use crate::words::{key, moment, short, shown, title, under};

/// Ends of a run that somebody should look into.
const FAILURES: [&str; 3] = ["failure", "timed_out", "startup_failure"];

/// `push`.
pub(super) fn push(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let payload = said.payload;
    let reference = payload.text("ref").unwrap_or_default();
    let branch = branch(reference);
    let commits = payload.list("commits");
    inbound.thread_key = format!("github:{}@{reference}", said.place());
    inbound.title = title(&format!("{}@{branch}", said.place()));
    let what =
        match (payload.is_set("created"), payload.is_set("deleted"), payload.is_set("forced")) {
            (_, true, _) => format!("deleted {branch}"),
            (true, _, _) => format!("created {branch}"),
            (_, _, true) => format!("force-pushed to {branch}"),
            _ => format!("pushed {} to {branch}", count(commits.len(), "commit")),
        };
    let lines: Vec<String> = commits.iter().take(limits::NAMED_MAX).map(commit).collect();
    inbound.text = under(&format!("{} {what}", inbound.actor.name), &lines.join("\n"));
    inbound.url = payload.text("compare").map(str::to_owned).or(inbound.url.take());
    let head = payload.object("head_commit");
    inbound.at = moment(head.and_then(|head| head.text("timestamp")));
    let after = payload.text("after").unwrap_or_default();
    for (name, value) in [
        ("ref", reference),
        ("before", payload.text("before").unwrap_or_default()),
        ("after", after),
    ] {
        inbound.facts.insert(name.to_owned(), value.into());
    }
    inbound.facts.insert("commits".to_owned(), commits.len().into());
    if !payload.is_set("deleted") && !after.is_empty() {
        inbound.address.insert("commit".to_owned(), after.into());
        inbound.remote_id = Some(format!("commit:{after}"));
    }
    let before = payload.text("before").unwrap_or_default();
    inbound.semantic_key = Some(key(["push", &said.place(), reference, before, after]));
    inbound
}

fn branch(reference: &str) -> &str {
    let rest = reference.strip_prefix("refs/heads/");
    rest.or_else(|| reference.strip_prefix("refs/tags/")).unwrap_or(reference)
}

fn count(number: usize, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// `1a2b3c4 Fix the checkout (Anna)`.
fn commit(commit: &Value) -> String {
    let sha: String = commit.text("id").unwrap_or_default().chars().take(7).collect();
    let message = commit.text("message").unwrap_or_default();
    let first = title(message.lines().next().unwrap_or_default());
    let author = commit.object("author").and_then(|author| author.text("name"));
    format!("{sha} {first} ({})", title(author.unwrap_or("ghost")))
}

/// `check_run`, `check_suite`, `workflow_run`, `workflow_job`: something ran over a commit.
pub(super) fn check(said: &Said<'_>, field: &str) -> Inbound {
    let mut inbound = said.begin();
    let run = said.payload.object(field).unwrap_or(&Value::Null);
    let suite = run.object("check_suite").unwrap_or(&Value::Null);
    let sha = run.text("head_sha").unwrap_or_default();
    join(said, &mut inbound, run.list("pull_requests").first(), sha);
    let name = run.text("name").or_else(|| run.object("app")?.text("name")).unwrap_or(field);
    let conclusion = run.text("conclusion");
    let status = conclusion.or(run.text("status")).unwrap_or(said.action).replace('_', " ");
    let what = field.replace('_', " ");
    let head = format!("The {what} “{}”: {status}", title(name));
    let output = run.object("output").unwrap_or(&Value::Null);
    let summary = [output.text("title"), output.text("summary")];
    let summary: Vec<String> = summary.into_iter().flatten().map(shown).collect();
    let steps = failed_steps(run);
    inbound.text = under(&under(&head, &summary.join("\n\n")), &steps);
    inbound.url = page(run).or_else(|| run.text("details_url").map(str::to_owned));
    inbound.url = inbound.url.or_else(|| said.repository().and_then(page));
    let has_failed = conclusion.is_some_and(|conclusion| FAILURES.contains(&conclusion));
    if has_failed && said.action == "completed" && matches!(field, "check_run" | "workflow_run") {
        inbound.intent = Intent::Work;
    }
    let branch = run.text("head_branch").or(suite.text("head_branch"));
    for (fact, value) in [
        ("name", Some(name)),
        ("conclusion", conclusion),
        ("status", run.text("status")),
        ("sha", Some(sha)),
        ("branch", branch),
    ] {
        if let Some(value) = value {
            inbound.facts.insert(fact.to_owned(), title(value).into());
        }
    }
    inbound.at = ["completed_at", "updated_at", "started_at", "created_at"]
        .into_iter()
        .find_map(|name| moment(run.text(name)));
    inbound.remote_id = run.number("id").map(|id| format!("{}:{id}", field.replace('_', "")));
    let attempt = run.number("run_attempt").unwrap_or_default().to_string();
    let at = run.text("completed_at").or(run.text("started_at")).unwrap_or_default();
    let status = run.text("status").unwrap_or_default();
    let more = key([status, conclusion.unwrap_or_default(), &attempt, at]);
    inbound.semantic_key = said.semantic_key(run, &more);
    inbound
}

/// The steps of a job that went wrong.
fn failed_steps(run: &Value) -> String {
    let failed = run
        .list("steps")
        .iter()
        .filter(|step| step.text("conclusion").is_some_and(|end| FAILURES.contains(&end)));
    let names = failed.filter_map(|step| step.text("name")).map(title);
    names
        .take(limits::NAMED_MAX)
        .map(|name| format!("- failed: {name}"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// What concerns a commit belongs to its pull request, where GitHub names one; for a commit of a fork
/// it does not.
fn join(said: &Said<'_>, inbound: &mut Inbound, pull: Option<&Value>, sha: &str) {
    let short_sha: String = sha.chars().take(7).collect();
    inbound.thread_key = format!("github:{}@{sha}", said.place());
    inbound.title = format!("{}@{short_sha}", said.place());
    if let Some(number) = pull.and_then(|pull| pull.number("number")) {
        let name = format!("{}#{number}", said.place());
        inbound.thread_key = format!("github:{name}");
        inbound.title = name;
        inbound.address.insert("number".to_owned(), number.into());
        inbound.facts.insert("number".to_owned(), number.into());
    } else if !sha.is_empty() {
        inbound.address.insert("commit".to_owned(), sha.into());
    }
}

/// `status`: the older way to say how a check went.
pub(super) fn status(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let payload = said.payload;
    let sha = payload.text("sha").unwrap_or_default();
    join(said, &mut inbound, None, sha);
    let state = payload.text("state").unwrap_or_default();
    let context = payload.text("context").unwrap_or("status");
    let description = payload.text("description").unwrap_or_default();
    inbound.text = under(&format!("The status “{}”: {state}", title(context)), description);
    inbound.url = payload.text("target_url").map(str::to_owned).or(inbound.url.take());
    inbound.at = moment(payload.text("updated_at"));
    for (fact, value) in [("context", context), ("state", state), ("sha", sha)] {
        inbound.facts.insert(fact.to_owned(), title(value).into());
    }
    inbound.semantic_key = said.semantic_key(payload, state);
    inbound
}

/// `deployment` and `deployment_status`.
pub(super) fn deployment(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let deployment = said.payload.object("deployment").unwrap_or(&Value::Null);
    let status = said.payload.object("deployment_status");
    let environment = deployment.text("environment").unwrap_or("?");
    let reference = deployment.text("ref").unwrap_or_default();
    let id = deployment.number("id").unwrap_or_default();
    inbound.thread_key = format!("github:{}:deployment:{id}", said.place());
    inbound.title = title(&format!("{}: deployment to {environment}", said.place()));
    let state = status.and_then(|status| status.text("state")).unwrap_or("created");
    let description = status.unwrap_or(deployment).text("description").unwrap_or_default();
    let head = format!("The deployment of {} to {}: {state}", title(reference), title(environment));
    inbound.text = under(&head, description);
    inbound.at = moment(status.unwrap_or(deployment).text("updated_at"));
    let target = status.and_then(|status| status.text("target_url").or(status.text("log_url")));
    inbound.url = target.map(str::to_owned).or(inbound.url.take());
    if let Some(sha) = deployment.text("sha") {
        inbound.address.insert("commit".to_owned(), sha.into());
    }
    for (fact, value) in [("environment", environment), ("ref", reference), ("state", state)] {
        inbound.facts.insert(fact.to_owned(), short(value, limits::FACT_CHARS_MAX).into());
    }
    inbound.remote_id = Some(format!("deployment:{id}"));
    inbound.semantic_key = said.semantic_key(status.unwrap_or(deployment), state);
    inbound
}

/// `create` and `delete`: a branch or a tag.
pub(super) fn reference(said: &Said<'_>) -> Inbound {
    let mut inbound = said.begin();
    let reference = said.payload.text("ref").unwrap_or_default();
    let sort = said.payload.text("ref_type").unwrap_or("reference");
    let folder = if sort == "tag" { "refs/tags" } else { "refs/heads" };
    inbound.thread_key = format!("github:{}@{folder}/{reference}", said.place());
    inbound.title = title(&format!("{}@{reference}", said.place()));
    let verb = if said.event == "create" { "created" } else { "deleted" };
    inbound.text = format!("{} {verb} the {sort} {}", inbound.actor.name, title(reference));
    inbound.facts.insert("ref".to_owned(), json!(title(reference)));
    inbound.facts.insert("ref_type".to_owned(), json!(title(sort)));
    inbound
}
