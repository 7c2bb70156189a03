//! What a message of Signal holds: words, files, polls, pins, and what nobody has named yet.

use protocol::chat::{Attachment, ContentType, MessageFact};
use serde_json::{Value, json};

use super::address::Address;
use super::revisions::Revisions;
use crate::foreign::Foreign;

/// The rest of a text that is too long for one message; the daemon hands it over as a file.
const LONG_TEXT: &str = "text/x-signal-plain";

/// Fields of a data message that say nothing of what it holds.
const NO_CONTENT: &[&str] =
    &["groupInfo", "quote", "mentions", "previews", "textStyles", "storyContext", "attachments"];

/// Fills a message in with what its data says.
pub(super) fn fill(message: &mut MessageFact, data: &Value, revisions: &Revisions) {
    message.reply_to = reference(data.object("quote"), "author", "id", revisions);
    if let Some(story) = data.object("storyContext") {
        message.reply_to = reference(Some(story), "author", "sentTimestamp", revisions);
        message.extra.insert("story".to_owned(), Value::Bool(true));
    }
    if let Some(seconds) = data.number("expiresInSeconds").filter(|&seconds| seconds > 0) {
        // Signal counts from when the message was read. A hub reads at once, so from the sending:
        // the copy here never outlives the ones on telephones.
        message.expires_at = Some(message.sent_at.plus_ms(seconds.saturating_mul(1_000)));
    }
    message.attachments = data.list("attachments").iter().map(attachment).collect();
    if data.is_set("viewOnce") {
        message.content = of_attachments(&message.attachments).unwrap_or(ContentType::Image);
        message.is_view_once = true;
        message.attachments.clear();
        return;
    }
    message.text = words(data);
    let previews = data.list("previews");
    if !previews.is_empty() {
        let links: Vec<Value> = previews.iter().map(preview).collect();
        message.extra.insert("previews".to_owned(), Value::Array(links));
    }
    if !special(message, data, revisions) {
        plain(message, data);
    }
}

/// A message that is neither words nor files; `false` where it is.
fn special(message: &mut MessageFact, data: &Value, revisions: &Revisions) -> bool {
    let mut service = |text: String, target: Option<String>| {
        message.content = ContentType::Service;
        message.text = text;
        message.reply_to = target;
    };
    if let Some(poll) = data.object("pollCreate") {
        message.content = ContentType::Poll;
        message.text = poll_text(poll);
    } else if let Some(vote) = data.object("pollVote") {
        let target = reference(Some(vote), "author", "targetSentTimestamp", revisions);
        service(vote_text(vote), target);
    } else if let Some(end) = data.object("pollTerminate") {
        // Only whoever asked can end the asking.
        let asker = message.sender_id.clone().unwrap_or_default();
        let sent_ms = end.number("targetSentTimestamp").unwrap_or_default();
        let target = revisions.first(format!("{asker}:{sent_ms}"));
        message.content = ContentType::Service;
        message.text = "ended the poll".into();
        message.reply_to = Some(target);
    } else if let Some(pin) = data.object("pinMessage") {
        let target = reference(Some(pin), "targetAuthor", "targetSentTimestamp", revisions);
        service("pinned a message".to_owned(), target);
    } else if let Some(pin) = data.object("unpinMessage") {
        let target = reference(Some(pin), "targetAuthor", "targetSentTimestamp", revisions);
        service("unpinned a message".to_owned(), target);
    } else if data.is_set("isExpirationUpdate") {
        service(expiry_text(data), None);
        message.expires_at = None;
    } else if let Some(sticker) = data.object("sticker") {
        message.content = ContentType::Sticker;
        message.text = sticker.text("emoji").unwrap_or_default().into();
        message.extra.insert("sticker".to_owned(), sticker.clone());
    } else if !data.list("contacts").is_empty() {
        message.content = ContentType::Contact;
        let cards: Vec<String> = data.list("contacts").iter().map(card).collect();
        message.text = cards.join("\n");
    } else if let Some(payment) = data.object("payment") {
        message.content = ContentType::Other;
        message.text = payment.text("note").unwrap_or_default().into();
        message.extra.insert("signal".to_owned(), Value::from("payment"));
    } else if data.object("groupCallUpdate").is_some() {
        message.content = ContentType::Call;
        message.text = "group call".into();
    } else {
        return false;
    }
    true
}

fn plain(message: &mut MessageFact, data: &Value) {
    let is_group_update =
        data.object("groupInfo").and_then(|group| group.text("type")) == Some("UPDATE");
    message.content = match of_attachments(&message.attachments) {
        Some(content) => content,
        None if !message.text.is_empty() => ContentType::Text,
        None if is_group_update => {
            message.text = "changed the group".into();
            ContentType::Service
        }
        None => match unknown(data) {
            Some(name) => {
                message.extra.insert("signal".to_owned(), Value::from(name));
                ContentType::Other
            }
            // A new profile key, a new session: said by the program, not by the person.
            None => ContentType::Service,
        },
    };
}

/// A field that this hub does not know, and that holds something.
fn unknown(data: &Value) -> Option<&str> {
    let holds_something = |value: &Value| match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(list) => !list.is_empty(),
        _ => false,
    };
    let fields = data.as_object()?;
    fields
        .iter()
        .find(|(name, value)| !NO_CONTENT.contains(&name.as_str()) && holds_something(value))
        .map(|(name, _)| name.as_str())
}

/// The id of the message that something refers to.
pub(super) fn reference(
    value: Option<&Value>,
    author: &str,
    sent: &str,
    revisions: &Revisions,
) -> Option<String> {
    let value = value?;
    let author = Address::read(value, author)?;
    Some(revisions.first(author.message_id(value.number(sent)?)))
}

/// One file.
pub(super) fn attachment(value: &Value) -> Attachment {
    Attachment {
        remote_id: value.text("id").map(str::to_owned),
        name: value.text("filename").map(str::to_owned),
        mime_type: value.text("contentType").map(str::to_owned),
        bytes: value.number("size").and_then(|bytes| u64::try_from(bytes).ok()),
        seconds: None,
    }
}

/// What the first file makes of a message.
pub(super) fn of_attachments(attachments: &[Attachment]) -> Option<ContentType> {
    let types = attachments.iter().map(|file| file.mime_type.as_deref().unwrap_or_default());
    let first = types.into_iter().find(|mime_type| *mime_type != LONG_TEXT)?;
    Some(match first.split('/').next() {
        Some("image") => ContentType::Image,
        Some("video") => ContentType::Video,
        // Signal records voice messages as AAC; whatever else sounds was chosen as a file.
        Some("audio") if first == "audio/aac" => ContentType::Voice,
        Some("audio") => ContentType::Audio,
        _ => ContentType::File,
    })
}

/// The words, with names where people are mentioned. The daemon counts in UTF-16, as Java does.
fn words(data: &Value) -> String {
    let text = data.text("message").unwrap_or_default();
    let mut mentions: Vec<(usize, usize, String)> =
        data.list("mentions").iter().filter_map(mention).collect();
    if mentions.is_empty() {
        return text.to_owned();
    }
    mentions.sort_unstable();
    let units: Vec<u16> = text.encode_utf16().collect();
    let mut written = Vec::with_capacity(units.len());
    let mut from = 0;
    for (start, length, name) in mentions {
        let Some(before) = units.get(from..start) else { continue };
        let Some(end) = start.checked_add(length).filter(|end| *end <= units.len()) else {
            continue;
        };
        written.extend_from_slice(before);
        written.extend(name.encode_utf16());
        from = end;
    }
    written.extend_from_slice(units.get(from..).unwrap_or_default());
    String::from_utf16_lossy(&written)
}

fn mention(value: &Value) -> Option<(usize, usize, String)> {
    let start = usize::try_from(value.number("start")?).ok()?;
    let length = usize::try_from(value.number("length")?).ok()?;
    let name = value.text("name").or(value.text("number")).or(value.text("uuid"))?;
    Some((start, length, format!("@{name}")))
}

fn preview(value: &Value) -> Value {
    json!({ "url": value.text("url"), "title": value.text("title") })
}

fn poll_text(poll: &Value) -> String {
    let mut text = poll.text("question").unwrap_or_default().to_owned();
    for option in poll.list("options").iter().filter_map(Value::as_str) {
        text.push_str("\n- ");
        text.push_str(option);
    }
    text
}

fn vote_text(vote: &Value) -> String {
    let chosen: Vec<String> = vote
        .list("optionIndexes")
        .iter()
        .filter_map(Value::as_i64)
        .map(|index| index.saturating_add(1).to_string())
        .collect();
    if chosen.is_empty() {
        return "took back a vote".to_owned();
    }
    format!("voted for option {}", chosen.join(", "))
}

fn expiry_text(data: &Value) -> String {
    match data.number("expiresInSeconds") {
        Some(seconds) if seconds > 0 => format!("let messages disappear after {seconds} s"),
        _ => "let messages stay".to_owned(),
    }
}

fn card(contact: &Value) -> String {
    let name = contact.object("name");
    let part = |field| name.and_then(|name: &Value| name.text(field));
    let whole = part("display").map_or_else(
        || [part("given"), part("family")].into_iter().flatten().collect::<Vec<_>>().join(" "),
        str::to_owned,
    );
    let numbers = contact.list("phone").iter().filter_map(|phone| phone.text("value"));
    let addresses = contact.list("email").iter().filter_map(|email| email.text("value"));
    let parts = std::iter::once(whole.as_str()).chain(numbers).chain(addresses);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mentions_are_counted_as_java_counts() {
        let data = json!({"message": "🎉 \u{fffc} and \u{fffc}!", "mentions": [
            {"name": "+4917", "start": 9, "length": 1},
            {"uuid": "u-1", "start": 3, "length": 1},
        ]});
        assert_eq!(words(&data), "🎉 @u-1 and @+4917!");
    }

    #[test]
    fn mentions_out_of_place_are_left_alone() {
        let data = json!({"message": "hi \u{fffc}", "mentions": [
            {"name": "a", "start": 3, "length": 1},
            {"name": "b", "start": 3, "length": 1},
            {"name": "c", "start": 400, "length": 1},
            {"name": "d", "start": -1, "length": 1},
            {"name": "e", "start": 4, "length": i64::MAX},
        ]});
        assert_eq!(words(&data), "hi @a");
    }

    proptest! {
        #[test]
        fn no_mention_breaks_a_text(
            text in ".{0,20}",
            places in prop::collection::vec((any::<i64>(), 0_i64..4), 0..4),
            near in prop::collection::vec((0_i64..24, 0_i64..4), 0..4),
        ) {
            let mentions: Vec<Value> = places.into_iter().chain(near)
                .map(|(start, length)| json!({"name": "x", "start": start, "length": length}))
                .collect();
            words(&json!({"message": text, "mentions": mentions}));
        }
    }
}
