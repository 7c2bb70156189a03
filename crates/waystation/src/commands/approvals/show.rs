//! One proposal as a human needs it to decide: what is sent, where, why, what changed, and what was said
//! before.

use anyhow::Result;
use edge::local::Client;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::commands::diff::{self, Lines};
use crate::paint::Paint;
use crate::{failure, output};

/// Messages of the thread that are shown.
const EXCERPT_MESSAGES: i64 = 6;
/// Lines of each.
const EXCERPT_LINES: usize = 4;

/// `waystation approvals show`.
pub(super) async fn run(hub: &mut Client, global: &Global, id: &str) -> Result<()> {
    let proposal = get(hub, id).await?;
    if global.json {
        return output::answer(true, &proposal, "");
    }
    let paint = Paint::of_stdout();
    let excerpt = excerpt(hub, text(&proposal, "thread_id")).await?;
    output::line(&page(&proposal, &excerpt, paint))?;
    if matches!(text(&proposal, "state"), "waiting" | "expired") {
        let draft = number(&proposal, "version");
        output::line(&format!(
            "\nwaystation approvals approve {id} --draft {draft}\n\
             waystation approvals edit {id}\n\
             waystation approvals respond {id} --draft {draft} 'what to change'\n\
             waystation approvals reject {id} --draft {draft}"
        ))?;
    }
    Ok(())
}

/// A proposal with its steps.
pub(super) async fn get(hub: &mut Client, id: &str) -> Result<Value> {
    let called = hub.call("get_proposal", &json!({ "proposal_id": id })).await;
    Ok(called.map_err(failure::of_client)?.answer)
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn number(value: &Value, key: &str) -> i64 {
    value.get(key).and_then(Value::as_i64).unwrap_or_default()
}

/// What is sent and where, without the rest.
pub(super) fn draft(proposal: &Value, paint: Paint) -> String {
    let body = text(proposal, "text");
    let shown = output::safe(body);
    let mut lines = vec![
        format!(
            "{} wants to send draft {} to {}",
            paint.strong(&output::safe(text(proposal, "agent_id"))),
            number(proposal, "version"),
            paint.place(&output::safe(text(proposal, "place"))),
        ),
        String::new(),
    ];
    lines.extend(shown.lines().map(|line| format!("  {line}")));
    let hidden = shown.matches('\u{fffd}').count() - body.matches('\u{fffd}').count();
    if hidden > 0 {
        lines.push(String::new());
        lines.push(paint.bad(&format!(
            "{hidden} characters of it are hidden or steer terminals; they are shown as \u{fffd}"
        )));
    }
    lines.join("\n")
}

/// The documents that a draft cites, and where they are.
fn sources(proposal: &Value) -> String {
    let line = |cited: &Value| {
        let words = [text(cited, "title"), text(cited, "url")].join(" ");
        format!("[[ref:{}]] {}", text(cited, "id"), words.trim())
    };
    let cited = proposal.get("citations").and_then(Value::as_array);
    let cited = cited.map_or(&[][..], Vec::as_slice);
    cited.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn page(proposal: &Value, excerpt: &str, paint: Paint) -> String {
    let mut parts = vec![
        format!("{} is {}", text(proposal, "proposal_id"), text(proposal, "state")),
        draft(proposal, paint),
    ];
    let sources = sources(proposal);
    if !sources.is_empty() {
        parts.push(format!("Sources:\n{}", indented(&output::safe(&sources))));
    }
    let why = text(proposal, "why");
    if !why.trim().is_empty() {
        parts.push(format!("Why:\n{}", indented(&output::safe(why))));
    }
    if let Some(before) = earlier(proposal) {
        let names = format!("draft {} → {}", before.0, number(proposal, "version"));
        let now = text(proposal, "text");
        parts.push(diff::unified(&names, before.1, now, paint, Lines::Whole).trim_end().to_owned());
    }
    let said = steps(proposal);
    if !said.is_empty() {
        parts.push(said);
    }
    if !excerpt.is_empty() {
        parts.push(format!("The thread, at its end:\n{excerpt}"));
    }
    parts.join("\n\n")
}

/// The draft before the one that stands, or the one that a human changed.
fn earlier(proposal: &Value) -> Option<(i64, &str)> {
    let steps = proposal.get("steps")?.as_array()?;
    let now = text(proposal, "text");
    let mut drafts = steps.iter().filter(|step| text(step, "kind") == "drafted");
    let last = drafts.rfind(|step| text(step, "text") != now)?;
    Some((number(last, "version"), text(last, "text")))
}

/// What happened so far, beside the drafts.
fn steps(proposal: &Value) -> String {
    let steps = proposal.get("steps").and_then(Value::as_array);
    let steps = steps.map(Vec::as_slice).unwrap_or_default();
    let lines = steps.iter().map(|step| {
        let comment = match text(step, "comment") {
            "" => String::new(),
            comment => format!(": {}", output::safe(comment)),
        };
        format!(
            "  {} draft {} {} by {}{comment}",
            text(step, "at"),
            number(step, "version"),
            text(step, "kind"),
            output::safe(text(step, "actor")),
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The last messages of a thread.
async fn excerpt(hub: &mut Client, thread: &str) -> Result<String> {
    let found = hub.call("get_thread", &json!({ "thread_id": thread })).await;
    let found = found.map_err(failure::of_client)?.answer;
    let head = number(&found, "message_count").max(number(&found, "head_seq"));
    let since = (head - EXCERPT_MESSAGES).max(0);
    let input = json!({ "thread_id": thread, "since_seq": since, "limit": EXCERPT_MESSAGES });
    let page = hub.call("read_messages", &input).await.map_err(failure::of_client)?.answer;
    let messages = page.get("messages").and_then(Value::as_array);
    let shown = messages.map(Vec::as_slice).unwrap_or_default().iter().map(|message| {
        let body = output::safe(text(message, "body"));
        let body: Vec<&str> = body.lines().take(EXCERPT_LINES).collect();
        let sender = output::safe(text(message, "sender_agent_id"));
        format!("  {sender} ({}): {}", text(message, "trust"), body.join("\n    "))
    });
    Ok(shown.collect::<Vec<_>>().join("\n"))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}
