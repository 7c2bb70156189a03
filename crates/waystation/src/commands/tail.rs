//! Following a thread live.

use std::time::Duration;

use anyhow::Result;
use edge::local::{Called, Client, ClientError};
use serde_json::{Value, json};

use crate::cli::Global;
use crate::paths::Place;
use crate::{failure, output, owner, reach};

/// After an owner that went away, or could not answer.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(100);

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
    let mut hub = Followed { place, workspace: place.config()?.workspace, client: None };
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

/// The hub, whoever owns it at the moment.
struct Followed<'a> {
    place: &'a Place,
    workspace: String,
    client: Option<Client>,
}

impl Followed<'_> {
    /// Asks for something that changes nothing, until somebody answers.
    async fn call(&mut self, operation: &str, input: &Value) -> Result<Called> {
        loop {
            let mut client = match self.client.take() {
                Some(client) => client,
                None => self.connect().await?,
            };
            match client.call(operation, input).await {
                Ok(called) => {
                    self.client = Some(client);
                    return Ok(called);
                }
                Err(ClientError::Edge(error)) => tracing::debug!(%error, "the owner went away"),
                Err(ClientError::Refused(error)) if is_passing(&error) => {}
                Err(error) => return Err(failure::of_client(error)),
            }
            tokio::time::sleep(ASK_AGAIN_AFTER).await;
        }
    }

    async fn connect(&self) -> Result<Client> {
        let greeting = reach::person(&self.place.environment, &self.workspace)?;
        reach::connect(self.place, &greeting).await
    }
}

/// Whether the same question may be answered later.
fn is_passing(error: &Value) -> bool {
    error.get("retryable") == Some(&Value::Bool(true))
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
    output::line(output::safe(brief).trim_end())
}
