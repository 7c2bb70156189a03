//! Waiting for what arrives in chats: the part of `wait_for_messages` that is about them.

use std::sync::Arc;
use std::time::Duration;

use store::{LinkRow, Tx};

use super::arrivals::{Interest, Position, Wanted};
use super::view::{ChatMessage, Shower};
use super::{rules, sight};
use crate::call::Call;
use crate::error::{Error, Result};

/// What somebody waits for.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChatWait {
    pub(crate) source: Option<String>,
    pub(crate) chat: Option<String>,
    pub(crate) sender: Option<String>,
    pub(crate) search: Option<String>,
    pub(crate) after: Option<String>,
    pub(crate) limit: usize,
}

/// What arrived.
#[derive(Debug, Default)]
pub(crate) struct ChatArrivals {
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) cursor: String,
    pub(crate) timed_out: bool,
    /// Whether more has arrived than is told here.
    pub(crate) truncated: bool,
    /// Whether nothing was missed meanwhile: every source that is waited for is up.
    pub(crate) complete: bool,
}

/// Waits until something arrives, or the time is up.
pub(crate) async fn wait(call: &Call, wait: ChatWait, timeout: Duration) -> Result<ChatArrivals> {
    let from = wait.after.as_deref().map(Position::parse).transpose().map_err(Error::of_chats)?;
    let wanted = Wanted {
        source: wait.source,
        chat: wait.chat,
        sender: wait.sender,
        search: wait.search,
        content_types: Vec::new(),
    };
    let limit = wait.limit;
    let mut watch = call.hub.live.watch();
    watch.add_chats();
    let (caller, hub) = (call.shared_caller(), Arc::clone(&call.hub));
    // Watch first, look second: what is committed in between rings the watch.
    let (interest, links, mut position) = call
        .read(move |tx| {
            let interest = Interest::of(tx, &caller, &wanted)?;
            let links = match &wanted.source {
                Some(source) => vec![sight::source(tx, &caller, source)?],
                None => sight::sources(tx, &caller)?,
            };
            Ok((interest, links, from.map_or_else(|| Position::now(tx), Ok)?))
        })
        .await
        .map_err(Error::of_chats)?;
    let interest = Arc::new(interest);
    let deadline = tokio::time::sleep(timeout);
    tokio::pin!(deadline);
    loop {
        let (look, caller) = (Arc::clone(&interest), call.shared_caller());
        let workspace = caller.workspace_id.clone();
        let end = call.read(Position::now).await?;
        let (messages, next, has_more) =
            call.read(move |tx| arrived(tx, &look, &workspace, (position, end), limit)).await?;
        position = next;
        let is_up = links.iter().all(|link| rules::is_connected(&rules::state(&hub, link)));
        if !messages.is_empty() {
            return Ok(ChatArrivals {
                messages,
                cursor: position.to_text(),
                timed_out: false,
                truncated: has_more,
                complete: is_up && !has_more,
            });
        }
        if has_more {
            continue;
        }
        let nothing = |timed_out| ChatArrivals {
            cursor: position.to_text(),
            timed_out,
            complete: is_up,
            ..ChatArrivals::default()
        };
        tokio::select! {
            () = watch.changed() => {}
            () = call.hub.stopping.cancelled() => return Ok(nothing(false)),
            () = &mut deadline => return Ok(nothing(true)),
        }
    }
}

/// What has arrived after a position, at most `limit` messages of it.
fn arrived(
    tx: &mut Tx<'_>,
    interest: &Interest,
    workspace: &str,
    (from, end): (Position, Position),
    limit: usize,
) -> Result<(Vec<ChatMessage>, Position, bool)> {
    let (arrived, mut position, has_more) = interest.after(tx, from, end)?;
    let links: Vec<LinkRow> = arrived.iter().map(|one| (*one.link).clone()).collect();
    let mut shower = Shower::new(&links);
    let mut messages = Vec::new();
    let is_cut = arrived.len() > limit;
    for one in arrived.into_iter().take(limit) {
        if is_cut && one.is_new {
            // The rest comes again, changes included: told twice is better than not at all.
            position = Position { message: one.message.row, change: from.change };
        }
        messages.extend(shower.show(tx, workspace, one.message)?);
    }
    Ok((messages, position, has_more || is_cut))
}
