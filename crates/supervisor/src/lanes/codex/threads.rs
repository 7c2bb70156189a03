//! Threads of an app server: what they are doing, starting a turn, what waits in their queue.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::limits::{QUEUED_MAX, THREADS_LOADED_MAX};
use super::socket::{Connection, SocketError};
use super::thread_id::ThreadId;
use crate::session::Activity;

/// A thread that an app server has loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Thread {
    /// Its id.
    pub(super) id: ThreadId,
    /// The folder it works in.
    pub(super) cwd: Option<PathBuf>,
    /// What it is doing.
    pub(super) activity: Activity,
    /// Whether it is the work of a human's session: not a helper's, and kept on disk.
    pub(super) is_main: bool,
    /// Whether it takes turns from outside.
    pub(super) takes_turns: bool,
}

/// Reads a thread; `None` when this app server has not loaded it.
pub(super) async fn read(
    connection: &mut Connection,
    id: &ThreadId,
) -> Result<Option<Thread>, SocketError> {
    match connection.call("thread/read", json!({"threadId": id.as_str()})).await {
        Ok(answer) => Ok(answer.get("thread").and_then(parse)),
        Err(SocketError::Refused { message, .. }) if is_absence(&message) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The threads of humans' sessions that an app server has loaded.
pub(super) async fn main_threads(connection: &mut Connection) -> Result<Vec<Thread>, SocketError> {
    let answer = connection.call("thread/loaded/list", json!({})).await?;
    let ids = answer.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut threads = Vec::new();
    for id in ids.iter().filter_map(Value::as_str).filter_map(ThreadId::parse) {
        if threads.len() >= THREADS_LOADED_MAX {
            break;
        }
        threads.extend(read(connection, &id).await?.filter(|thread| thread.is_main));
    }
    Ok(threads)
}

/// Starts a turn. The thread must be idle: an active one would take the text into its running turn,
/// and lose it when that is interrupted.
pub(super) async fn start_turn(
    connection: &mut Connection,
    id: &ThreadId,
    wake_id: &str,
    text: &str,
) -> Result<(), SocketError> {
    let turn = json!({
        "threadId": id.as_str(),
        "input": [{"type": "text", "text": text}],
        "clientUserMessageId": wake_id,
        "turnTrigger": "waystation",
    });
    connection.call("turn/start", turn).await.map(drop)
}

/// Whether a wake waits in the queue of a thread.
pub(super) async fn is_queued(
    connection: &mut Connection,
    id: &ThreadId,
    wake_id: &str,
) -> Result<bool, SocketError> {
    let question = json!({"threadId": id.as_str(), "limit": QUEUED_MAX});
    let answer = connection.call("thread/queue/list", question).await?;
    let queued = answer.get("data").and_then(Value::as_array);
    Ok(queued.is_some_and(|queued| queued.iter().any(|one| one.to_string().contains(wake_id))))
}

fn is_absence(message: &str) -> bool {
    message.contains("not loaded") || message.contains("no rollout found")
}

fn parse(thread: &Value) -> Option<Thread> {
    let activity = match thread.pointer("/status/type").and_then(Value::as_str) {
        Some("notLoaded") => return None,
        // After an error of the model the thread waits for its human like after any other turn.
        Some("idle" | "systemError") => Activity::Idle,
        Some("active") => active(thread),
        _ => Activity::Unknown,
    };
    let is_set = |name: &str| thread.get(name).is_some_and(|value| !value.is_null());
    let is_ephemeral = thread.get("ephemeral").and_then(Value::as_bool).unwrap_or(false);
    Some(Thread {
        id: ThreadId::parse(thread.get("id")?.as_str()?)?,
        cwd: thread.get("cwd").and_then(Value::as_str).map(PathBuf::from),
        activity,
        is_main: !is_ephemeral && !is_set("parentThreadId"),
        takes_turns: thread.get("canAcceptDirectInput").and_then(Value::as_bool).unwrap_or(true),
    })
}

fn active(thread: &Value) -> Activity {
    let flags = thread.pointer("/status/activeFlags").and_then(Value::as_array);
    let is_asking = flags.is_some_and(|flags| {
        flags.iter().filter_map(Value::as_str).any(|flag| flag.starts_with("waitingOn"))
    });
    if is_asking { Activity::Dialog } else { Activity::Busy }
}
