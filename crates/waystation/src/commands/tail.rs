//! Following a thread live.

use anyhow::Result;
use serde_json::{Value, json};

use super::followed::Followed;
use super::page;
use crate::cli::Global;
use crate::paths::Place;
use crate::{output, owner};

/// Prints messages as they arrive, until interrupted or not read any more. An owner that goes away is waited for.
pub(crate) async fn run(
    place: &Place,
    global: &Global,
    thread: &str,
    since: Option<i64>,
) -> Result<()> {
    tokio::select! {
        ended = follow(place, global, thread, since) => ended,
        () = owner::asked_to_stop() => Ok(()),
        () = output::nobody_reads() => Ok(()),
    }
}

async fn follow(place: &Place, global: &Global, thread: &str, since: Option<i64>) -> Result<()> {
    let mut hub = Followed::new(place)?;
    let mut since = if let Some(since) = since {
        since
    } else {
        let called = hub.call("get_thread", &json!({ "thread_id": thread })).await?;
        let head = called.answer.get("head_seq").and_then(Value::as_i64).unwrap_or(0);
        (head - 10).max(0)
    };
    loop {
        let read = json!({ "thread_id": thread, "since_seq": since, "limit": 200 });
        let called = hub.call("read_messages", &read).await?;
        print(global, &called.answer, &called.brief)?;
        since = called.answer.get("next_seq").and_then(Value::as_i64).unwrap_or(since);
        if called.answer.get("has_more") != Some(&Value::Bool(true)) {
            // Whoever looks on sees what they post themselves too.
            let wait = json!({
                "thread_id": thread, "since_seq": since, "include_own": true, "timeout_ms": 55_000,
            });
            hub.call("wait_for_messages", &wait).await?;
        }
    }
}

fn print(global: &Global, answer: &Value, brief: &str) -> Result<()> {
    let messages = answer.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else { return Ok(()) };
    if global.json {
        for message in messages {
            output::json_line(message)?;
        }
        return Ok(());
    }
    // It reads on by itself.
    output::line(&output::safe(page::without_hint(brief)))
}
