//! Reviews: one agent writes, another looks, and the hub wakes whoever is next.

use anyhow::{Context, Result, bail};
use edge::local::Client;
use serde_json::{Value, json};

use super::agents::wakes_table;
use crate::cli::{Global, ReviewCommand};
use crate::paint::Paint;
use crate::paths::Place;
use crate::{failure, output, reach, surroundings};

/// Wakes that are shown.
const WAKES_SHOWN: u32 = 20;

/// What is to be reviewed, and by whom.
struct Review<'a> {
    title: &'a str,
    author: &'a str,
    reviewer: &'a str,
    task: Option<&'a str>,
}

/// `waystation review`.
pub(crate) async fn run(place: &Place, global: &Global, command: ReviewCommand) -> Result<()> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace)?;
    let mut hub = reach::connect(place, &greeting).await?;
    match command {
        ReviewCommand::Start { title, author, reviewer, task } => {
            let task = task.as_deref();
            let review = Review { title: &title, author: &author, reviewer: &reviewer, task };
            start(&mut hub, global, &review).await
        }
        ReviewCommand::Show { thread } => show(&mut hub, global, &thread).await,
    }
}

async fn start(hub: &mut Client, global: &Global, review: &Review<'_>) -> Result<()> {
    if review.author == review.reviewer {
        bail!("the author cannot be the reviewer: nobody verifies their own work");
    }
    let opened = json!({
        "title": review.title, "type": "workflow", "participants": [review.author, review.reviewer],
    });
    let opened = call(hub, "create_thread", &opened).await?;
    let thread = text(&opened, "thread_id").to_owned();
    let metadata = super::compact(json!({
        "protocol": "review", "author": review.author, "reviewer": review.reviewer,
        "task_id": review.task.filter(|task| protocol::validate::name(task).is_ok()),
    }));
    let opening = json!({ "thread_id": thread, "body": opening(review), "metadata": metadata });
    let posted = call(hub, "post_message", &opening).await;
    let posted = posted.with_context(|| {
        format!("{thread} is open, but nobody was told; post the task there, or start again")
    })?;
    let sessions = call(hub, "list_sessions", &json!({ "limit": 200 })).await?;
    let seen = [review.author, review.reviewer].map(|agent| seen(&sessions, agent));
    if global.json {
        return output::json(&json!({
            "thread_id": thread, "message_id": posted.get("message_id"), "seq": posted.get("seq"),
            "author": { "agent_id": review.author, "status": seen.first() },
            "reviewer": { "agent_id": review.reviewer, "status": seen.last() },
        }));
    }
    let [author, reviewer] = seen;
    let width = review.author.len().max(review.reviewer.len());
    output::line(&format!(
        "opened {thread}: {}\n  author    {:<width$}  {}\n  reviewer  {:<width$}  {}\n\
         Both were told how the review goes. Each is woken when the other posts; nobody has to wait.\n\
         \nNext:\n  waystation tail {thread}          # follow it live\n  \
         waystation review show {thread}   # summary, open findings, wakes",
        output::safe(review.title),
        review.author,
        presence(author.as_deref(), review.author, "codex"),
        review.reviewer,
        presence(reviewer.as_deref(), review.reviewer, "claude"),
    ))
}

/// The status of an agent's best session: the list begins with the one heard of last.
fn seen(sessions: &Value, agent: &str) -> Option<String> {
    let sessions = sessions.get("sessions").and_then(Value::as_array)?;
    let of_agent = || sessions.iter().filter(|session| text(session, "agent_id") == agent);
    let online = of_agent().find(|session| text(session, "status") != "offline");
    online.or_else(|| of_agent().next()).map(|session| text(session, "status").to_owned())
}

fn presence(status: Option<&str>, agent: &str, program: &str) -> String {
    match status {
        Some(status) => output::safe(status),
        None => format!("never seen here; start it with waystation run {agent} -- {program}"),
    }
}

/// What both are told. It is a message like any other: they read it in the thread.
fn opening(review: &Review<'_>) -> String {
    let Review { title, author, reviewer, task } = review;
    let task = task.map_or_else(String::new, |task| format!("\nTask: {task}"));
    format!(
        "Review: {title}{task}\nAuthor: {author}. Reviewer: {reviewer}.\n\n\
         How this goes. Steps are events: post_message with kind \"event\" and metadata.event_type.\n\
         1. {author} does the work, commits it, and says here what to look at (metadata.commit).\n\
         2. {reviewer} looks at it and posts finding_reported for each mistake: what is wrong in the \
         body; severity (critical, high, medium, low), file and line in metadata.\n\
         3. {author} fixes it and posts fix_pushed with metadata.commit, in_reply_to the finding.\n\
         4. {reviewer} checks each fix and posts finding_verified, or finding_rejected with the reason, \
         in_reply_to the fix.\n\
         5. When nothing is open, {reviewer} posts thread_resolved. If you cannot agree, post \
         thread_escalated, and a human decides.\n\
         After reading, call ack_read. Then end your turn: you are woken when the other has posted. \
         Do not poll."
    )
}

async fn show(hub: &mut Client, global: &Global, thread: &str) -> Result<()> {
    let asked = json!({ "thread_id": thread });
    let found = call(hub, "get_thread", &asked).await?;
    let summary = call(hub, "summarize_thread", &asked).await?;
    let wakes = json!({ "thread_id": thread, "limit": WAKES_SHOWN });
    let wakes = call(hub, "list_wakes", &wakes).await?;
    if global.json {
        return output::json(&json!({
            "thread": found, "summary": summary, "wakes": wakes.get("wakes"),
        }));
    }
    let participants = found.get("participants").and_then(Value::as_array);
    let participants = participants.into_iter().flatten().filter_map(Value::as_str);
    let participants = participants.collect::<Vec<_>>().join(", ");
    let mut lines = vec![
        format!("{} ({}, {participants})", text(&found, "title"), text(&found, "status")),
        text(&summary, "summary").to_owned(),
    ];
    let items = summary.get("open_items").and_then(Value::as_array).into_iter().flatten();
    lines.extend(items.map(|item| {
        let seq = item.get("seq").and_then(Value::as_i64).unwrap_or(0);
        format!("- open #{seq}: {}", text(item, "text"))
    }));
    let mut shown = output::safe(&lines.join("\n"));
    if wakes.get("wakes").and_then(Value::as_array).is_some_and(|wakes| !wakes.is_empty()) {
        let (width, _) = surroundings::size();
        shown.push_str("\n\n");
        shown.push_str(&wakes_table(&wakes).lines(width, Paint::of_stdout()).join("\n"));
    }
    output::line(&shown)
}

async fn call(hub: &mut Client, operation: &str, input: &Value) -> Result<Value> {
    Ok(hub.call(operation, input).await.map_err(failure::of_client)?.answer)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_told_how_the_review_goes() {
        let review = Review {
            title: "Profile mapper",
            author: "coder",
            reviewer: "critic",
            task: Some("TASK-219"),
        };
        insta::assert_snapshot!(opening(&review));
    }
}
