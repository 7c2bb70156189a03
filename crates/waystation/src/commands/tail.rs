//! Following a thread live.

use anyhow::Result;
use serde_json::{Value, json};

use crate::cli::Global;
use crate::paths::Place;
use crate::{failure, output, owner, reach};

/// Prints messages as they arrive, until interrupted. An owner that goes away is waited for.
pub(crate) async fn run(
    place: &Place,
    global: &Global,
    thread: &str,
    since: Option<i64>,
) -> Result<()> {
    tokio::select! {
        ended = follow(place, global, thread, since) => ended,
        () = owner::asked_to_stop() => Ok(()),
    }
}

async fn follow(place: &Place, global: &Global, thread: &str, since: Option<i64>) -> Result<()> {
    let config = place.config()?;
    let greeting = reach::person(&place.environment, &config.workspace);
    let mut client = reach::connect(place, &greeting).await?;
    let mut since = if let Some(since) = since {
        since
    } else {
        let thread = json!({ "thread_id": thread });
        let called = client.call("get_thread", &thread).await.map_err(failure::of_client)?;
        let head = called.answer.get("head_seq").and_then(Value::as_i64).unwrap_or(0);
        (head - 10).max(0)
    };
    loop {
        let read = json!({ "thread_id": thread, "since_seq": since, "limit": 200 });
        match client.call("read_messages", &read).await {
            Ok(called) => {
                print(global, &called.answer, &called.brief)?;
                since = called.answer.get("next_seq").and_then(Value::as_i64).unwrap_or(since);
                if called.answer.get("has_more") == Some(&Value::Bool(true)) {
                    continue;
                }
            }
            Err(edge::local::ClientError::Edge(_)) => {
                client = reach::connect(place, &greeting).await?;
                continue;
            }
            Err(error) => return Err(failure::of_client(error)),
        }
        let wait = json!({ "thread_id": thread, "since_seq": since, "timeout_ms": 55_000 });
        match client.call("wait_for_messages", &wait).await {
            Ok(_) => {}
            Err(edge::local::ClientError::Edge(_)) => {
                client = reach::connect(place, &greeting).await?;
            }
            Err(error) => return Err(failure::of_client(error)),
        }
    }
}

fn print(global: &Global, answer: &Value, brief: &str) -> Result<()> {
    let messages = answer.get("messages").and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else { return Ok(()) };
    if global.json {
        for message in messages {
            output::line(&message.to_string())?;
        }
        return Ok(());
    }
    output::line(output::safe(brief).trim_end())
}
