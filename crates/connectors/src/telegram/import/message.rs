//! A message of an export as a fact.

use jiff::tz::TimeZone;
use protocol::Timestamp;
use protocol::chat::{Attachment, ContentType, MessageFact, Reaction};
use serde_json::{Map, Value};

use super::super::translate::json::{count, flag, integer, list, name_of, text};
use super::chat::Chat;
use super::record::Record;
use super::{peer, service, time};

/// Why a message is left out.
pub(super) const NO_ID: &str = "the message has no id";
pub(super) const NO_DATE: &str = "the message has no date";

/// Reads a message of this chat.
pub(super) fn read(
    mut record: Record,
    chat: &mut Chat,
    zone: &TimeZone,
) -> Result<MessageFact, &'static str> {
    let number = record.id.ok_or(NO_ID)?;
    let is_unsupported = record.kind.as_deref() == Some("unsupported");
    let sent_at = time::moment(record.date_seconds, record.date.as_deref(), zone);
    // Of what it does not support, Telegram Desktop writes the id alone. It stands in order.
    let sent_at = sent_at.or(if is_unsupported { chat.last_at } else { None }).ok_or(NO_DATE)?;
    let mut fact = MessageFact::new(
        chat.id.as_str(),
        chat.message(number),
        sent_at,
        std::mem::take(&mut record.text),
    );
    fact.sender_id = record.sender_id.as_deref().and_then(peer::person);
    fact.sender_name = record.sender.take();
    fact.edited_at = time::moment(record.edited_seconds, record.edited.as_deref(), zone)
        .filter(|edited: &Timestamp| *edited >= sent_at);
    fact.forwarded_from = record.forwarded_from.take();
    answered(&mut fact, &record, chat);
    fact.reactions = record.rest.get("reactions").map(reactions).unwrap_or_default();
    for key in ["via_bot", "author", "saved_from", "self_destruct_period_seconds"] {
        if let Some(value) = record.rest.remove(key).filter(|value| !value.is_null()) {
            fact.extra.insert(key.to_owned(), value);
        }
    }
    if is_unsupported {
        fact.content = ContentType::Other;
        fact.extra.insert("kind".to_owned(), "unsupported".into());
    } else if record.kind.as_deref() == Some("service") || record.action.is_some() {
        service::fill(&mut fact, &record, chat);
    } else {
        hold(&mut fact, record);
    }
    chat.saw(
        number,
        fact.extra.get("kind").and_then(Value::as_str),
        sent_at,
        fact.sender_id.as_deref(),
    );
    Ok(fact)
}

fn answered(fact: &mut MessageFact, record: &Record, chat: &Chat) {
    let Some(number) = record.reply_to else { return };
    if let Some(other) = record.reply_to_peer.as_deref() {
        let chat_id = peer::person(other).unwrap_or_else(|| other.to_owned());
        let place = format!("{chat_id}/{number}");
        fact.extra.insert("reply_to_other_chat".to_owned(), place.into());
    } else if chat.is_topic(number) {
        fact.topic = Some(chat.message(number));
    } else {
        fact.reply_to = Some(chat.message(number));
    }
}

fn reactions(value: &Value) -> Vec<Reaction> {
    let found = value.as_array().map(Vec::as_slice).unwrap_or_default().iter();
    let read = found.filter_map(|reaction| {
        let emoji = match text(reaction, "type") {
            Some("custom_emoji") => {
                let id = reaction.get("document_id").map(|id| match id {
                    Value::String(id) => id.clone(),
                    other => other.to_string(),
                });
                format!("custom:{}", id.unwrap_or_default())
            }
            Some("paid") => "paid".to_owned(),
            _ => text(reaction, "emoji")?.to_owned(),
        };
        let recent = list(reaction, "recent").iter();
        let by = recent.filter_map(|recent| peer::person(text(recent, "from_id")?)).collect();
        Some(Reaction { emoji, count: count(reaction, "count").unwrap_or(1), by })
    });
    read.collect()
}

/// Fills in what the message holds.
fn hold(fact: &mut MessageFact, record: Record) {
    if let Some(path) = &record.photo {
        fact.content = ContentType::Image;
        let mime_type = Some("image/jpeg".to_owned());
        fact.attachments = vec![Attachment { mime_type, ..attachment(&record, path) }];
        fact.extra.extend(path_in_export(path));
    } else if let Some(path) = &record.file {
        let kind = record.media_type.as_deref();
        fact.content = match kind {
            Some("sticker") => ContentType::Sticker,
            Some("video_file" | "animation" | "video_message") => ContentType::Video,
            Some("voice_message") => ContentType::Voice,
            Some("audio_file") => ContentType::Audio,
            _ => ContentType::File,
        };
        fact.attachments = vec![attachment(&record, path)];
        fact.extra.extend(path_in_export(path));
        if let Some(kind @ ("animation" | "video_message")) = kind {
            fact.extra.insert("kind".to_owned(), kind.into());
        }
        if fact.text.is_empty() {
            fact.text = of_file(&record.rest, kind);
        }
    } else if let Some((key, content, words)) = of_words(&record.rest) {
        fact.content = content;
        if content == ContentType::Other || key == "place_name" {
            fact.extra.insert("kind".to_owned(), key.into());
        }
        if let Some(place) = record.rest.get("location_information") {
            fact.extra.insert("location".to_owned(), place.clone());
        }
        if fact.text.is_empty() {
            fact.text = words;
        }
    } else if let Some(kind) = record.media_type {
        fact.content = ContentType::Other;
        fact.extra.insert("kind".to_owned(), kind.into());
    } else if fact.text.is_empty() {
        // There are no words and nothing that is known: keep what is there.
        let (kind, value) =
            record.rest.into_iter().next().unwrap_or(("empty".to_owned(), Value::Null));
        fact.content = ContentType::Other;
        fact.extra.insert("kind".to_owned(), kind.into());
        if value.to_string().len() <= protocol::limits::chats::TELEGRAM_UNKNOWN_BYTES_MAX {
            fact.extra.insert("value".to_owned(), value);
        }
    }
}

/// In place of a path there may be a sentence in brackets that says why the file is not there.
fn is_path(path: &str) -> bool {
    !path.is_empty() && !path.starts_with('(')
}

fn path_in_export(path: &str) -> Option<(String, Value)> {
    is_path(path).then(|| ("file".to_owned(), path.into()))
}

fn attachment(record: &Record, path: &str) -> Attachment {
    let of_path = || path.rsplit(['/', '\\']).next().map(str::to_owned);
    Attachment {
        remote_id: None,
        name: record.file_name.clone().or_else(|| is_path(path).then(of_path).flatten()),
        mime_type: record.mime_type.clone(),
        bytes: record.bytes.and_then(|bytes| u64::try_from(bytes).ok()),
        seconds: record.seconds.and_then(|seconds| u32::try_from(seconds).ok()),
    }
}

fn of_file(rest: &Map<String, Value>, kind: Option<&str>) -> String {
    let word = |key: &str| rest.get(key).and_then(Value::as_str);
    match kind {
        Some("sticker") => word("sticker_emoji").unwrap_or_default().to_owned(),
        Some("audio_file") => {
            let parts = [word("performer"), word("title")];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" – ")
        }
        _ => String::new(),
    }
}

/// The sorts that can be said in words.
fn of_words(rest: &Map<String, Value>) -> Option<(&'static str, ContentType, String)> {
    const SORTS: [(&str, ContentType); 10] = [
        ("contact_information", ContentType::Contact),
        ("place_name", ContentType::Location),
        ("location_information", ContentType::Location),
        ("poll", ContentType::Poll),
        ("game_title", ContentType::Other),
        ("invoice_information", ContentType::Other),
        ("todo_list", ContentType::Other),
        ("giveaway_information", ContentType::Other),
        ("giveaway_results", ContentType::Other),
        ("paid_stars_amount", ContentType::Other),
    ];
    let word = |key: &str| rest.get(key).and_then(Value::as_str);
    let joined = |parts: [Option<&str>; 2], between: &str| {
        parts.into_iter().flatten().collect::<Vec<_>>().join(between)
    };
    let (key, content) = SORTS.iter().find(|(key, _)| rest.contains_key(*key))?;
    let value = rest.get(*key)?;
    let words = match *key {
        "contact_information" => {
            let name = name_of(value).unwrap_or_default();
            format!("{name} {}", text(value, "phone_number").unwrap_or_default()).trim().to_owned()
        }
        "place_name" => joined([word("place_name"), word("address")], ", "),
        "location_information" => match (value.get("latitude"), value.get("longitude")) {
            (Some(latitude), Some(longitude)) => format!("{latitude}, {longitude}"),
            _ => String::new(),
        },
        "poll" => poll(value),
        "game_title" => joined([word("game_title"), word("game_description")], ": "),
        "invoice_information" => joined([text(value, "title"), text(value, "description")], ": "),
        "todo_list" => text(value, "title").unwrap_or_default().to_owned(),
        "giveaway_information" => {
            format!("a giveaway for {} winners", integer(value, "quantity").unwrap_or(0))
        }
        "giveaway_results" => "a giveaway ended".to_owned(),
        _ => format!("media for {value} stars"),
    };
    Some((key, *content, words))
}

fn poll(poll: &Value) -> String {
    let mut lines = vec![text(poll, "question").unwrap_or_default().to_owned()];
    for answer in list(poll, "answers") {
        let votes = match count(answer, "voters") {
            Some(votes) if votes > 0 => format!(" ({votes})"),
            _ => String::new(),
        };
        let own = if flag(answer, "chosen") { " ✓" } else { "" };
        lines.push(format!("- {}{votes}{own}", text(answer, "text").unwrap_or_default()));
    }
    lines.join("\n")
}
