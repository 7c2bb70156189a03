//! What a message holds: a picture, a place, a poll.

use protocol::chat::{Attachment, ContentType};
use serde_json::{Map, Value};

use super::json::{count, flag, integer, list, name_of, text};

/// What was found in a message.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) attachments: Vec<Attachment>,
    /// What stands where the message has no words of its own.
    pub(super) words: String,
    pub(super) extra: Map<String, Value>,
}

/// The sorts that carry a file. An animation comes as a document too, so it stands before it.
const FILES: [(&str, ContentType); 8] = [
    ("animation", ContentType::Video),
    ("audio", ContentType::Audio),
    ("voice", ContentType::Voice),
    ("video_note", ContentType::Video),
    ("video", ContentType::Video),
    ("sticker", ContentType::Sticker),
    ("live_photo", ContentType::Image),
    ("document", ContentType::File),
];

/// The sort of a message and what it holds; `None` for words alone, and for what is not known.
pub(super) fn of(message: &Value) -> Option<(ContentType, Content)> {
    for (key, kind) in FILES {
        if let Some(file) = message.get(key).filter(|file| file.is_object()) {
            return Some((kind, with_file(key, file)));
        }
    }
    if let Some(largest) = largest(list(message, "photo")) {
        let photo = Attachment { mime_type: Some("image/jpeg".to_owned()), ..attachment(largest) };
        return Some((
            ContentType::Image,
            Content { attachments: vec![photo], ..Content::default() },
        ));
    }
    let (key, kind, words) = of_words(message)?;
    let mut content = Content { words, ..Content::default() };
    if kind == ContentType::Other || key == "venue" {
        content.extra.insert("kind".to_owned(), key.into());
    }
    if let Some(place) = message.get("venue").and_then(|venue| venue.get("location")) {
        content.extra.insert("location".to_owned(), place.clone());
    } else if let Some(place) = message.get("location") {
        content.extra.insert("location".to_owned(), place.clone());
    }
    Some((kind, content))
}

fn with_file(key: &str, file: &Value) -> Content {
    let mut content = Content { attachments: vec![attachment(file)], ..Content::default() };
    if matches!(key, "animation" | "video_note" | "live_photo") {
        content.extra.insert("kind".to_owned(), key.into());
    }
    match key {
        "sticker" => text(file, "emoji").unwrap_or_default().clone_into(&mut content.words),
        "audio" => {
            let parts = [text(file, "performer"), text(file, "title")];
            content.words = parts.into_iter().flatten().collect::<Vec<_>>().join(" – ");
        }
        _ => {}
    }
    content
}

fn attachment(file: &Value) -> Attachment {
    Attachment {
        remote_id: text(file, "file_id").map(str::to_owned),
        name: text(file, "file_name").map(str::to_owned),
        mime_type: text(file, "mime_type").map(str::to_owned),
        bytes: file.get("file_size").and_then(Value::as_u64),
        seconds: count(file, "duration"),
    }
}

fn largest(sizes: &[Value]) -> Option<&Value> {
    let area = |size: &&Value| {
        let side = |key| u64::from(count(size, key).unwrap_or(0));
        side("width").saturating_mul(side("height"))
    };
    sizes.iter().max_by_key(area)
}

/// The sorts that can be said in words. A venue comes with a location too, a game with a picture.
fn of_words(message: &Value) -> Option<(&'static str, ContentType, String)> {
    type Say = fn(&Value) -> String;
    const SORTS: [(&str, ContentType, Say); 12] = [
        ("contact", ContentType::Contact, contact),
        ("venue", ContentType::Location, venue),
        ("location", ContentType::Location, location),
        ("poll", ContentType::Poll, poll),
        ("checklist", ContentType::Other, checklist),
        ("dice", ContentType::Other, dice),
        ("game", ContentType::Other, titled),
        ("invoice", ContentType::Other, invoice),
        ("story", ContentType::Other, story),
        ("paid_media", ContentType::Other, paid_media),
        ("giveaway", ContentType::Other, giveaway),
        ("giveaway_winners", ContentType::Other, giveaway_winners),
    ];
    SORTS.iter().find_map(|(key, kind, say)| Some((*key, *kind, say(message.get(*key)?))))
}

fn contact(contact: &Value) -> String {
    let parts = [name_of(contact), text(contact, "phone_number").map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn venue(venue: &Value) -> String {
    let parts = [text(venue, "title"), text(venue, "address")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn location(place: &Value) -> String {
    match (place.get("latitude"), place.get("longitude")) {
        (Some(latitude), Some(longitude)) => format!("{latitude}, {longitude}"),
        _ => String::new(),
    }
}

fn poll(poll: &Value) -> String {
    let mut lines = vec![text(poll, "question").unwrap_or_default().to_owned()];
    for option in list(poll, "options") {
        let votes = match count(option, "voter_count") {
            Some(votes) if votes > 0 => format!(" ({votes})"),
            _ => String::new(),
        };
        lines.push(format!("- {}{votes}", text(option, "text").unwrap_or_default()));
    }
    lines.join("\n")
}

fn checklist(checklist: &Value) -> String {
    let mut lines = vec![text(checklist, "title").unwrap_or_default().to_owned()];
    for task in list(checklist, "tasks") {
        let is_done = task.get("completed_by_user").is_some()
            || task.get("completed_by_chat").is_some()
            || integer(task, "completion_date").is_some_and(|date| date > 0);
        let mark = if is_done { "x" } else { " " };
        lines.push(format!("- [{mark}] {}", text(task, "text").unwrap_or_default()));
    }
    lines.join("\n")
}

fn dice(dice: &Value) -> String {
    let value = integer(dice, "value").map(|value| value.to_string()).unwrap_or_default();
    format!("{} {value}", text(dice, "emoji").unwrap_or("🎲"))
}

fn titled(value: &Value) -> String {
    let parts = [text(value, "title"), text(value, "description")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(": ")
}

fn invoice(invoice: &Value) -> String {
    let price = match (integer(invoice, "total_amount"), text(invoice, "currency")) {
        // The amount is in the smallest unit, of which currencies differ.
        (Some(amount), Some(currency)) => format!(" [{amount} {currency}, smallest unit]"),
        _ => String::new(),
    };
    format!("{}{price}", titled(invoice))
}

fn story(story: &Value) -> String {
    let of = story.get("chat").and_then(name_of).unwrap_or_else(|| "somebody".to_owned());
    format!("a story of {of}")
}

fn paid_media(media: &Value) -> String {
    format!("media for {} stars", integer(media, "star_count").unwrap_or(0))
}

fn giveaway(giveaway: &Value) -> String {
    let hidden = if flag(giveaway, "has_public_winners") { " with public winners" } else { "" };
    format!("a giveaway for {} winners{hidden}", integer(giveaway, "winner_count").unwrap_or(0))
}

fn giveaway_winners(giveaway: &Value) -> String {
    let winners: Vec<String> = list(giveaway, "winners").iter().filter_map(name_of).collect();
    format!("a giveaway was won by {}", winners.join(", "))
}
