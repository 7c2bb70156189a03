//! Completion: the threads, sources and chats that a caller sees, by what was typed so far.

use std::collections::HashMap;

use protocol::ErrorCode as Code;
use protocol::chat::uri::TEMPLATE;
use protocol::fold::fold;
use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, Reference};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};

use super::chats::{items, text};
use super::server::Server;
use super::{failure, prompts, uri};
use protocol::limits::mcp as limits;

/// The template as people write it.
const SHORT_TEMPLATE: &str = "messages://{source}/{chat}";

/// What was found, and whether that is all there is.
struct Found {
    values: Vec<String>,
    is_all: bool,
}

/// `completion/complete`.
pub(super) async fn complete(
    server: &Server,
    request: &CompleteRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CompleteResult, ErrorData> {
    let typed = request.argument.value.as_str();
    let found = match (&request.r#ref, request.argument.name.as_str()) {
        (Reference::Resource(of), "thread_id") if of.uri == uri::TEMPLATE => {
            threads(server, typed, context).await?
        }
        (of, "source") if is_of_chats(of) => sources(server, typed, context).await?,
        (of, "chat") if is_of_chats(of) => {
            let source = request.context.as_ref().and_then(|known| known.get_argument("source"));
            chats(server, source.map(String::as_str), typed, context).await?
        }
        // The other parameters of an address are free text.
        (of, _) if is_of_chats(of) => Found { values: Vec::new(), is_all: true },
        _ => {
            let message = format!(
                "completion is for thread_id of {}, for source and chat of {SHORT_TEMPLATE}, and for \
                 the arguments of {}",
                uri::TEMPLATE,
                prompts::ANALYZE,
            );
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    answer(found)
}

fn is_of_chats(of: &Reference) -> bool {
    match of {
        Reference::Resource(of) => of.uri == TEMPLATE || of.uri == SHORT_TEMPLATE,
        Reference::Prompt(of) => of.name == prompts::ANALYZE,
        _ => false,
    }
}

fn answer(found: Found) -> Result<CompleteResult, ErrorData> {
    let Found { mut values, is_all } = found;
    // A total is only given where it is known.
    let total = if is_all { u32::try_from(values.len()).ok() } else { None };
    let has_more = !is_all || values.len() > CompletionInfo::MAX_VALUES;
    values.truncate(CompletionInfo::MAX_VALUES);
    let completion = CompletionInfo::with_pagination(values, total, has_more)
        .map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(completion))
}

/// Threads whose id begins with, or whose title holds, what was typed.
async fn threads(
    server: &Server,
    typed: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Found, ErrorData> {
    let input = json!({ "limit": protocol::limits::PAGE_MAX });
    let answer = server.ask(context, "list_threads", input).await?.value();
    let fits = |thread: &&Value| {
        begins(text(thread, "thread_id"), typed) || holds(text(thread, "title"), typed)
    };
    let values = items(&answer, "threads").filter(fits);
    let values = values.map(|thread| text(thread, "thread_id").to_owned()).collect();
    Ok(Found { values, is_all: answer.get("next_cursor").is_none_or(Value::is_null) })
}

/// Sources whose id or name holds what was typed.
async fn sources(
    server: &Server,
    typed: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Found, ErrorData> {
    let answer = server.ask(context, "list_sources", json!({})).await?.value();
    let fits =
        |source: &&Value| holds(text(source, "id"), typed) || holds(text(source, "name"), typed);
    let values = items(&answer, "sources").filter(fits);
    let values = values.map(|source| text(source, "id").to_owned()).collect();
    Ok(Found { values, is_all: true })
}

/// Chats whose name holds, or whose id begins with, what was typed: in the source chosen before, or
/// in all of them.
async fn chats(
    server: &Server,
    source: Option<&str>,
    typed: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Found, ErrorData> {
    let sources = match source {
        Some(source) => vec![source.to_owned()],
        None => sources(server, "", context).await?.values,
    };
    let is_every_source = sources.len() <= limits::LISTED_SOURCES_MAX;
    let mut found = Found { values: Vec::new(), is_all: is_every_source };
    for source in sources.iter().take(limits::LISTED_SOURCES_MAX) {
        let of_source = match chats_of(server, source, typed, context).await {
            Err(error) if failure::is(&error, Code::SourceNotFound) => continue,
            of_source => of_source?,
        };
        found.values.extend(of_source.values);
        found.is_all &= of_source.is_all;
    }
    Ok(found)
}

async fn chats_of(
    server: &Server,
    source: &str,
    typed: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Found, ErrorData> {
    let page = async |filter: Value| {
        let input = json!({
            "source": source, "filter": filter, "limit": protocol::limits::PAGE_MAX, "offline": true,
        });
        server.ask(context, "list_chats", input).await.map(|answer| answer.value())
    };
    let named = page(json!({ "name_pattern": typed })).await?;
    let mut found = Found { values: names(&named), is_all: is_whole(&named) };
    if !typed.is_empty() {
        let recent = page(json!({})).await?;
        let ids = items(&recent, "chats").map(|chat| text(chat, "id"));
        found.values.extend(ids.filter(|id| begins(id, typed)).map(str::to_owned));
        found.is_all &= is_whole(&recent);
    }
    Ok(found)
}

/// Each chat by its name, or by its id where the name would not tell it from another.
fn names(answer: &Value) -> Vec<String> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for chat in items(answer, "chats") {
        *count.entry(fold(text(chat, "name")).into_owned()).or_default() += 1;
    }
    let value = |chat: &Value| {
        let name = text(chat, "name");
        let is_unique = count.get(&*fold(name)) == Some(&1);
        if is_unique { name.to_owned() } else { text(chat, "id").to_owned() }
    };
    items(answer, "chats").map(value).collect()
}

fn is_whole(answer: &Value) -> bool {
    answer.get("truncated") == Some(&Value::Bool(false))
}

fn begins(text: &str, typed: &str) -> bool {
    fold(text).starts_with(&*fold(typed))
}

fn holds(text: &str, typed: &str) -> bool {
    fold(text).contains(&*fold(typed))
}
