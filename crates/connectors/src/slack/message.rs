//! One message, as the Web API, events and exports all write it.

use protocol::chat::{Attachment, ContentType, MessageFact, Reaction};
use protocol::limits::slack as limits;
use serde_json::{Map, Value};

use super::blocks;
use super::json::{is, list, moment_of, text};
use super::names::Names;
use super::render::Renderer;

/// Reads a message of a chat; `None` where it has no usable `ts` and so no identity.
pub(super) fn message(chat_id: &str, value: &Value, names: &Names) -> Option<MessageFact> {
    let ts = text(value, "ts")?;
    let mut renderer = Renderer::new(names);
    let words = words(value, &mut renderer);
    let mut fact = MessageFact::new(chat_id, ts, moment_of(value, "ts")?, words);
    fact.sender_id = text(value, "user").or(text(value, "bot_id")).map(str::to_owned);
    fact.sender_name = sender_name(value).map(str::to_owned);
    fact.attachments = list(value, "files").iter().take(limits::PARTS_MAX).map(file).collect();
    fact.content = content(value);
    // The first message of a thread names itself; it stands in the chat, not in the thread.
    if let Some(thread) = text(value, "thread_ts").filter(|thread| *thread != ts) {
        fact.topic = Some(thread.to_owned());
        fact.reply_to = Some(thread.to_owned());
    }
    fact.edited_at = value.get("edited").and_then(|edited| moment_of(edited, "ts"));
    fact.forwarded_from = forwarded_from(value);
    fact.reactions =
        list(value, "reactions").iter().take(limits::PARTS_MAX).filter_map(reaction).collect();
    fact.extra = extra(value, renderer.mentions());
    Some(fact)
}

/// Whether a message only holds the place of one that was deleted.
pub(super) fn is_tombstone(value: &Value) -> bool {
    text(value, "subtype") == Some("tombstone")
}

/// The words: of the text, of blocks that an app built, of attachments.
fn words(value: &Value, renderer: &mut Renderer<'_>) -> String {
    let mut words = renderer.render(text(value, "text").unwrap_or_default());
    let blocks = list(value, "blocks");
    // What people type stands in the text already. An app's text may be a mere notice of its blocks.
    let built = blocks::words(blocks, !words.is_empty(), renderer);
    if built.contains(&words) {
        words = if built.is_empty() { words } else { built };
    } else if !words.contains(&built) {
        words = format!("{words}\n{built}");
    }
    let attached = blocks::attached(list(value, "attachments"), renderer);
    if words.is_empty() {
        return attached;
    }
    if !attached.is_empty() && !words.contains(&attached) {
        words.push('\n');
        words.push_str(&attached);
    }
    words
}

fn sender_name(value: &Value) -> Option<&str> {
    let of = |name: &str, field: &str| value.get(name).and_then(|part| text(part, field));
    text(value, "username")
        .or(of("bot_profile", "name"))
        .or(of("user_profile", "display_name"))
        .or(of("user_profile", "real_name"))
}

fn content(value: &Value) -> ContentType {
    match text(value, "subtype").unwrap_or_default() {
        ""
        | "bot_message"
        | "me_message"
        | "file_share"
        | "thread_broadcast"
        | "reply_broadcast"
        | "slackbot_response"
        | "file_comment"
        | "file_mention"
        | "assistant_app_thread" => {
            list(value, "files").first().map_or(ContentType::Text, file_content)
        }
        "huddle_thread" | "sh_room_created" | "sh_room_shared" => ContentType::Call,
        "channel_join"
        | "channel_leave"
        | "channel_topic"
        | "channel_purpose"
        | "channel_name"
        | "channel_archive"
        | "channel_unarchive"
        | "channel_convert_to_private"
        | "channel_convert_to_public"
        | "channel_posting_permissions"
        | "channel_canvas_updated"
        | "group_join"
        | "group_leave"
        | "group_topic"
        | "group_purpose"
        | "group_name"
        | "group_archive"
        | "group_unarchive"
        | "bot_add"
        | "bot_remove"
        | "bot_enable"
        | "bot_disable"
        | "pinned_item"
        | "unpinned_item"
        | "reminder_add"
        | "reminder_delete"
        | "joiner_notification"
        | "joiner_notification_for_inviter"
        | "ekm_access_denied"
        | "bookmark_added"
        | "bookmark_removed"
        | "tombstone" => ContentType::Service,
        _ => ContentType::Other,
    }
}

fn file_content(file: &Value) -> ContentType {
    match text(file, "subtype") {
        Some("slack_audio") => return ContentType::Voice,
        Some("slack_video") => return ContentType::Video,
        _ => {}
    }
    let media = text(file, "mimetype").unwrap_or_default();
    match media.split('/').next().unwrap_or_default() {
        "image" => ContentType::Image,
        "video" => ContentType::Video,
        "audio" => ContentType::Audio,
        _ => ContentType::File,
    }
}

/// A file. It is found again by its id: the addresses in an export carry a token, and those of a
/// live message may change.
fn file(value: &Value) -> Attachment {
    // A file that was deleted, that a free plan hides, or that lies at another service is not here.
    let is_elsewhere = is(value, "is_external")
        || matches!(text(value, "mode"), Some("tombstone" | "hidden_by_limit" | "external"));
    let ms = value.get("duration_ms").and_then(Value::as_u64);
    Attachment {
        remote_id: text(value, "id").filter(|_| !is_elsewhere).map(str::to_owned),
        name: text(value, "name").or(text(value, "title")).map(str::to_owned),
        mime_type: text(value, "mimetype").map(str::to_owned),
        bytes: value.get("size").and_then(Value::as_u64).filter(|bytes| *bytes > 0),
        seconds: ms.and_then(|ms| u32::try_from(ms / 1_000).ok()),
    }
}

fn reaction(value: &Value) -> Option<Reaction> {
    let by = list(value, "users").iter().filter_map(Value::as_str);
    let by: Vec<String> = by.take(limits::PARTS_MAX).map(str::to_owned).collect();
    let count = value.get("count").and_then(Value::as_u64).and_then(|count| count.try_into().ok());
    Some(Reaction {
        emoji: text(value, "name")?.to_owned(),
        count: count.or(u32::try_from(by.len()).ok())?,
        by,
    })
}

/// Whose message was shared in this one.
fn forwarded_from(value: &Value) -> Option<String> {
    let shared = list(value, "attachments").iter().find(|one| is(one, "is_share"))?;
    text(shared, "author_name").or(text(shared, "author_id")).map(str::to_owned)
}

/// What the other fields cannot say.
fn extra(value: &Value, mentions: Vec<String>) -> Map<String, Value> {
    let mut extra = Map::new();
    // The bot's own id says which app wrote in somebody's name.
    let fields: &[&str] = if value.get("user").is_some() {
        &["subtype", "bot_id", "app_id"]
    } else {
        &["subtype", "app_id"]
    };
    for name in fields {
        if let Some(said) = text(value, name) {
            extra.insert((*name).to_owned(), said.into());
        }
    }
    if !mentions.is_empty() {
        extra.insert("mentions".to_owned(), mentions.into());
    }
    extra
}
