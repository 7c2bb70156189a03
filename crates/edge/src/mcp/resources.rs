//! Threads as resources, read as text and as JSON; and chats beside them.

use rmcp::model::{
    CacheScope, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::chats::{self, items, text};
use super::failure;
use super::server::Server;
use super::uri::{TEMPLATE, ThreadUri};
use protocol::limits::mcp as limits;

/// The caller's threads, the most recently active first, and on the first page the chats in which
/// something was said last.
pub(super) async fn list(
    server: &Server,
    page: Option<PaginatedRequestParams>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = page.and_then(|page| page.cursor);
    let with_chats = cursor.is_none() && server.may(context, "list_chats");
    let mut result = if with_chats && !server.may(context, "list_threads") {
        ListResourcesResult::default()
    } else {
        list_threads(server, cursor, context).await?
    };
    if with_chats {
        result.resources.extend(chats::recent(server, context).await?);
    }
    Ok(result.with_ttl_ms(limits::THREADS_TTL_MS).with_cache_scope(CacheScope::Private))
}

async fn list_threads(
    server: &Server,
    cursor: Option<String>,
    context: &RequestContext<RoleServer>,
) -> Result<ListResourcesResult, ErrorData> {
    let input = match cursor {
        Some(cursor) => json!({ "cursor": cursor }),
        None => json!({}),
    };
    let mut answer = server.ask(context, "list_threads", input).await?.value();
    let resources = items(&answer, "threads").map(resource).collect();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = match answer.get_mut("next_cursor").map(Value::take) {
        Some(Value::String(cursor)) => Some(cursor),
        _ => None,
    };
    Ok(result)
}

/// The templates.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let template = ResourceTemplate::new(TEMPLATE, "thread")
        .with_title("Thread")
        .with_description(
            "The newest 50 messages of a thread, as text and as JSON. Append ?since_seq=N&limit=M \
             to read from elsewhere. Subscribe to hear when something happens in it.",
        )
        .with_mime_type("text/plain");
    ListResourceTemplatesResult::with_all_items(vec![template, chats::template()])
        .with_ttl_ms(limits::TOOLS_TTL_MS)
        .with_cache_scope(CacheScope::Private)
}

/// A thread as lines of text and as a page of JSON, or a chat as lines of text.
pub(super) async fn read(
    server: &Server,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let read = if chats::is_address(uri) {
        chats::read(server, uri, context).await
    } else {
        read_thread(server, uri, context).await
    };
    read.map_err(|error| failure::about(uri, error))
}

async fn read_thread(
    server: &Server,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let thread = ThreadUri::parse(uri).ok_or_else(failure::unknown_resource)?;
    let about = server.ask(context, "get_thread", json!({ "thread_id": thread.thread_id })).await?;
    let head_seq = about.value().get("head_seq").and_then(Value::as_i64).unwrap_or_default();
    let limit = thread.limit.unwrap_or(limits::RESOURCE_MESSAGES);
    let since_seq = thread.since_seq.unwrap_or_else(|| head_seq.saturating_sub(limit).max(0));
    let input = json!({ "thread_id": thread.thread_id, "since_seq": since_seq, "limit": limit });
    let page = server.ask(context, "read_messages", input).await?;
    let text = format!("{}\n{}", about.brief(), page.brief());
    let page = String::from_utf8(page.json().into())
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let contents = vec![
        ResourceContents::text(text, uri),
        ResourceContents::text(page, uri).with_mime_type("application/json"),
    ];
    // Only a subscription says when it changes, so nothing may be taken for the newest.
    let result = ReadResourceResult::new(contents);
    Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

fn resource(thread: &Value) -> Resource {
    let number = |field: &str| thread.get(field).and_then(Value::as_i64).unwrap_or_default();
    let id = text(thread, "thread_id");
    let about = format!(
        "{}, {} unread of {} messages",
        text(thread, "status"),
        number("unread"),
        number("head_seq"),
    );
    Resource::new(ThreadUri::of(id), id)
        .with_title(text(thread, "title"))
        .with_description(about)
        .with_mime_type("text/plain")
}
