//! Chats as resources: listed, and read as lines of text that nobody in them can forge.

use protocol::Timestamp;
use protocol::chat::lines::Note;
use protocol::chat::uri::{MessagesUri, TEMPLATE};
use rmcp::model::{
    CacheScope, MetaObject, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::{Map, Value, json};

use super::server::Server;
use protocol::limits::mcp as limits;

/// Whether a URI is meant for a chat, however it is written.
pub(crate) fn is_address(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("messages"))
}

/// The template of a chat.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(TEMPLATE, "chat")
        .with_title("Chat")
        .with_description(
            "The newest messages of a chat as lines `[timestamp] sender: content`, the oldest first. \
             source: an id of list_sources. chat: an id or name. since, before: 2025-01-13, \
             2025-01-13T09:30:00Z, 7d, yesterday. sender: a name or id. search: text they contain. \
             limit: 1 to 200, default 50. offset: how many to pass over, newest first. cursor: from \
             the page before. content_type: kinds, separated by commas. Subscribe to hear what \
             arrives, in one chat or, with *, in all: messages://telegram/*, messages://*/*.",
        )
        .with_mime_type("text/plain")
}

/// The chats in which something was said last.
pub(super) async fn recent(
    server: &Server,
    context: &RequestContext<RoleServer>,
) -> Result<Vec<Resource>, ErrorData> {
    let answer = server.ask(context, "list_sources", json!({})).await?.value();
    let sources = items(&answer, "sources").map(|source| text(source, "id"));
    let mut found = Vec::new();
    for source in sources.take(limits::LISTED_SOURCES_MAX) {
        let input = json!({ "source": source, "limit": limits::LISTED_CHATS_MAX, "offline": true });
        // A source that went away just now has no chats.
        let Ok(answer) = server.ask(context, "list_chats", input).await else { continue };
        let answer = answer.value();
        found.extend(items(&answer, "chats").map(|chat| (last_at(chat), resource(chat))));
    }
    found.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    found.truncate(limits::LISTED_CHATS_MAX);
    Ok(found.into_iter().map(|(_, resource)| resource).collect())
}

/// A page of a chat.
pub(super) async fn read(
    server: &Server,
    uri: &str,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResult, ErrorData> {
    let address = readable(uri).map_err(|error| server.refused(context, &error))?;
    let answer = server.ask(context, "get_messages", question(&address)).await?;
    let Value::Object(mut about) = answer.value() else {
        return Err(ErrorData::internal_error("messages come as an object", None));
    };
    about.remove("messages");
    let mut text = answer.brief();
    if let Some(next) = next_page(&address, &about) {
        text += &Note { about: "next", text: &next }.to_string();
        text.push('\n');
        about.insert("next_uri".to_owned(), next.into());
    }
    let mut result = ReadResourceResult::new(vec![ResourceContents::text(text, uri)]);
    result.meta = Some(MetaObject(about));
    // Only a subscription says when it changes, so nothing may be taken for the newest.
    Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// Takes an address apart.
pub(super) fn address(uri: &str) -> Result<MessagesUri, hub::Error> {
    uri.parse().map_err(|reason| invalid_address(&format!("{reason}"), None))
}

/// The address of one chat.
fn readable(uri: &str) -> Result<MessagesUri, hub::Error> {
    let address = address(uri)?;
    if address.is_pattern() {
        let message = "an address with * names no single chat and cannot be read";
        let hint = "subscribe to it, read the chats one by one, or ask get_messages without chat";
        return Err(invalid_address(message, Some(hint)));
    }
    Ok(address)
}

fn invalid_address(message: &str, hint: Option<&str>) -> hub::Error {
    hub::Error::InvalidParameter {
        field: "uri".to_owned(),
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
    }
}

/// What an address asks.
fn question(address: &MessagesUri) -> Value {
    let query = &address.query;
    let asked = json!({
        "source": address.source.name(),
        "chat": address.chat.name(),
        "since": query.since,
        "before": query.before,
        "sender": query.sender,
        "search": query.search,
        "limit": query.limit,
        "offset": query.offset,
        "cursor": query.cursor,
        "offline": query.offline,
        "content_type": (!query.content_type.is_empty()).then_some(&query.content_type),
    });
    let Value::Object(mut asked) = asked else { return asked };
    asked.retain(|_, value| !value.is_null());
    Value::Object(asked)
}

/// The address of the page after this one, whose cursor stands for the offset too.
fn next_page(address: &MessagesUri, about: &Map<String, Value>) -> Option<String> {
    let cursor = about.get("next_cursor")?.as_str()?;
    let mut next = address.clone();
    next.query.cursor = Some(cursor.to_owned());
    next.query.offset = None;
    Some(next.to_string())
}

fn resource(chat: &Value) -> Resource {
    let number = |field: &str| chat.get(field).and_then(Value::as_i64).unwrap_or_default();
    let about = format!(
        "{} {}, {} people, {} messages",
        text(chat, "source"),
        text(chat, "type"),
        number("participant_count"),
        number("message_count"),
    );
    Resource::new(text(chat, "uri"), text(chat, "name"))
        .with_title(text(chat, "name"))
        .with_description(about)
        .with_mime_type("text/plain")
}

fn last_at(chat: &Value) -> Option<Timestamp> {
    chat.get("last_message_at")?.as_str()?.parse().ok()
}

/// The objects in a list of an answer.
pub(super) fn items<'a>(answer: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> {
    answer.get(list).and_then(Value::as_array).into_iter().flatten()
}

/// A text in an object of an answer.
pub(super) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object.get(field).and_then(Value::as_str).unwrap_or_default()
}
