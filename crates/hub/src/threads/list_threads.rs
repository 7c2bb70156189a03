//! Listing threads.

use protocol::{Scope, ThreadId, ThreadStatus, ThreadType, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::ThreadFilter;

use crate::call::Call;
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// List the threads you may see, the most recently active first, with how much you have not read.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListThreads {
    /// Only threads that stand so.
    status: Option<ThreadStatus>,
    /// Only threads of this sort.
    #[serde(rename = "type")]
    thread_type: Option<ThreadType>,
    /// Only threads this agent takes part in.
    #[schemars(length(max = limits::NAME_CHARS_MAX))]
    participant: Option<String>,
    /// Only threads whose title holds this text, in any case.
    #[schemars(length(max = limits::TITLE_CHARS_MAX))]
    title: Option<String>,
    /// Only threads with messages of others you have not read.
    unread_only: Option<bool>,
    /// How many threads, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of threads.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListThreadsOutput {
    /// The threads.
    threads: Vec<ThreadLine>,
    /// Pass this as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// One thread of a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ThreadLine {
    /// The thread.
    thread_id: ThreadId,
    /// What it is about.
    title: String,
    /// What sort of thread it is.
    #[serde(rename = "type")]
    thread_type: ThreadType,
    /// Where it stands.
    status: ThreadStatus,
    /// The number of its newest message.
    head_seq: i64,
    /// How far you have acknowledged.
    last_read_seq: i64,
    /// Messages of others after that, counted up to 1,000.
    unread: i64,
    /// Whether the loop guard holds it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    paused: bool,
    /// When anything last happened in it.
    updated_at: Timestamp,
}

impl Operation for ListThreads {
    const NAME: &'static str = "list_threads";
    const ROUTE: Route = Route::get("/v1/threads");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    const IS_BRIEF: bool = true;
    type Output = ListThreadsOutput;

    async fn run(self, call: &Call) -> Result<ListThreadsOutput> {
        let caller = call.caller();
        let title = self.title.unwrap_or_default();
        if !title.is_empty() {
            validate::line(&title, limits::TITLE_CHARS_MAX).field("title")?;
        }
        let participant = self.participant.unwrap_or_default();
        if !participant.is_empty() {
            validate::name(&participant).field("participant")?;
        }
        let limit = page::size(self.limit)?;
        let filter = ThreadFilter {
            workspace: caller.workspace_id.clone(),
            member: if caller.role.has_authority() {
                String::new()
            } else {
                caller.agent_id.clone()
            },
            participant,
            status: self.status,
            thread_type: self.thread_type,
            title_part: escape_like(&title),
            before: self.cursor.as_deref().map(read_cursor).transpose()?,
            reader: caller.agent_id.clone(),
            unread_only: self.unread_only.unwrap_or(false),
            limit: limit + 1,
        };
        call.read(move |tx| {
            let mut rows = tx.list_threads(&filter)?;
            let more = rows.len() > limit;
            rows.truncate(limit);
            let next_cursor = rows
                .last()
                .filter(|_| more)
                .map(|last| format!("{:x}-{:x}", last.thread.updated.as_ms(), last.thread.row));
            let mut threads = Vec::with_capacity(rows.len());
            for listed in rows {
                let (thread, read) = (listed.thread, listed.last_read_seq);
                let unread = if thread.head_seq > read {
                    tx.unread(thread.row, read, &filter.reader, limits::UNREAD_COUNT_MAX)?
                } else {
                    0
                };
                threads.push(ThreadLine {
                    thread_id: thread.id,
                    title: thread.title,
                    thread_type: thread.thread_type,
                    status: thread.status,
                    head_seq: thread.head_seq,
                    last_read_seq: read,
                    unread,
                    paused: thread.paused.is_some(),
                    updated_at: thread.updated,
                });
            }
            Ok(ListThreadsOutput { threads, next_cursor })
        })
        .await
    }

    fn brief(output: &ListThreadsOutput) -> String {
        if output.threads.is_empty() {
            return "no threads".to_owned();
        }
        let line = |thread: &ThreadLine| {
            let paused = if thread.paused { ", paused" } else { "" };
            format!(
                "{} {}{paused}, {} unread of {}: {}",
                thread.thread_id, thread.status, thread.unread, thread.head_seq, thread.title
            )
        };
        output.threads.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn read_cursor(text: &str) -> Result<(Timestamp, i64)> {
    let parts = text.split_once('-').and_then(|(ms, row)| {
        Some((i64::from_str_radix(ms, 16).ok()?, i64::from_str_radix(row, 16).ok()?))
    });
    match parts {
        Some((ms, row)) => Ok((Timestamp::from_ms(ms), row)),
        None => Err(Error::invalid("cursor", "must be next_cursor of an earlier page")),
    }
}

/// Text that `LIKE` takes literally.
fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
