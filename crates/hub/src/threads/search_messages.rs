//! Searching messages.

use std::time::Duration;

use protocol::{Caller, MessageId, MessageKind, Scope, ThreadId, Timestamp, limits, validate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{MessageRow, SearchHit, SearchQuery, SearchScope, StoreError, Tx, highlight};

use super::rules;
use crate::audit::Object;
use crate::call::Call;
use crate::error::{Checked, Error, Result};
use crate::operation::{Effect, Operation, Route};
use crate::page;

/// How long a search waits for the index to take in what was posted before it.
const CATCH_UP: Duration = Duration::from_millis(250);
const CATCH_UP_STEP: Duration = Duration::from_millis(5);
const SNIPPET_CHARS_MAX: usize = 240;

/// Search the messages you may see, the newest first. Words are joined by AND; "a phrase", prefix* and
/// -without work too.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchMessages {
    /// What to look for.
    #[schemars(length(min = 1, max = limits::SEARCH_QUERY_CHARS_MAX))]
    query: String,
    /// Only in this thread.
    thread_id: Option<String>,
    /// Only messages of this agent.
    sender: Option<String>,
    /// How many, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of messages that were found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchMessagesOutput {
    /// What was found, the newest first.
    hits: Vec<Hit>,
    /// Pass this as `cursor` for what is older; only after a long search may that be nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether the search stopped before it had looked everywhere; `next_cursor` goes on from there.
    truncated: bool,
    /// Whether the newest messages were not in the index yet.
    index_behind: bool,
}

/// One message that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Hit {
    /// The thread.
    thread_id: ThreadId,
    /// The message.
    message_id: MessageId,
    /// Its number in the thread.
    seq: i64,
    /// Who sent it.
    sender_agent_id: String,
    /// Talk or event.
    kind: MessageKind,
    /// When it was sent.
    created_at: Timestamp,
    /// The text around the first word that was found.
    snippet: String,
}

impl Operation for SearchMessages {
    const NAME: &'static str = "search_messages";
    const ROUTE: Route = Route::get("/v1/messages/search");
    const SCOPE: Scope = Scope::ThreadsRead;
    const EFFECT: Effect = Effect::Read;
    const IS_BRIEF: bool = true;
    type Output = SearchMessagesOutput;

    fn object(&self) -> Object<'_> {
        Object::maybe(self.thread_id.as_deref())
    }

    async fn run(self, call: &Call) -> Result<SearchMessagesOutput> {
        validate::line(&self.query, limits::SEARCH_QUERY_CHARS_MAX).field("query")?;
        let limit = page::size(self.limit)?;
        let before = page::begin(self.cursor.as_deref())?;
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let index_behind = !catch_up(call).await?;
        let caller = call.shared_caller();
        let (scope, thread_row) = call.read(move |tx| visible(tx, &caller, thread)).await?;
        let found = call
            .hub
            .search
            .search(SearchQuery {
                text: self.query.clone(),
                workspace: call.caller().workspace_id.clone(),
                scope,
                sender: self.sender,
                thread_row,
                before,
                limit,
            })
            .await
            .map_err(explain)?;
        let (query, caller, rows) = (self.query, call.shared_caller(), found.hits);
        let hits = call.read(move |tx| load(tx, &caller, &query, &rows)).await?;
        Ok(SearchMessagesOutput {
            hits,
            next_cursor: found.next.map(page::cursor),
            truncated: found.truncated,
            index_behind,
        })
    }

    fn brief(output: &SearchMessagesOutput) -> String {
        let line = |hit: &Hit| {
            format!(
                "{} #{} {} {}: {}",
                hit.thread_id, hit.seq, hit.created_at, hit.sender_agent_id, hit.snippet
            )
        };
        let mut lines: Vec<String> = output.hits.iter().map(line).collect();
        if lines.is_empty() {
            lines.push("nothing found".to_owned());
        }
        if output.next_cursor.is_some() {
            lines.push("(there may be more: pass next_cursor as cursor)".to_owned());
        }
        lines.join("\n")
    }
}

/// A query that the index cannot read is the caller's to mend.
fn explain(error: StoreError) -> Error {
    match &error {
        StoreError::BadQuery(_) => {
            Error::Invalid { field: "query".to_owned(), message: error.to_string(), hint: None }
        }
        _ => error.into(),
    }
}

/// Waits a moment for the index to hold everything that is committed now.
async fn catch_up(call: &Call) -> Result<bool> {
    let newest = call.read(|tx| Ok(tx.newest_message_row()?)).await?;
    let mut waited = Duration::ZERO;
    while call.hub.search.indexed_upto() < newest {
        if waited >= CATCH_UP {
            return Ok(false);
        }
        tokio::time::sleep(CATCH_UP_STEP).await;
        waited += CATCH_UP_STEP;
    }
    Ok(true)
}

/// What the caller may find.
fn visible(
    tx: &mut Tx<'_>,
    caller: &Caller,
    thread: Option<ThreadId>,
) -> Result<(SearchScope, Option<i64>)> {
    let thread_row =
        thread.map(|id| rules::enter(tx, id, caller, "read")).transpose()?.map(|t| t.row);
    if caller.role.has_authority() || thread_row.is_some() {
        return Ok((SearchScope::Workspace, thread_row));
    }
    let rows =
        tx.thread_rows_of(&caller.workspace_id, &caller.agent_id, limits::SEARCH_THREADS_MAX)?;
    Ok((SearchScope::Threads(rows), None))
}

/// The messages behind the hits. The index is a view: what it says is checked once more.
fn load(tx: &mut Tx<'_>, caller: &Caller, query: &str, found: &[SearchHit]) -> Result<Vec<Hit>> {
    let mut hits = Vec::with_capacity(found.len());
    for hit in found {
        let Some(thread) = tx.thread_by_row(hit.thread_row, &caller.agent_id)? else { continue };
        let may = thread.is_member || caller.role.has_authority();
        if !may || thread.thread.workspace != caller.workspace_id {
            continue;
        }
        if let Some(message) = tx.message(hit.thread_row, hit.seq)? {
            hits.push(shown(thread.thread.id, message, query)?);
        }
    }
    Ok(hits)
}

fn shown(thread_id: ThreadId, message: MessageRow, query: &str) -> Result<Hit> {
    Ok(Hit {
        thread_id,
        message_id: message.id()?,
        seq: message.seq,
        kind: message.kind,
        created_at: message.created,
        snippet: highlight(&message.body, query, SNIPPET_CHARS_MAX),
        sender_agent_id: message.sender,
    })
}
