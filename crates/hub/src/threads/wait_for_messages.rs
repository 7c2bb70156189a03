//! Waiting for messages: the one thing that reliably reaches an agent.

use std::sync::Arc;
use std::time::Duration;

use protocol::{Caller, Message, Scope, ThreadId, limits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{MessageRow, ThreadAccess, ThreadRow, Tx};

use super::read_messages::since_seq;
use super::{Tail, rules, view};
use crate::audit::Object;
use crate::call::Call;
use crate::chats::view::{self as chat_view, ChatMessage};
use crate::chats::wait::{self as chat_wait, ChatWait};
use crate::error::{Error, Result};
use crate::live::Watch;
use crate::operation::{Effect, Operation, Quota, Route};
use crate::page;

/// Wait for messages of others and return as soon as there are some, at most 55 s. With `thread_id` it
/// waits in one thread, from `since_seq` or your mark; without it in all of yours, from your marks.
/// Acknowledge with `ack_read`, or the same messages come again. With `source` it waits for what arrives
/// in chats instead, from `after` or from now.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaitForMessages {
    /// The thread; all of yours when left out.
    thread_id: Option<String>,
    /// For what comes after this number; only with `thread_id`.
    #[schemars(range(min = 0))]
    since_seq: Option<i64>,
    /// Your own messages too, for whoever looks on; only with `thread_id`.
    #[schemars(extend("x-unlisted" = true))]
    include_own: Option<bool>,
    /// Wait in chats of this source instead; `*` for all.
    source: Option<String>,
    /// Only in this chat of the source.
    chat: Option<String>,
    /// Only chat messages of this person.
    sender: Option<String>,
    /// Only chat messages that contain this text.
    #[schemars(length(min = 1, max = limits::SEARCH_QUERY_CHARS_MAX))]
    search: Option<String>,
    /// `cursor` of the answer before, for chats.
    after: Option<String>,
    /// Milliseconds to wait, default 30000, at most 55000; 0 looks once.
    #[schemars(range(max = limits::WAIT_MS_MAX))]
    timeout_ms: Option<u64>,
    /// How many messages, default 50, at most 200.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<u32>,
    /// Optional: must match your token.
    agent_id: Option<String>,
}

/// What arrived.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct WaitForMessagesOutput {
    /// The messages, in order within each thread.
    messages: Vec<Arc<Message>>,
    /// Where each of those threads stands.
    threads: Vec<WaitedThread>,
    /// What arrived in chats, in the order of arrival.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    chat_messages: Vec<ChatMessage>,
    /// Pass this as `after` to go on waiting in chats.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    /// Whether the time ran out with nothing to tell.
    timed_out: bool,
    /// For chats: whether nothing was missed, as every source is connected and everything is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// For chats: whether more has arrived; ask again with `cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<bool>,
}

/// Where a thread stands after what was returned.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WaitedThread {
    /// The thread.
    thread_id: ThreadId,
    /// Acknowledge up to here, or pass it as `since_seq`.
    next_seq: i64,
    /// Whether there is more to read right now.
    has_more: bool,
}

impl WaitedThread {
    /// After a message. Behind the last of those stand at most some that are left out.
    fn after(thread: &ThreadRow, seq: i64, is_last: bool) -> Self {
        let next_seq = if is_last { thread.head_seq } else { seq };
        Self { thread_id: thread.id, next_seq, has_more: next_seq < thread.head_seq }
    }
}

impl Operation for WaitForMessages {
    const NAME: &'static str = "wait_for_messages";
    const ROUTE: Route = Route::get("/v1/messages/wait");
    const SCOPE: Scope = Scope::ThreadsRead;
    const OTHER_SCOPE: Option<Scope> = Some(Scope::ChatsRead);
    const EFFECT: Effect = Effect::Read;
    const QUOTA: Quota = Quota::Waits;
    type Output = WaitForMessagesOutput;

    fn object(&self) -> Object<'_> {
        match (&self.thread_id, &self.source) {
            (Some(thread), _) => Object::named(thread),
            (None, Some(source)) => Object::Chat {
                source: Some(source.as_str()).filter(|source| *source != "*"),
                chat: self.chat.as_deref(),
            },
            (None, None) => Object::None,
        }
    }

    async fn run(self, call: &Call) -> Result<WaitForMessagesOutput> {
        rules::claim("agent_id", self.agent_id.as_deref(), &call.caller().agent_id)?;
        let since = since_seq(self.since_seq)?;
        if since.is_some() && self.thread_id.is_none() {
            return Err(Error::invalid("since_seq", "goes together with thread_id"));
        }
        let include_own = self.include_own.unwrap_or(false);
        if include_own && self.thread_id.is_none() {
            return Err(Error::invalid("include_own", "goes together with thread_id"));
        }
        let timeout_ms = self.timeout_ms.unwrap_or(limits::WAIT_MS_DEFAULT);
        if timeout_ms > limits::WAIT_MS_MAX {
            return Err(Error::invalid(
                "timeout_ms",
                format_args!("must be at most {}", limits::WAIT_MS_MAX),
            ));
        }
        let limit = page::size(self.limit)?;
        let timeout = Duration::from_millis(timeout_ms);
        if let Some(chats) = self.chats(limit)? {
            let found = chat_wait::wait(call, chats, timeout).await?;
            return Ok(WaitForMessagesOutput {
                chat_messages: found.messages,
                cursor: Some(found.cursor),
                timed_out: found.timed_out,
                complete: Some(found.complete),
                truncated: Some(found.truncated),
                ..WaitForMessagesOutput::default()
            });
        }
        if !call.caller().scopes.has(Self::SCOPE) {
            return Err(Error::MissingScope { scope: Self::SCOPE });
        }
        let thread = self.thread_id.as_deref().map(rules::thread_id).transpose()?;
        let asked = Asked { caller: call.shared_caller(), thread, since, include_own, limit };
        wait(call, Arc::new(asked), timeout).await
    }

    fn brief(output: &WaitForMessagesOutput) -> String {
        if !output.chat_messages.is_empty() {
            return chat_view::text_of_chats(&output.chat_messages);
        }
        if output.messages.is_empty() {
            return "nothing new".to_owned();
        }
        let block = |thread: &WaitedThread| {
            let of_thread = output.messages.iter().map(Arc::as_ref);
            let of_thread = of_thread.filter(|m| m.thread_id == thread.thread_id);
            format!("{}\n{}", thread.thread_id, view::lines(of_thread))
        };
        output.threads.iter().map(block).collect()
    }
}

impl WaitForMessages {
    /// What is asked of chats; nothing where threads are meant.
    fn chats(&self, limit: usize) -> Result<Option<ChatWait>> {
        let Some(source) = &self.source else {
            let fields = [
                ("chat", &self.chat),
                ("sender", &self.sender),
                ("search", &self.search),
                ("after", &self.after),
            ];
            return match fields.iter().find(|(_, value)| value.is_some()) {
                Some((field, _)) => Err(Error::invalid(*field, "goes together with source")),
                None => Ok(None),
            };
        };
        if self.thread_id.is_some() {
            return Err(Error::invalid("source", "cannot stand beside thread_id"));
        }
        Ok(Some(ChatWait {
            source: (source != "*").then(|| source.clone()),
            chat: self.chat.clone().filter(|chat| chat != "*"),
            sender: self.sender.clone(),
            search: self.search.clone(),
            after: self.after.clone(),
            limit,
        }))
    }
}

struct Asked {
    caller: Arc<Caller>,
    thread: Option<ThreadId>,
    since: Option<i64>,
    include_own: bool,
    limit: usize,
}

impl Asked {
    /// Whose messages are left out.
    fn left_out(&self) -> Option<&str> {
        (!self.include_own).then_some(self.caller.agent_id.as_str())
    }
}

async fn wait(call: &Call, asked: Arc<Asked>, timeout: Duration) -> Result<WaitForMessagesOutput> {
    let deadline = tokio::time::sleep(timeout);
    tokio::pin!(deadline);
    let mut watch = call.hub.live.watch();
    if asked.thread.is_none() {
        watch.add_member(&asked.caller.workspace_id, &asked.caller.agent_id);
    }
    loop {
        // Watch first, look second: what is committed in between rings the watch.
        let known = asked.thread.and_then(|thread| call.hub.live.thread_row(thread));
        match known {
            Some(row) => watch.add_thread(row),
            None => watch_rows(call, &asked, &mut watch).await?,
        }
        let found = look_now(call, &asked, known).await?;
        if !found.messages.is_empty() {
            return Ok(found);
        }
        if timeout.is_zero() {
            return Ok(WaitForMessagesOutput { timed_out: true, ..found });
        }
        tokio::select! {
            heard = rung(call, &asked, &watch) => heard?,
            () = call.hub.stopping.cancelled() => return Ok(found),
            () = &mut deadline => {
                // Nothing may have rung for what another hub wrote.
                let found = look_now(call, &asked, known).await?;
                let timed_out = found.messages.is_empty();
                return Ok(WaitForMessagesOutput { timed_out, ..found });
            }
        }
    }
}

/// Watches the caller's threads, or the one it asked for.
async fn watch_rows(call: &Call, asked: &Arc<Asked>, watch: &mut Watch) -> Result<()> {
    let asked = Arc::clone(asked);
    let thread = asked.thread;
    let find = move |tx: &mut Tx<'_>| match asked.thread {
        Some(id) => Ok(vec![rules::enter(tx, id, &asked.caller, "read")?.row]),
        None => Ok(tx.thread_rows_of(
            &asked.caller.workspace_id,
            &asked.caller.agent_id,
            limits::WAIT_THREADS_MAX + 1,
        )?),
    };
    let mut rows = call.read(find).await?;
    if let (Some(thread), [row]) = (thread, rows.as_slice()) {
        call.hub.live.know_thread(thread, *row);
    }
    if rows.len() > limits::WAIT_THREADS_MAX {
        rows.truncate(limits::WAIT_THREADS_MAX);
        if let Some(oldest) = rows.last() {
            watch.add_older(*oldest);
        }
    }
    for row in rows {
        watch.add_thread(row);
    }
    Ok(())
}

/// Waits until something happened that may be for the caller.
async fn rung(call: &Call, asked: &Arc<Asked>, watch: &Watch) -> Result<()> {
    loop {
        tokio::select! {
            () = watch.changed() => return Ok(()),
            rows = watch.older_changed() => {
                // Most of them are threads of others, and looking at all of one's own is dear.
                let Some(rows) = rows else { return Ok(()) };
                let asked = Arc::clone(asked);
                if call.read(move |tx| is_in_any(tx, &asked.caller, &rows)).await? {
                    return Ok(());
                }
            }
        }
    }
}

/// Whether the caller takes part in any of these threads.
fn is_in_any(tx: &mut Tx<'_>, caller: &Caller, rows: &[i64]) -> Result<bool> {
    for row in rows {
        let access = tx.thread_by_row(*row, &caller.agent_id)?;
        let is_in = |access: ThreadAccess| {
            access.is_member && access.thread.workspace == caller.workspace_id
        };
        if access.is_some_and(is_in) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What there is to tell right now.
async fn look_now(
    call: &Call,
    asked: &Arc<Asked>,
    row: Option<i64>,
) -> Result<WaitForMessagesOutput> {
    if let Some(found) = look_together(call, asked, row).await? {
        return Ok(found);
    }
    let asked = Arc::clone(asked);
    call.read(move |tx| look(tx, &asked)).await
}

/// The same from what was read once for everyone who waits in the thread.
/// Nothing when this caller has to look by itself.
async fn look_together(
    call: &Call,
    asked: &Asked,
    row: Option<i64>,
) -> Result<Option<WaitForMessagesOutput>> {
    let (Some(row), Some(since)) = (row, asked.since) else { return Ok(None) };
    // Asked for first, read second: what is committed in between makes it stale at once.
    let Some(version) = call.hub.store.thread_version(row) else { return Ok(None) };
    let Some(shared) = call.hub.live.tail(row, version) else { return Ok(None) };
    let read = || call.read(move |tx| Tail::read(tx, row));
    let Some(tail) = shared.get_or_try_init(read).await? else { return Ok(None) };
    let agent = &asked.caller.agent_id;
    let (thread, is_member) = tail.access(agent);
    rules::may_enter(thread, is_member, &asked.caller, "read")?;
    let Some(mut messages) = tail.after(since, asked.left_out()) else { return Ok(None) };
    let mut output = WaitForMessagesOutput::default();
    let is_all = messages.len() < asked.limit;
    messages.truncate(asked.limit);
    if let Some(last) = messages.last() {
        output.threads.push(WaitedThread::after(thread, last.seq, is_all));
        output.messages = messages;
    }
    Ok(Some(output))
}

/// What there is to tell right now, looked up for this caller alone.
fn look(tx: &mut Tx<'_>, asked: &Asked) -> Result<WaitForMessagesOutput> {
    let mut output = WaitForMessagesOutput::default();
    let threads: Vec<(ThreadRow, i64)> = match asked.thread {
        Some(id) => {
            let thread = rules::enter(tx, id, &asked.caller, "read")?;
            let since = match asked.since {
                Some(since) => since,
                None => {
                    tx.cursor(thread.row, &asked.caller.agent_id)?.map_or(0, |c| c.last_read_seq)
                }
            };
            vec![(thread, since)]
        }
        None => tx
            .unread_threads_of(
                &asked.caller.workspace_id,
                &asked.caller.agent_id,
                limits::WAIT_THREADS_MAX,
            )?
            .into_iter()
            .map(|listed| (listed.thread, listed.last_read_seq))
            .collect(),
    };
    let mut bytes_left = limits::PAGE_BYTES_MAX;
    for (thread, since) in threads {
        let room = asked.limit.saturating_sub(output.messages.len());
        if room == 0 || bytes_left == 0 {
            break;
        }
        let rows = match asked.left_out() {
            Some(reader) => {
                tx.messages_of_others_after(thread.row, since, reader, room, bytes_left)?
            }
            None => tx.messages_after(thread.row, since, room, bytes_left)?,
        };
        let Some(last) = rows.last() else { continue };
        bytes_left = bytes_left.saturating_sub(rows.iter().map(MessageRow::bytes).sum());
        let is_all = rows.len() < room && bytes_left > 0;
        output.threads.push(WaitedThread::after(&thread, last.seq, is_all));
        for row in rows {
            output.messages.push(Arc::new(view::message(thread.id, row)?));
        }
    }
    Ok(output)
}
